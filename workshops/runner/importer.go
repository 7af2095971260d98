package runner

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/warpbook/warpbook/kernel/gotool"
)

// standard gives the types of the standard library: from the archive that
// `warpbook install` has written beside the program, else from the go command.
func standard(fset *token.FileSet) types.Importer {
	if exe, err := os.Executable(); err == nil {
		if tc, _ := gotool.Find(exe); tc != nil { // it has the types even where it cannot compile
			return tc.Importer(fset)
		}
	}
	return importer.ForCompiler(fset, "gc", exported)
}

// exported opens the export data of a package, which the go command may have to
// compile first. The program does not know where Go lies, as it is built with
// -trimpath; the command does.
func exported(path string) (io.ReadCloser, error) {
	var complaint bytes.Buffer
	cmd := exec.Command("go", "list", "-export", "-f", "{{.Export}}", "--", path)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	name := strings.TrimSpace(string(out))
	if err != nil || name == "" {
		return nil, fmt.Errorf("go list does not tell: %v %s", err, strings.TrimSpace(complaint.String()))
	}
	return os.Open(name)
}

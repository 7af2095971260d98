package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed requirements.txt
var requirements []byte

//go:embed constraints.txt
var constraints []byte

// Python is an environment that can show a notebook.
type Python struct {
	Exe     string // its interpreter
	Private bool   // made by us
	Lab     string // the version of JupyterLab in it
}

// Command starts a Python module of the environment.
func (py Python) Command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, py.Exe, append([]string{"-m"}, args...)...)
}

// FindPython finds an environment with JupyterLab 4 or newer: the one on the
// PATH, or the private one of the place.
func FindPython(ctx context.Context, place Place) (Python, bool) {
	for _, exe := range pythons() {
		if v, ok := labVersion(ctx, exe); ok {
			return Python{Exe: exe, Lab: v}, true
		}
	}
	exe := venvPython(place.Venv())
	if v, ok := labVersion(ctx, exe); ok && venvCurrent(place.Venv()) {
		return Python{Exe: exe, Private: true, Lab: v}, true
	}
	return Python{}, false
}

// MakePython makes, or completes, the private environment: pinned JupyterLab and
// its tools, and the papermill translator whose package lies in the folder papermill.
func MakePython(ctx context.Context, place Place, papermill string, p Progress) (Python, error) {
	base, err := basePython(ctx)
	if err != nil {
		return Python{}, err
	}
	venv := place.Venv()
	exe := venvPython(venv)
	p.step("Making a private Python environment")
	if _, err := os.Stat(exe); err != nil {
		if err := output(exec.CommandContext(ctx, base, "-m", "venv", venv)); err != nil {
			return Python{}, fmt.Errorf("a private Python environment cannot be made: %w; on Debian and Ubuntu, `apt install python3-venv` brings what is missing", err)
		}
	}
	dir, err := os.MkdirTemp("", "warpbook-pip-")
	if err != nil {
		return Python{}, err
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string][]byte{"requirements.txt": requirements, "constraints.txt": constraints} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return Python{}, err
		}
	}
	p.step("Installing JupyterLab (about 150 MB, a minute or two)")
	pip := []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check"}
	cmd := exec.CommandContext(ctx, exe, append(pip, "-r", "requirements.txt", "-c", "constraints.txt")...)
	cmd.Dir = dir
	if err := output(cmd); err != nil {
		return Python{}, fmt.Errorf("JupyterLab cannot be installed: %w; pip needs to reach PyPI", err)
	}
	if papermill != "" {
		p.step("Installing the papermill translator")
		if err := output(exec.CommandContext(ctx, exe, append(pip, "--no-deps", papermill)...)); err != nil {
			return Python{}, fmt.Errorf("the papermill translator cannot be installed: %w", err)
		}
	}
	v, ok := labVersion(ctx, exe)
	if !ok {
		return Python{}, fmt.Errorf("the Python environment in %s does not start JupyterLab; remove the folder and try again", venv)
	}
	mark := filepath.Join(venv, "warpbook-pins")
	return Python{Exe: exe, Private: true, Lab: v}, os.WriteFile(mark, []byte(pins()), 0o644)
}

// pins names the set of versions that a private environment was made from.
func pins() string {
	sum := sha256.Sum256(append(append([]byte{}, requirements...), constraints...))
	return hex.EncodeToString(sum[:8])
}

func venvCurrent(venv string) bool {
	mark, err := os.ReadFile(filepath.Join(venv, "warpbook-pins"))
	return err == nil && string(mark) == pins()
}

func venvPython(venv string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(venv, "Scripts", "python.exe")
	}
	return filepath.Join(venv, "bin", "python")
}

// pythons are the interpreters to ask: of the active environment, then of the PATH.
func pythons() []string {
	var found []string
	for _, key := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(key); dir != "" {
			found = append(found, venvPython(dir))
		}
	}
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// basePython finds an interpreter that can make a virtual environment.
func basePython(ctx context.Context) (string, error) {
	for _, exe := range pythons() {
		check := "import sys, venv, ensurepip; sys.exit(not (3, 9) <= sys.version_info[:2])"
		if exec.CommandContext(ctx, exe, "-c", check).Run() == nil {
			return exe, nil
		}
	}
	return "", errors.New("JupyterLab needs Python 3.9 or newer with venv, and none was found; install it (on Debian and Ubuntu: `apt install python3-venv`), or run notebooks without Python by `warpbook run`")
}

// labVersion asks an interpreter for its JupyterLab, 4 or newer.
func labVersion(ctx context.Context, exe string) (string, bool) {
	const ask = "from importlib.metadata import version; import jupyter_server, jupyter_client; print(version('jupyterlab'))"
	out, err := exec.CommandContext(ctx, exe, "-c", ask).Output()
	v := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(v, ".")
	return v, err == nil && len(major) > 0 && (len(major) > 1 || major >= "4")
}

// output runs a command and puts what it printed into its error.
func output(cmd *exec.Cmd) error {
	var buf bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, &buf
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(buf.String())
		if len(text) > 2000 {
			text = "... " + text[len(text)-2000:]
		}
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, text)
	}
	return nil
}

package display

import (
	"os/exec"
	"strings"
	"testing"
)

// Cells link this package, and the time of a link grows with what it imports.
func TestImportsStaySmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		for _, heavy := range []string{"net", "text/template", "html/template", "image/png", "image/jpeg", "regexp", "go/", "crypto/", "compress/", "gonum.org", "os/exec"} {
			if dep == strings.TrimSuffix(heavy, "/") || strings.HasPrefix(dep, strings.TrimSuffix(heavy, "/")+"/") {
				t.Errorf("display imports %s", dep)
			}
		}
	}
}

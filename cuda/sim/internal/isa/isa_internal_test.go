package isa

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/warpbook/warpbook/cuda/ptx"
)

func TestCasesParse(t *testing.T) {
	cases := Cases()
	out, in := 0, 0
	seen := map[string]bool{}
	for _, m := range Modules(cases) {
		if _, err := ptx.Parse(m.PTX); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if dir := os.Getenv("ISA_DIR"); dir != "" {
			os.WriteFile(filepath.Join(dir, m.Name+".ptx"), []byte(m.PTX), 0o644)
		}
	}
	for _, c := range cases {
		out += c.Out
		in += len(c.Input)
		if seen[c.Name] {
			t.Errorf("two cases are named %s", c.Name)
		}
		seen[c.Name] = true
	}
	t.Logf("%d cases, %d bytes of input, %d of output", len(cases), in, out)
}

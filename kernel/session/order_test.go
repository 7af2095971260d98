package session_test

import "testing"

// TestOrder compares the order in which variables are read and functions called
// with the compiler's, where the language leaves it open.
func TestOrder(t *testing.T) {
	for _, mode := range []string{"auto", "yaegi"} {
		g := newProgen(1)
		g.declare(effects)
		for _, text := range orders {
			g.run("counter = 5\nbox = Box{1, \"b\"}")
			g.run(g.fill(text))
		}
		p := &program{mode: mode, cells: g.cells}
		p.runSession(t)
		want, err := compileAndRun(t, []*program{p})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range p.got {
			if i >= len(want[0]) || got != want[0][i] {
				t.Errorf("%s: %s\ngot  %s\nwant %s", mode, p.kept[i].text, got, want[0][i])
			}
		}
	}
}

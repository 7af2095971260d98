package isa

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// runner is the program that runs a folder of cases on a GPU.
//
//go:embed gpu/runner.c
var runner []byte

// WriteFolder writes what runner.c needs: modules, inputs, a manifest, and itself.
func WriteFolder(dir string, cases []*Case) error {
	var manifest strings.Builder
	var inputs []byte
	at := map[string]int{} // inputs that several cases share
	out := 0
	for _, m := range Modules(cases) {
		if err := os.WriteFile(filepath.Join(dir, m.Name+".ptx"), []byte(m.PTX), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&manifest, "module %s.ptx\n", m.Name)
		for _, c := range m.Cases {
			in, known := at[string(c.Input)]
			if !known {
				in = len(inputs)
				at[string(c.Input)] = in
				inputs = append(inputs, c.Input...)
			}
			fmt.Fprintf(&manifest, "case %s %d %d %d %d %d %d %d %s\n", c.Kernel, c.Grid, c.Block, c.Cluster, in, len(c.Input), out, c.Out, c.Name)
			out += c.Out
		}
	}
	for name, data := range map[string][]byte{"manifest.txt": []byte(manifest.String()), "inputs.bin": inputs, "runner.c": runner} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Golden is what a GPU wrote, by Case.Hash.
type Golden map[string][]byte

// ReadRun reads what runner.c wrote for the cases, and what it said of those that
// did not run.
func ReadRun(dir string, cases []*Case) (Golden, []string, error) {
	outputs, err := os.ReadFile(filepath.Join(dir, "outputs.bin"))
	if err != nil {
		return nil, nil, err
	}
	status, err := os.ReadFile(filepath.Join(dir, "status.txt"))
	if err != nil {
		return nil, nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(status)), "\n")
	if len(lines) != len(cases) {
		return nil, nil, fmt.Errorf("the run in %s has %d cases, not %d: it is of another version of the generator", dir, len(lines), len(cases))
	}
	g, failed, at := Golden{}, []string(nil), 0
	for i, c := range cases {
		kernel, rest, _ := strings.Cut(lines[i], "\t")
		what, _, _ := strings.Cut(rest, "\t")
		if kernel != c.Kernel || at+c.Out > len(outputs) {
			return nil, nil, fmt.Errorf("the run in %s is of another version of the generator", dir)
		}
		if what == "ok" {
			g[c.Hash()] = outputs[at : at+c.Out]
		} else {
			failed = append(failed, c.Name+": "+what)
		}
		at += c.Out
	}
	return g, failed, nil
}

// Write stores the golden data of the cases: a line for each with its hash, its size
// and its name, an empty line, and the bytes, all compressed.
func (g Golden) Write(w io.Writer, cases []*Case) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	var index, data bytes.Buffer
	for _, c := range cases {
		if b, ok := g[c.Hash()]; ok {
			fmt.Fprintf(&index, "%s %d %s\n", c.Hash(), len(b), c.Name)
			data.Write(b)
		}
	}
	index.WriteByte('\n')
	if _, err := z.Write(append(index.Bytes(), data.Bytes()...)); err != nil {
		return err
	}
	return z.Close()
}

// ReadGolden reads what Write wrote.
func ReadGolden(r io.Reader) (Golden, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(z)
	type entry struct {
		hash string
		size int
	}
	var entries []entry
	for {
		line, err := b.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("golden data: %w", err)
		}
		if line == "\n" {
			break
		}
		var e entry
		if _, err := fmt.Sscanf(line, "%s %d", &e.hash, &e.size); err != nil || e.size < 0 || e.size > 1<<24 {
			return nil, fmt.Errorf("golden data: the line %q is not understood", line)
		}
		entries = append(entries, e)
	}
	g := Golden{}
	for _, e := range entries {
		data := make([]byte, e.size)
		if _, err := io.ReadFull(b, data); err != nil {
			return nil, fmt.Errorf("golden data: %w", err)
		}
		g[e.hash] = data
	}
	return g, nil
}

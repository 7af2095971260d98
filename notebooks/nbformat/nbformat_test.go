package nbformat_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/notebooks/nbformat"
)

// testdata/jupyter.ipynb was written by Python's nbformat 5 and holds its odd
// corners: every kind of output, line ends that only Python knows, attachments,
// numbers that float64 would print differently.
func TestRoundTripIsByteForByte(t *testing.T) {
	want, err := os.ReadFile("testdata/jupyter.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	nb, err := nbformat.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := nb.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
	got, err := nb.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the notebook changed:\n%s", got)
	}
}

func TestTypedAccess(t *testing.T) {
	nb, err := nbformat.ReadFile("testdata/jupyter.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	c := nb.Cells[0]
	if !strings.HasPrefix(c.Source, "fmt.Println(\"<a & b>\")\nx := 1") {
		t.Errorf("source = %q", c.Source)
	}
	if got := c.Tags(); !reflect.DeepEqual(got, []string{"parameters"}) {
		t.Errorf("tags = %q", got)
	}
	if name, text, ok := c.Outputs[0].Stream(); !ok || name != "stdout" || text != "a\nb\té 😀 \x1b[31m\n" {
		t.Errorf("stream = %q %q %v", name, text, ok)
	}
	if _, _, ok := c.Outputs[1].Stream(); ok || c.Outputs[1].Type() != "execute_result" {
		t.Errorf("output 2 is a %s", c.Outputs[1].Type())
	}
	if nb.Language() != "go" {
		t.Errorf("language = %q", nb.Language())
	}
}

// What programs build is what Jupyter would have written for it.
func TestBuild(t *testing.T) {
	nb := nbformat.New()
	if err := nb.Metadata.Set("title", "a < b"); err != nil {
		t.Fatal(err)
	}
	c := nbformat.NewCell(nbformat.Code, "sum", "a\nb")
	n := 7
	c.ExecutionCount = &n
	c.Outputs = []nbformat.Output{
		nbformat.NewStream("stdout", "1\n2"),
		nbformat.NewDisplay(map[string]any{"text/html": "<b>\n</b>", "image/png": "iVBO"}, nil),
		nbformat.NewResult(7, map[string]any{"text/plain": "3"}, map[string]any{"k": 1}),
		nbformat.NewError("panic", "boom", nil),
	}
	nb.Cells = append(nb.Cells, c, nbformat.NewCell(nbformat.Markdown, "text", "# T"))
	if err := nb.Validate(); err != nil {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "nb.ipynb")
	if err := nb.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]",
		"\"<b>\\n\",\n       \"</b>\"",
		"\"image/png\": \"iVBO\"",
		"\"title\": \"a < b\"",
		"\"traceback\": []",
		"\"nbformat_minor\": 5\n}\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if again, err := nbformat.ReadFile(path); err != nil || again.Validate() != nil {
		t.Errorf("read again: %v", err)
	}
}

// A notebook of 4.4 has no ids, and gains unique ones.
func TestUpgrade(t *testing.T) {
	nb, err := nbformat.Parse([]byte(`{"nbformat":4,"nbformat_minor":4,"metadata":{},"cells":[
		{"cell_type":"markdown","metadata":{},"source":"a"},
		{"cell_type":"markdown","id":"cell-1","metadata":{},"source":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	nb.Upgrade()
	if err := nb.Validate(); err != nil {
		t.Error(err)
	}
	if nb.Cells[0].ID != "cell-1-2" || nb.Minor != 5 {
		t.Errorf("id = %q, minor = %d", nb.Cells[0].ID, nb.Minor)
	}
}

// notebook wraps the JSON of one cell.
func notebook(cell string) string {
	return `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[` + cell + `]}`
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty file", "", "unexpected end of JSON input"},
		{"git conflict", "{\n \"cells\": [\n<<<<<<< HEAD", "line 3, column 1"},
		{"other JSON", `[1]`, "a notebook is a JSON object"},
		{"null", `null`, "a notebook is a JSON object"},
		{"no version", `{"cells":[]}`, `not a notebook of format 4: key "nbformat" is missing`},
		{"format 3", `{"nbformat":3,"nbformat_minor":0,"worksheets":[]}`, "has format 3"},
		{"no cells", `{"nbformat":4,"nbformat_minor":5}`, `key "cells" is missing`},
		{"cell is a list", notebook(`[]`), "cell 1: a cell is a JSON object"},
		{"no source", notebook(`{"cell_type":"code","id":"a"}`), `cell 1 (id "a"): key "source" is missing`},
		{"source is a number", notebook(`{"cell_type":"code","id":"a","source":1}`), "a string or a list of strings"},
		{"outputs is an object", notebook(`{"cell_type":"code","source":"","outputs":{}}`), `cell 1: key "outputs" has a wrong value`},
		{"lone surrogate", notebook(`{"cell_type":"code","source":"\ud83d"}`), "half a character"},
		{"lone low surrogate", notebook(`{"cell_type":"code","source":"\uDE00"}`), "half a character"},
		{"not UTF-8", "{\"a\": \"\xff\"}", "line 1, column 8: the file is not UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := nbformat.Parse([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
	if nb, err := nbformat.Parse([]byte(notebook(`{"cell_type":"code","source":"\ud83d\ude00\\ud83d"}`))); err != nil || nb.Cells[0].Source != `😀\ud83d` {
		t.Errorf("a surrogate pair: %v", err)
	}
}

// Readable notebooks that break a rule of the format: they are kept as they
// are, and Validate says what is wrong.
func TestValidate(t *testing.T) {
	output := func(o string) string {
		return notebook(`{"cell_type":"code","id":"a","metadata":{},"source":"","execution_count":null,"outputs":[` + o + `]}`)
	}
	for _, test := range []struct{ name, text, want string }{
		{"no id", notebook(`{"cell_type":"raw","source":""}`), "has no id"},
		{"odd id", notebook(`{"cell_type":"raw","id":"a b","source":""}`), "1 to 64 letters"},
		{"same id", notebook(`{"cell_type":"raw","id":"a","source":""},{"cell_type":"raw","id":"a","source":""}`), `cell 2 (id "a"): cell 1 has the same id`},
		{"cell type", notebook(`{"cell_type":"heading","id":"a","source":""}`), `cell type is "heading"`},
		{"unknown key", notebook(`{"cell_type":"raw","id":"a","source":"","level":1}`), `key "level"`},
		{"tags", notebook(`{"cell_type":"raw","id":"a","source":"","metadata":{"tags":"x"}}`), "list of strings"},
		{"output type", output(`{"output_type":"pyout"}`), `output 1: the output type is "pyout"`},
		{"stream without text", output(`{"output_type":"stream","name":"stdout"}`), `needs the key "text"`},
		{"result with a text count", output(`{"output_type":"execute_result","data":{},"metadata":{},"execution_count":"1"}`), `"execution_count"`},
		{"kernelspec", `{"nbformat":4,"nbformat_minor":5,"metadata":{"kernelspec":{"name":"go"}},"cells":[]}`, `"display_name"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			nb, err := nbformat.Parse([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if err := nb.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Validate = %v, want an error with %q", err, test.want)
			}
			if _, err := nb.Bytes(); err != nil {
				t.Errorf("the notebook was lost: %v", err)
			}
		})
	}
}

// A failed write leaves the file that was there, and nothing beside it.
func TestWriteFileKeepsTheOldOne(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nb.ipynb")
	nb := nbformat.New()
	if err := nb.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	nb.Metadata["broken"] = []byte("{")
	if err := nb.WriteFile(path); err == nil || !strings.Contains(err.Error(), "not written") {
		t.Errorf("error = %v", err)
	}
	if _, err := nbformat.ReadFile(path); err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("files left: %v", files)
	}
}

// Whatever can be read is written in a form that reads back the same.
func FuzzParse(f *testing.F) {
	seed, err := os.ReadFile("testdata/jupyter.ipynb")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(notebook(`{"cell_type":"code","source":["a\r\n","b"],"outputs":[{"x":1.0}],"e":null}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := nbformat.Parse(data)
		if err != nil {
			return
		}
		nb.Validate() // must not panic; most inputs are invalid
		once, err := nb.Bytes()
		if err != nil {
			t.Fatalf("read, but not written: %v", err)
		}
		again, err := nbformat.Parse(once)
		if err != nil {
			t.Fatalf("written, but not read: %v\n%s", err, once)
		}
		twice, err := again.Bytes()
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("not stable: %v\n%s\n%s", err, once, twice)
		}
		for i := range nb.Cells {
			if nb.Cells[i].Source != again.Cells[i].Source || nb.Cells[i].ID != again.Cells[i].ID {
				t.Fatalf("cell %d changed", i)
			}
		}
	})
}

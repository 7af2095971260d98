package front

import (
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// A Diagnostic is one thing that is wrong with a cell. Line and Col count from
// one; Col counts bytes, as Go does.
type Diagnostic struct {
	Cell string // "cell[3]"
	Line int
	Col  int
	Msg  string
	// Notes say more, for example where a name was declared before.
	Notes []string
	known bool // said before
}

// FileName is the name that positions in cell n carry.
func FileName(n int) string { return "cell[" + strconv.Itoa(n) + "]" }

var fileName = regexp.MustCompile(`cell\[(\d+)\](?::(\d+))?(?::(\d+))?`)

// Readable turns "cell[3]:2:5" into "cell [3], line 2".
func Readable(s string) string {
	return fileName.ReplaceAllStringFunc(s, func(m string) string {
		p := fileName.FindStringSubmatch(m)
		if p[2] == "" {
			return "cell [" + p[1] + "]"
		}
		return "cell [" + p[1] + "], line " + p[2]
	})
}

func diagnostic(fset *token.FileSet, pos token.Pos, msg string) Diagnostic {
	p := fset.Position(pos)
	return Diagnostic{Cell: p.Filename, Line: p.Line, Col: p.Column, Msg: msg}
}

// syntaxDiagnostics reads the parser's errors. One behind the cell's last line
// is about the brace that we put there: the cell ends too early.
func syntaxDiagnostics(src *Source, err error) []Diagnostic {
	var list scanner.ErrorList
	switch e := err.(type) {
	case nil:
		return nil
	case scanner.ErrorList:
		list = e
	default:
		return []Diagnostic{{Msg: err.Error()}}
	}
	list.RemoveMultiples()
	var out []Diagnostic
	lines := strings.Split(strings.TrimRight(string(src.Text), " \t\n"), "\n")
	for _, e := range list {
		if e.Pos.Line > len(lines) {
			e.Pos.Line, e.Pos.Column = len(lines), len(lines[len(lines)-1])+1
			for _, found := range []string{"'}'", "'EOF'", "EOF", "newline"} {
				e.Msg = strings.Replace(e.Msg, "found "+found, "found the end of the cell", 1)
			}
		}
		out = append(out, Diagnostic{Cell: e.Pos.Filename, Line: e.Pos.Line, Col: e.Pos.Column, Msg: e.Msg})
	}
	return out
}

// typeDiagnostics folds the checker's follow-up errors ("\tother declaration
// of x") into the notes of the error before.
func typeDiagnostics(fset *token.FileSet, errs []types.Error) []Diagnostic {
	var out []Diagnostic
	for _, e := range errs {
		msg := strings.ReplaceAll(e.Msg, "main.", "")
		if strings.HasPrefix(msg, "\t") && len(out) > 0 {
			last := &out[len(out)-1]
			where := fset.Position(e.Pos)
			last.Notes = append(last.Notes, fmt.Sprintf("%s: %s", Readable(fmt.Sprintf("%s:%d", where.Filename, where.Line)), strings.TrimSpace(msg)))
			continue
		}
		out = append(out, diagnostic(fset, e.Pos, msg))
	}
	return out
}

// sortDiagnostics orders by position and drops repetitions.
func sortDiagnostics(ds []Diagnostic) []Diagnostic {
	sort.SliceStable(ds, func(i, j int) bool {
		a, b := ds[i], ds[j]
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Col < b.Col
	})
	var out []Diagnostic
	for _, d := range ds {
		if n := len(out); n > 0 && out[n-1].Line == d.Line && out[n-1].Col == d.Col && out[n-1].Cell == d.Cell {
			continue
		}
		out = append(out, d)
	}
	return out
}

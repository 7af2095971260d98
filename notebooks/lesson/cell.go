package lesson

import (
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// parseCell checks that a code cell is Go, as far as a parser can tell: imports,
// then declarations or statements. What a notebook allows beyond that, a mixture
// of the two, is tried piece by piece. Cells with magics are not Go.
func parseCell(b block) error {
	if text := strings.TrimSpace(b.source); strings.HasPrefix(text, "%") || strings.HasPrefix(text, "!") {
		return nil
	}
	imports, rest := cutImports(b.source)
	declErr := parse("package p\n" + imports + rest)
	if declErr == nil {
		return nil
	}
	// The blank lines that replace the imports keep the line numbers.
	stmtErr := parse("package p;func _() {\n" + strings.Repeat("\n", strings.Count(imports, "\n")) + rest + "\n}")
	if stmtErr == nil {
		return parseAt(b, parse("package p\n"+imports))
	}
	if pieces(rest) {
		return nil
	}
	return parseAt(b, stmtErr)
}

// pieces tries a mixture: each piece is either declarations or statements.
func pieces(text string) bool {
	for _, part := range cut(text) {
		if parse("package p\n"+part) != nil && parse("package p;func _() {\n"+part+"\n}") != nil {
			return false
		}
	}
	return true
}

// cut cuts a cell into pieces, before and after functions and types.
func cut(text string) []string {
	var parts []string
	for _, line := range strings.SplitAfter(text, "\n") {
		if len(parts) == 0 || strings.HasPrefix(line, "func ") || strings.HasPrefix(line, "type ") || afterBrace(parts[len(parts)-1]) {
			parts = append(parts, "")
		}
		parts[len(parts)-1] += line
	}
	return parts
}

// afterBrace says that a piece is a whole declaration: what follows is another.
func afterBrace(piece string) bool {
	return (strings.HasPrefix(piece, "func ") || strings.HasPrefix(piece, "type ")) &&
		(strings.HasSuffix(piece, "\n}\n") || strings.Count(piece, "\n") == 1 && strings.HasSuffix(piece, "}\n"))
}

func parse(text string) error {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	return err
}

// parseAt moves an error from the wrapped cell to the source: the wrapping adds
// one line before the cell.
func parseAt(b block, err error) error {
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return err
	}
	return fmt.Errorf("line %d: cell #%s is not Go: %s", b.line+list[0].Pos.Line-2, b.id, list[0].Msg)
}

// cutImports cuts a cell after its leading imports and comments.
func cutImports(text string) (imports, rest string) {
	lines := strings.SplitAfter(text, "\n")
	end, inBlock := 0, false
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case inBlock:
			inBlock = trimmed != ")"
			end = i + 1
		case strings.HasPrefix(line, "import ("):
			inBlock, end = true, i+1
		case strings.HasPrefix(line, "import "):
			end = i + 1
		case trimmed != "" && !strings.HasPrefix(trimmed, "//"):
			return strings.Join(lines[:end], ""), strings.Join(lines[end:], "")
		}
	}
	return strings.Join(lines[:end], ""), strings.Join(lines[end:], "")
}

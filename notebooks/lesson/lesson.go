// Package lesson builds the notebooks of a lesson from its one source.
//
// The model: a source is Markdown that reads well as it is and diffs well. It
// becomes two notebooks, the starter and the solution, which differ only where
// the source says so, and which therefore cannot drift apart.
//
//   - A fence whose info is "go #id" is a code cell with that id, and so is "cuda
//     #id", whose text begins with %%cuda. "go starter #id" and "go solution #id"
//     are cells of one of the notebooks; a pair of them with the same id is one
//     place with two contents. A line `<<< FILE` in a cell stands for a file of
//     the module, and `<<< FILE.go NAME...` for declarations of it.
//   - The text between is Markdown cells. A heading begins a cell, whose id is
//     made of its words; so does the line <!-- cell #id -->, which gives the id,
//     and <!-- cell starter #id --> or <!-- cell solution #id --> for a cell of
//     one notebook. Text after a code cell that begins with neither continues
//     the lesson under the id of the code cell with "-text" behind it.
//   - Every other fence is part of the text.
package lesson

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/warpbook/warpbook/notebooks/nbformat"
)

// twin says in which notebooks a cell stands: "" is both.
type twin string

const (
	both     twin = ""
	starter  twin = "starter"
	solution twin = "solution"
)

// block is a cell of the source.
type block struct {
	line   int // where its text begins in the source, from 1
	twin   twin
	kind   nbformat.CellType
	id     string
	source string
}

// Build makes the two notebooks, with what cells include from files. Errors name the
// line of the source.
func Build(src []byte, files fs.FS) (starterNB, solutionNB *nbformat.Notebook, err error) {
	blocks, err := split(string(src))
	if err != nil {
		return nil, nil, err
	}
	var errs []error
	for i := range blocks {
		if blocks[i].kind != nbformat.Code {
			continue
		}
		err := include(files, &blocks[i])
		if err == nil {
			err = parseCell(blocks[i])
		}
		errs = append(errs, err)
	}
	errs = append(errs, checkPairs(blocks))
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	if starterNB, err = notebook(blocks, starter); err != nil {
		return nil, nil, err
	}
	if solutionNB, err = notebook(blocks, solution); err != nil {
		return nil, nil, err
	}
	return starterNB, solutionNB, nil
}

// notebook collects the cells of one twin.
func notebook(blocks []block, t twin) (*nbformat.Notebook, error) {
	nb := nbformat.New()
	for key, value := range map[string]any{
		"kernelspec":    map[string]any{"name": "warpbook", "display_name": "Go (Warpbook)", "language": "go"},
		"language_info": map[string]any{"name": "go", "mimetype": "text/x-go", "file_extension": ".go", "pygments_lexer": "go", "codemirror_mode": "go"},
	} {
		if err := nb.Metadata.Set(key, value); err != nil {
			return nil, err
		}
	}
	for _, b := range blocks {
		if b.twin == both || b.twin == t {
			nb.Cells = append(nb.Cells, nbformat.NewCell(b.kind, b.id, b.source))
		}
	}
	if err := nb.Validate(); err != nil {
		return nil, fmt.Errorf("the %s notebook is not valid: %w", t, err)
	}
	return nb, nil
}

// checkPairs refuses a starter cell without a solution, and the other way
// round, for code: a learner must find an answer to every question.
func checkPairs(blocks []block) error {
	pairs := map[string]map[twin]int{}
	for _, b := range blocks {
		if b.kind == nbformat.Code && b.twin != both {
			if pairs[b.id] == nil {
				pairs[b.id] = map[twin]int{}
			}
			pairs[b.id][b.twin] = b.line
		}
	}
	var errs []error
	for _, b := range blocks {
		if pair := pairs[b.id]; pair != nil && len(pair) == 1 && pair[b.twin] == b.line {
			errs = append(errs, fmt.Errorf("line %d: the %s cell #%s has no twin; write both a starter and a solution", b.line, b.twin, b.id))
		}
	}
	return errors.Join(errs...)
}

var (
	fence   = regexp.MustCompile("^(`{3,}|~{3,})\\s*(.*?)\\s*$")                           // never changed
	info    = regexp.MustCompile(`^(?:go|cuda)(?:\s+(starter|solution))?\s+#(\S+)$`)       // never changed
	mark    = regexp.MustCompile(`^<!--\s*cell(?:\s+(starter|solution))?\s+#(\S+)\s*-->$`) // never changed
	heading = regexp.MustCompile(`^#{1,6}\s+(.*)$`)                                        // never changed
)

// splitter cuts a source into blocks.
type splitter struct {
	blocks []block
	text   *block // the Markdown cell that is open, if any
	lines  []string
}

func split(src string) ([]block, error) {
	lines := strings.Split(strings.ReplaceAll(src, "\r\n", "\n"), "\n")
	s := &splitter{}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if f := fence.FindStringSubmatch(line); f != nil {
			end := closing(lines, i+1, f[1])
			if end < 0 {
				return nil, fmt.Errorf("line %d: the fence is not closed; end it with %s on a line of its own", i+1, f[1])
			}
			if err := s.fenced(lines[i:end+1], i+1, f[2]); err != nil {
				return nil, err
			}
			i = end
			continue
		}
		switch m, h := mark.FindStringSubmatch(line), heading.FindStringSubmatch(line); {
		case m != nil:
			s.open(block{line: i + 2, twin: twin(m[1]), id: m[2]})
		case strings.HasPrefix(line, "<!-- cell"):
			return nil, fmt.Errorf("line %d: this mark cannot be read; write <!-- cell #id -->, with starter or solution before #id if it is for one notebook", i+1)
		case h != nil && (s.text == nil || s.written()):
			s.open(block{line: i + 1, id: slug(h[1])})
			s.lines = append(s.lines, line)
		default:
			s.add(line, i+1)
		}
	}
	s.close()
	return s.blocks, nil
}

// closing finds the line that closes a fence.
func closing(lines []string, from int, open string) int {
	for i := from; i < len(lines); i++ {
		text := strings.TrimRight(lines[i], " \t")
		if strings.HasPrefix(text, open) && strings.Trim(text, open[:1]) == "" {
			return i
		}
	}
	return -1
}

// fenced takes a whole fence: a code cell, or a part of the text.
func (s *splitter) fenced(lines []string, at int, words string) error {
	m := info.FindStringSubmatch(words)
	if m == nil {
		if strings.HasPrefix(words, "go starter") || strings.HasPrefix(words, "go solution") || strings.Contains(words, "#") {
			return fmt.Errorf("line %d: %q is no cell; write go #id, go starter #id or go solution #id", at, words)
		}
		for i, line := range lines {
			s.add(line, at+i)
		}
		return nil
	}
	s.close()
	s.blocks = append(s.blocks, block{line: at + 1, twin: twin(m[1]), kind: nbformat.Code, id: m[2],
		source: strings.Join(lines[1:len(lines)-1], "\n")})
	return nil
}

// open begins a Markdown cell.
func (s *splitter) open(b block) {
	s.close()
	b.kind = nbformat.Markdown
	s.text, s.lines = &b, nil
}

// add adds a line to the open cell, or begins one that continues the lesson.
func (s *splitter) add(line string, at int) {
	if s.text == nil {
		if strings.TrimSpace(line) == "" {
			return
		}
		id := "text"
		if n := len(s.blocks); n > 0 {
			id = s.blocks[n-1].id + "-text"
		}
		s.open(block{line: at, id: id})
	}
	s.lines = append(s.lines, line)
}

// written says whether the open cell has any text yet.
func (s *splitter) written() bool { return strings.TrimSpace(strings.Join(s.lines, "")) != "" }

func (s *splitter) close() {
	if s.text == nil {
		return
	}
	s.text.source = strings.Trim(strings.Join(s.lines, "\n"), "\n")
	if s.written() {
		s.blocks = append(s.blocks, *s.text)
	}
	s.text, s.lines = nil, nil
}

// slug makes an id of a heading's words.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	id := strings.Join(words, "-")
	return id[:min(len(id), 64)]
}

package session_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/session"
)

var (
	fuzzSeed = flag.Uint64("fuzz.seed", 1, "first seed of the differential fuzzer")
	fuzzN    = flag.Int("fuzz.n", 4, "programs that the differential fuzzer makes")
	fuzzTime = flag.Duration("fuzz.for", 0, "make programs for this long instead of -fuzz.n")
	fuzzMode = flag.String("fuzz.mode", "", "yaegi, auto or compiled only")
	fuzzLog  = flag.String("fuzz.log", "", "append what differs to this file at once")
	fuzzSkip = flag.String("fuzz.skip", "", "a regular expression for findings that are known")
	fuzzShow = flag.Bool("fuzz.show", false, "print the programs")
)

// TestDifferential makes random well-typed programs as lists of cells, runs them
// in a session and compares what each cell puts out with what the same program
// does when the compiler has it. In forced yaegi mode a cell may be refused: it
// is then left out of the program, with those that need it; so thousands of small statements meet the interpreter.
func TestDifferential(t *testing.T) {
	f := &fuzzer{t: t, seen: map[string]int{}, refusals: map[string]int{}}
	start := time.Now()
	const batch = 10
	for seed := *fuzzSeed; ; seed += batch {
		n := batch
		if *fuzzTime == 0 {
			n = min(batch, int(*fuzzSeed)+*fuzzN-int(seed))
		} else if time.Since(start) > *fuzzTime {
			n = 0
		}
		if n <= 0 {
			break
		}
		f.batch(seed, n)
	}
	t.Logf("%d programs, %d cells, %d of them interpreted, %d findings in %v", f.programs, f.cells, f.interpreted, f.findings, time.Since(start).Round(time.Second))
	for what, n := range f.refusals {
		if n > 2 {
			t.Logf("refused %5d times: %s", n, what)
		}
	}
}

type fuzzer struct {
	t                                      *testing.T
	programs, cells, interpreted, findings int
	seen                                   map[string]int // findings by shape
	refusals                               map[string]int
}

// A program is what the generator made for a seed, or what is left of it.
type program struct {
	seed  uint64
	mode  string
	cells []progCell
	// What the session did.
	got     []string
	kept    []progCell // those that ran
	refused map[string]int
	byYaegi int
}

// generate makes the program of a seed: without what does not type-check.
func generate(seed uint64) (*program, error) {
	g := newProgen(seed)
	mode := []string{"yaegi", "auto", "yaegi", "compiled", "yaegi", "auto"}[seed%6]
	if *fuzzMode != "" {
		mode = *fuzzMode
	}
	if mode == "yaegi" {
		g.script(500)
	} else {
		g.mixed(10)
	}
	cells := g.cells
	for range 20 {
		bad, err := typeErrors(cells)
		if len(bad) == 0 {
			return &program{seed: seed, mode: mode, cells: cells}, err
		}
		var good []progCell
		for i, c := range cells {
			if why := bad[i]; why == "" {
				good = append(good, c)
			} else if *fuzzShow {
				fmt.Printf("seed %d leaves out: %s\n\t%s\n", seed, why, c.text)
			}
		}
		cells = good
	}
	return nil, fmt.Errorf("seed %d: the program does not come to type-check", seed)
}

// batch runs some programs in sessions, then compiles them all at once.
func (f *fuzzer) batch(seed uint64, n int) {
	var ps []*program
	var mu sync.Mutex
	var wg sync.WaitGroup
	sem := make(chan bool, 2)
	for i := range n {
		p, err := generate(seed + uint64(i))
		if err != nil {
			f.t.Error(err)
			continue
		}
		sem <- true
		wg.Go(func() {
			defer func() { <-sem }()
			p.runSession(f.t)
			mu.Lock()
			ps = append(ps, p)
			mu.Unlock()
		})
	}
	wg.Wait()
	want, err := compileAndRun(f.t, ps)
	if err != nil {
		f.t.Error(err)
		return
	}
	if testing.Verbose() {
		defer func() {
			fmt.Printf("seed %d: %d programs, %d cells, %d interpreted, %d findings\n", seed, f.programs, f.cells, f.interpreted, f.findings)
		}()
	}
	for i, p := range ps {
		f.programs++
		f.cells += len(p.kept)
		f.interpreted += p.byYaegi
		for what, n := range p.refused {
			f.refusals[what] += n
		}
		if at := p.differs(want[i]); at >= 0 {
			f.report(p, at, want[i])
		}
	}
}

// runSession runs the cells and keeps those that were not refused.
func (p *program) runSession(t *testing.T) {
	p.got, p.kept, p.byYaegi, p.refused = nil, nil, 0, map[string]int{}
	s := open(t)
	defer s.Close()
	mode := ""
	setMode := func(m string) {
		if m != mode {
			runTo(s, 0, "%engine "+m, &transcript{})
			mode = m
		}
	}
	gone := map[string]bool{} // variables whose definition was refused
	for i, c := range p.cells {
		if slices.ContainsFunc(marker.FindAllString(c.text, -1), func(m string) bool { return gone[m] }) {
			for _, m := range marker.FindAllString(c.decl, -1) {
				gone[m] = true
			}
			continue
		}
		m := p.mode
		if c.compiled && m == "yaegi" {
			m = "compiled"
		}
		setMode(m)
		text, err := p.exec(s, i+1, c)
		if err != nil && m == "yaegi" {
			if _, what, ok := strings.Cut(err.Value, ": "); ok && strings.Contains(what, "cannot be interpreted exactly") {
				p.refused[what]++
				for _, m := range marker.FindAllString(c.decl, -1) {
					gone[m] = true
				}
				continue
			}
		}
		if mode == "yaegi" {
			p.byYaegi++
		}
		p.kept = append(p.kept, c)
		p.got = append(p.got, text)
		if err != nil && (err.Name == "internal error" || err.Name == "compile error" || err.Name == "session ended") {
			return // it shows as a difference
		}
	}
}

func (p *program) exec(s *session.Notebook, count int, c progCell) (string, *session.Error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o := &transcript{onlyStdout: !strings.HasPrefix(c.body, "wbShow("), plain: true}
	out := s.Execute(ctx, session.Cell{Count: count, Code: sessionText(c.text)}, o)
	text := o.String()
	if out.Err != nil {
		if out.Err.Name == "compile error" || out.Err.Name == "internal error" || out.Err.Name == "session ended" {
			text += ansi.ReplaceAllString(strings.Join(out.Err.Traceback, "\n"), "")
		} else {
			text += "panic: " + out.Err.Value
		}
	}
	return text, out.Err
}

// differs gives the first cell whose output is not want's, or -1.
func (p *program) differs(want []string) int {
	for i, got := range p.got {
		if i >= len(want) || asText(got) != asText(want[i]) {
			return i
		}
	}
	return -1
}

// asText is a program's output as a notebook can show it, as Unicode text, and
// without addresses.
func asText(s string) string {
	s = address.ReplaceAllString(s, "0x")
	return replaced.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "\uFFFD")
}

var address = regexp.MustCompile(`\b0x[0-9a-f]{6,12}\b`)

var replaced = regexp.MustCompile("\uFFFD+")

var shapeless = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|'[^']*'|[0-9]+|§[^§]*§")

// report writes a finding down, with as few cells as a simple search finds.
func (f *fuzzer) report(p *program, at int, want []string) {
	got := p.got[at]
	shape := p.mode + shapeless.ReplaceAllString(p.kept[at].text, "_")
	if strings.Contains(got, "error:") {
		shape = p.mode + shapeless.ReplaceAllString(got[strings.Index(got, "error:"):], "_")
	}
	f.seen[shape]++
	if f.seen[shape] > 1 {
		return
	}
	if *fuzzSkip != "" && regexp.MustCompile(*fuzzSkip).MatchString(sessionText(p.kept[at].text)+"\n"+got) {
		return
	}
	f.findings++
	small, got, expect := p.minimise(f.t, at, want)
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, mode %s\n", p.seed, p.mode)
	for _, c := range small {
		b.WriteString("-- cell --\n" + sessionText(c.text) + "\n")
	}
	fmt.Fprintf(&b, "-- got --\n%s\n-- want --\n%s\n", got, expect)
	f.t.Error(b.String())
	if *fuzzLog != "" {
		if w, err := os.OpenFile(*fuzzLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			fmt.Fprintln(w, b.String())
			w.Close()
		}
	}
}

// minimise drops cells while the last one's output still differs.
func (p *program) minimise(t *testing.T, at int, want []string) (cells []progCell, got, expect string) {
	cells, got, expect = p.kept[:at+1], p.got[at], ""
	if at < len(want) {
		expect = want[at]
	}
	if less := needed(cells); len(less) < len(cells) {
		if g, w, ok := fails(t, p.mode, less); ok {
			cells, got, expect = less, g, w
		}
	}
	tries := 0
	for size := len(cells) / 2; size >= 1; size /= 2 {
		for from := 0; from+size < len(cells) && tries < 15; {
			less := append(append([]progCell(nil), cells[:from]...), cells[from+size:]...)
			tries++
			if g, w, ok := fails(t, p.mode, less); ok {
				cells, got, expect = less, g, w
			} else {
				from += size
			}
		}
	}
	return cells, got, expect
}

var word = regexp.MustCompile(`[\pL_][\pL\d_]*`)

// needed are the cells that define what the last one mentions, and it.
func needed(cells []progCell) []progCell {
	keep := make([]bool, len(cells))
	words := map[string]bool{}
	take := func(i int) {
		keep[i] = true
		for _, w := range word.FindAllString(programText(cells[i].text+"\n"+cells[i].decl+"\n"+cells[i].body), -1) {
			words[w] = true
		}
	}
	take(len(cells) - 1)
	for i := len(cells) - 2; i >= 0; i-- {
		if !cells[i].defines {
			continue
		}
		for _, m := range declared.FindAllStringSubmatch(programText(cells[i].decl), -1) {
			if words[m[1]] && !keep[i] {
				take(i)
			}
		}
		if !keep[i] && strings.Contains(cells[i].decl, "iota") {
			take(i)
		}
	}
	var out []progCell
	for i, k := range keep {
		if k {
			out = append(out, cells[i])
		}
	}
	return out
}

var declared = regexp.MustCompile(`(?m)^(?:type|var|func) (?:\(\w+ \*?)?([\pL_][\pL\d_]*)`)

func fails(t *testing.T, mode string, cells []progCell) (got, want string, ok bool) {
	if bad, _ := typeErrors(cells); len(bad) > 0 {
		return "", "", false
	}
	q := &program{mode: mode, cells: cells}
	q.runSession(t)
	if len(q.kept) != len(cells) {
		return "", "", false
	}
	w, err := compileAndRun(t, []*program{q})
	if err != nil || q.differs(w[0]) != len(cells)-1 || len(w[0]) < len(cells) {
		return "", "", false
	}
	return q.got[len(cells)-1], w[0][len(cells)-1], true
}

// progImports are the packages that programs use; the session finds them itself.
var progImports = map[string]string{
	"fmt": "Println", "strings": "ToUpper", "strconv": "Itoa", "math": "Sqrt", "math/bits": "Len", "unicode": "IsUpper", "unicode/utf8": "RuneLen", "bytes": "Equal",
	"errors": "New", "time": "Now", "net/url": "Parse", "path": "Join", "html": "EscapeString", "encoding/base64": "StdEncoding", "encoding/hex": "EncodeToString",
	"hash/crc32": "ChecksumIEEE", "slices": "Index[[]int]", "maps": "Keys[map[int]int]", "sort": "Ints", "encoding/json": "Marshal", "os": "Getenv", "io": "EOF", "sync": "NewCond",
	"sync/atomic": "AddInt32", "iter": "Pull[int]", "cmp": "Compare[int]", "reflect": "TypeOf", "context": "Background", "text/template": "New", "text/tabwriter": "NewWriter", "bufio": "NewScanner",
	"regexp": "MustCompile", "runtime": "GC", "math/big": "NewInt",
}

const progHelpers = `
func wbSame[T any](a, b *T) {}

func wbDrop(...any) {}

func wbShow(v any) {
	switch x := v.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		fmt.Printf("[execute_result] %+v\n", v)
	case string:
		fmt.Printf("[execute_result] %s\n", strconv.Quote(x))
	default:
		if r := reflect.ValueOf(v); r.Kind() == reflect.String {
			v = strconv.Quote(r.String())
		}
		fmt.Printf("[execute_result] %v\n", v)
	}
}

func wbCell(n int, f func()) {
	fmt.Printf("\x01\x02%d\n", n)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			fmt.Print("panic: " + strings.ReplaceAll(r.Error(), "\n", "\n\t"))
		case string:
			fmt.Print("panic: " + strings.ReplaceAll(r, "\n", "\n\t"))
		case float64:
			fmt.Print("panic: " + strconv.FormatFloat(r, 'g', -1, 64))
		default:
			fmt.Print("panic: ", r)
		}
	}()
	f()
}
`

// source is the program for the compiler; starts are the lines at which the
// cells' parts begin.
func source(cells []progCell) (src string, owner func(line int) int) {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for path := range progImports {
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	b.WriteString(")\n")
	for path, name := range progImports {
		fmt.Fprintf(&b, "var _ = %s.%s\n", path[strings.LastIndexByte(path, '/')+1:], name)
	}
	b.WriteString(progHelpers)
	type start struct{ line, cell int }
	var starts []start
	line, counted := 1, 0
	mark := func(cell int) {
		line += strings.Count(b.String()[counted:], "\n")
		counted = b.Len()
		starts = append(starts, start{line, cell})
	}
	for i, c := range cells {
		mark(i)
		b.WriteString(programText(c.decl) + "\n")
	}
	for i, c := range cells {
		mark(i)
		fmt.Fprintf(&b, "func wbBody%d() {\n%s\n}\n", i, programText(c.body))
	}
	b.WriteString("func main() {\n")
	for i := range cells {
		fmt.Fprintf(&b, "\twbCell(%d, wbBody%d)\n", i, i)
	}
	b.WriteString("}\n")
	return b.String(), func(line int) int {
		cell := 0
		for _, s := range starts {
			if s.line <= line {
				cell = s.cell
			}
		}
		return cell
	}
}

var (
	fuzzFset     = token.NewFileSet()
	fuzzImporter = remembered{importer.ForCompiler(fuzzFset, "source", nil), map[string]*types.Package{}}
	fuzzMu       sync.Mutex
)

// remembered imports each package once; the importer below looks at the files
// again every time.
type remembered struct {
	from types.Importer
	have map[string]*types.Package
}

func (r remembered) Import(path string) (*types.Package, error) {
	if p := r.have[path]; p != nil {
		return p, nil
	}
	p, err := r.from.Import(path)
	if err == nil {
		r.have[path] = p
	}
	return p, err
}

// typeErrors says which cells do not type-check, and why.
func typeErrors(cells []progCell) (map[int]string, error) {
	fuzzMu.Lock()
	defer fuzzMu.Unlock()
	src, owner := source(cells)
	fset := fuzzFset
	file, err := parser.ParseFile(fset, "main.go", src, parser.SkipObjectResolution)
	bad := map[int]string{}
	if err != nil {
		var line int
		fmt.Sscanf(strings.TrimPrefix(err.Error(), "main.go:"), "%d", &line)
		bad[owner(line)] = err.Error()
		return bad, nil
	}
	cfg := types.Config{Importer: fuzzImporter, Error: func(err error) {
		var te types.Error
		if errors.As(err, &te) {
			bad[owner(fset.Position(te.Pos).Line)] = te.Msg
		}
	}}
	_, _ = cfg.Check("main", fset, []*ast.File{file}, nil)
	return bad, nil
}

var version = regexp.MustCompile(`__\d+`)

// compileAndRun gives the output of each cell of each program, as the compiler
// has it.
func compileAndRun(t *testing.T, ps []*program) ([][]string, error) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.26\n"), 0o644); err != nil {
		return nil, err
	}
	for i, p := range ps {
		src, _ := source(p.kept)
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("p%d", i)), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("p%d", i), "main.go"), []byte(src), 0o644); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", "bin/", "./...")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the compiler: %w\n%s", err, out)
	}
	var all [][]string
	for i := range ps {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		cmd := exec.CommandContext(ctx, filepath.Join(dir, "bin", fmt.Sprintf("p%d", i)))
		out, err := cmd.Output()
		cancel()
		text := version.ReplaceAllString(string(out), "")
		var cells []string
		for j, part := range strings.Split(text, "\x01\x02")[1:] {
			cells = append(cells, strings.TrimPrefix(part, fmt.Sprintf("%d\n", j)))
		}
		if err != nil {
			cells = append(cells, fmt.Sprint(err))
		}
		all = append(all, cells)
	}
	return all, os.RemoveAll(dir)
}

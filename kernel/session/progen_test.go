package session_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// A progCell is one cell of a random program, and what it is in the equivalent
// program for the compiler. Names of session variables and types stand as
// §name#version§: the session sees the name alone, the compiler a name for each
// version.
type progCell struct {
	text     string // as a person would type it
	decl     string // for the compiler: at package level
	body     string // for the compiler: in a function that is called
	defines  bool   // later cells need it
	compiled bool   // a declaration: never for the interpreter
}

var marker = regexp.MustCompile(`§([^#§]*)#(\d+)§`)

func sessionText(s string) string { return marker.ReplaceAllString(s, "$1") }

func programText(s string) string {
	return marker.ReplaceAllStringFunc(s, func(m string) string {
		p := marker.FindStringSubmatch(m)
		return p[1] + "__" + p[2]
	})
}

// A ptype is a type of the generator.
type ptype struct {
	kind   string // "int", "uint", "float", "string", "bool", "slice", "map", "array", "struct", "ptr", "any", "error", "opaque"
	name   string // as it is written
	bits   int
	elem   *ptype
	key    *ptype
	n      int
	fields []pfield
	calls  []pcall // methods
	named  bool
	fmts   bool // has String or Error
}

type pfield struct {
	name string
	t    *ptype
}

// A pcall is a function or method: the name and the types.
type pcall struct {
	name   string
	params []*ptype
	res    *ptype
	stmt   bool // changes its receiver: only as a statement
	iface  bool // takes values of any type after its parameters
}

type pvar struct {
	name string // with its marker
	t    *ptype
}

func basic(kind, name string, bits int) *ptype { return &ptype{kind: kind, name: name, bits: bits} }

var (
	tInt    = basic("int", "int", 64)
	tInt8   = basic("int", "int8", 8)
	tInt16  = basic("int", "int16", 16)
	tInt32  = basic("int", "int32", 32)
	tRune   = basic("int", "rune", 32)
	tInt64  = basic("int", "int64", 64)
	tUint   = basic("uint", "uint", 64)
	tByte   = basic("uint", "byte", 8)
	tUint8  = basic("uint", "uint8", 8)
	tUint16 = basic("uint", "uint16", 16)
	tUint32 = basic("uint", "uint32", 32)
	tUint64 = basic("uint", "uint64", 64)
	tF64    = basic("float", "float64", 64)
	tF32    = basic("float", "float32", 32)
	tString = basic("string", "string", 0)
	tBool   = basic("bool", "bool", 0)
	tAny    = basic("any", "any", 0)
	tError  = &ptype{kind: "error", name: "error", calls: nil}
	tC128   = basic("complex", "complex128", 128)

	integers = []*ptype{tInt, tInt, tInt, tInt8, tInt16, tInt32, tRune, tInt64, tUint, tByte, tUint8, tUint16, tUint32, tUint64}
	basics   = append([]*ptype{tF64, tF64, tF32, tString, tString, tString, tBool, tBool, tC128}, integers...)

	tBytes   = &ptype{kind: "slice", name: "[]byte", elem: tByte}
	tRunes   = &ptype{kind: "slice", name: "[]rune", elem: tRune}
	tStrings = &ptype{kind: "slice", name: "[]string", elem: tString}
	tInts    = &ptype{kind: "slice", name: "[]int", elem: tInt}

	tDuration = &ptype{kind: "int", name: "time.Duration", bits: 64, named: true, fmts: true}
	tMonth    = &ptype{kind: "int", name: "time.Month", bits: 64, named: true, fmts: true}
	tTime     = &ptype{kind: "opaque", name: "time.Time", named: true, fmts: true}
	tValues   = &ptype{kind: "map", name: "url.Values", key: tString, elem: tStrings, named: true}
	tBuilder  = &ptype{kind: "opaque", name: "strings.Builder", named: true}
	tBuffer   = &ptype{kind: "opaque", name: "bytes.Buffer", named: true}
	stdTypes  = []*ptype{tDuration, tMonth, tTime, tValues, tBuilder, tBuffer}
)

func init() {
	tDuration.calls = []pcall{{"String", nil, tString, false, false}, {"Seconds", nil, tF64, false, false}, {"Milliseconds", nil, tInt64, false, false}, {"Abs", nil, tDuration, false, false}, {"Truncate", []*ptype{tDuration}, tDuration, false, false}}
	tMonth.calls = []pcall{{"String", nil, tString, false, false}}
	tTime.calls = []pcall{{"Year", nil, tInt, false, false}, {"Unix", nil, tInt64, false, false}, {"Month", nil, tMonth, false, false}, {"Add", []*ptype{tDuration}, tTime, false, false}, {"IsZero", nil, tBool, false, false}, {"Before", []*ptype{tTime}, tBool, false, false}, {"Sub", []*ptype{tTime}, tDuration, false, false}, {"AddDate", []*ptype{tInt8AsInt, tInt8AsInt, tInt8AsInt}, tTime, false, false}, {"String", nil, tString, false, false}}
	tValues.calls = []pcall{{"Get", []*ptype{tString}, tString, false, false}, {"Encode", nil, tString, false, false}, {"Has", []*ptype{tString}, tBool, false, false}, {"Del", []*ptype{tString}, nil, true, false}}
	tBuilder.calls = []pcall{{"String", nil, tString, false, false}, {"Len", nil, tInt, false, false}, {"WriteString", []*ptype{tString}, nil, true, false}, {"WriteByte", []*ptype{tByte}, nil, true, false}, {"WriteRune", []*ptype{tRune}, nil, true, false}, {"Reset", nil, nil, true, false}}
	tBuffer.calls = []pcall{{"String", nil, tString, false, false}, {"Len", nil, tInt, false, false}, {"WriteString", []*ptype{tString}, nil, true, false}, {"WriteByte", []*ptype{tByte}, nil, true, false}, {"Write", []*ptype{tBytes}, nil, true, false}, {"Reset", nil, nil, true, false}}
}

// tInt8AsInt is int, with small values.
var tInt8AsInt = basic("int", "int", 4)

// stdFuncs are pure functions of packages by result.
var stdFuncs = []pcall{
	{"strings.ToUpper", []*ptype{tString}, tString, false, false}, {"strings.TrimSpace", []*ptype{tString}, tString, false, false},
	{"strings.Contains", []*ptype{tString, tString}, tBool, false, false}, {"strings.HasPrefix", []*ptype{tString, tString}, tBool, false, false},
	{"strings.Index", []*ptype{tString, tString}, tInt, false, false}, {"strings.Count", []*ptype{tString, tString}, tInt, false, false},
	{"strings.Split", []*ptype{tString, tString}, tStrings, false, false}, {"strings.Fields", []*ptype{tString}, tStrings, false, false},
	{"strings.Join", []*ptype{tStrings, tString}, tString, false, false}, {"strings.ReplaceAll", []*ptype{tString, tString, tString}, tString, false, false},
	{"strings.IndexByte", []*ptype{tString, tByte}, tInt, false, false}, {"strings.IndexRune", []*ptype{tString, tRune}, tInt, false, false},
	{"strings.ContainsRune", []*ptype{tString, tRune}, tBool, false, false}, {"strings.TrimLeft", []*ptype{tString, tString}, tString, false, false},
	{"strings.ToValidUTF8", []*ptype{tString, tString}, tString, false, false}, {"strings.EqualFold", []*ptype{tString, tString}, tBool, false, false},
	{"strconv.Itoa", []*ptype{tInt}, tString, false, false}, {"strconv.Quote", []*ptype{tString}, tString, false, false},
	{"strconv.FormatBool", []*ptype{tBool}, tString, false, false}, {"strconv.QuoteRune", []*ptype{tRune}, tString, false, false},
	{"strconv.FormatInt", []*ptype{tInt64, tBase}, tString, false, false}, {"strconv.FormatUint", []*ptype{tUint64, tBase}, tString, false, false},
	{"math.Sqrt", []*ptype{tF64}, tF64, false, false}, {"math.Floor", []*ptype{tF64}, tF64, false, false}, {"math.Abs", []*ptype{tF64}, tF64, false, false},
	{"math.Max", []*ptype{tF64, tF64}, tF64, false, false}, {"math.Float64bits", []*ptype{tF64}, tUint64, false, false}, {"math.IsNaN", []*ptype{tF64}, tBool, false, false},
	{"math.Float32bits", []*ptype{tF32}, tUint32, false, false}, {"math.Trunc", []*ptype{tF64}, tF64, false, false}, {"math.Inf", []*ptype{tInt}, tF64, false, false},
	{"bits.OnesCount64", []*ptype{tUint64}, tInt, false, false}, {"bits.Reverse8", []*ptype{tUint8}, tUint8, false, false}, {"bits.LeadingZeros32", []*ptype{tUint32}, tInt, false, false},
	{"bits.RotateLeft16", []*ptype{tUint16, tInt}, tUint16, false, false},
	{"unicode.IsUpper", []*ptype{tRune}, tBool, false, false}, {"unicode.ToUpper", []*ptype{tRune}, tRune, false, false}, {"utf8.RuneCountInString", []*ptype{tString}, tInt, false, false},
	{"utf8.ValidString", []*ptype{tString}, tBool, false, false}, {"utf8.RuneLen", []*ptype{tRune}, tInt, false, false},
	{"bytes.ToUpper", []*ptype{tBytes}, tBytes, false, false}, {"bytes.Equal", []*ptype{tBytes, tBytes}, tBool, false, false},
	{"fmt.Sprint", nil, tString, false, true}, {"fmt.Sprintln", nil, tString, false, true}, {"fmt.Sprint", []*ptype{tString}, tString, false, true},
	{"errors.New", []*ptype{tString}, tError, false, false}, {"fmt.Errorf", []*ptype{tVerbs}, tError, false, true}, {"fmt.Sprintf", []*ptype{tVerbs}, tString, false, true},
	{"errors.Is", []*ptype{tError, tError}, tBool, false, false}, {"errors.Unwrap", []*ptype{tError}, tError, false, false}, {"errors.Join", []*ptype{tError, tError}, tError, false, false},
	{"time.Unix", []*ptype{tInt64, tSmall64}, tTime, false, false}, {"url.QueryEscape", []*ptype{tString}, tString, false, false}, {"path.Join", []*ptype{tString, tString}, tString, false, false},
	{"path.Base", []*ptype{tString}, tString, false, false}, {"html.EscapeString", []*ptype{tString}, tString, false, false},
	{"reflect.DeepEqual", []*ptype{tAny, tAny}, tBool, false, false},
	{"base64.StdEncoding.EncodeToString", []*ptype{tBytes}, tString, false, false}, {"hex.EncodeToString", []*ptype{tBytes}, tString, false, false},
	{"crc32.ChecksumIEEE", []*ptype{tBytes}, tUint32, false, false}, {"slices.Contains", []*ptype{tStrings, tString}, tBool, false, false}, {"slices.Max", []*ptype{tNonEmpty}, tInt, false, false},
}

// orders are cells about when a variable is read beside calls that change it,
// which the language leaves open.
var orders = []string{
	"fmt.Println(counter*2, next())", "@lq := []int{counter * 2, next()}\nfmt.Println(@lq)", "fmt.Println(counter - next(), next() - counter)", "@xq := -counter + next()\nfmt.Println(@xq)", "@xq := box.N*2 + box.Sum(next()) + counter\nfmt.Println(@xq)",
	"@xq := float64(counter) + float64(next())\nfmt.Println(@xq)", "bump(&counter, counter*2+next())\nfmt.Println(counter)", "box = Box{counter * 2, vari(\"v\", next(), counter*3)}\nfmt.Println(box)", "box = Box{N: box.N + 1, Name: box.Name + vari(\"v\", next())}\nfmt.Println(box)",
	"@sq := \"a\"\n@sq = @sq + vari(@sq, next(), counter) + @sq\nfmt.Println(@sq)", "@xq := counter + counter*next()\nfmt.Println(@xq)", "@xq := next()*10 + counter\nfmt.Println(@xq)", "@bq := counter*2 == next()*2-2\nfmt.Println(@bq)", "fmt.Println(counter+1, boom(next()&1), counter+1)", "@xq := (counter + 1) * next()\nfmt.Println(@xq)",
	"keep(counter + next())\nfmt.Println(kept)", "fmt.Println(vari(\"q\", counter*2, next()))", "counter = counter + 1 + next()\nfmt.Println(counter)", "counter = next() + counter\nfmt.Println(counter)", "counter -= next() * counter\nfmt.Println(counter)", "counter *= next()\nfmt.Println(counter)", "box.N += next() + box.N\nfmt.Println(box)",
	"@mq := map[string]int{\"a\": counter + 1, \"b\": next()}\nfmt.Println(@mq)", "fmt.Println(len(codes) + next() + counter)", "@hq := 1\n@hq = @hq*2 + next()\nfmt.Println(@hq)", "counter++\n@gq := counter*counter + next()\nfmt.Println(@gq)", "fmt.Println(counter/2 + next())", "fmt.Println(counter + next())", "fmt.Println(counter + 0 + next())", "counter = counter + next()\nfmt.Println(counter)",
	"fmt.Println(counter, next(), counter)", "@xq := counter + next()\nfmt.Println(@xq)", "@lq := []int{counter, next(), counter}\nfmt.Println(@lq)", "box = Box{counter, vari(\"v\", next(), counter)}\nfmt.Println(box)", "counter = counter*10 + next()\nfmt.Println(counter)", "counter += next()\nfmt.Println(counter)",
}

// sideEffects are what the functions of effects do.
var sideEffects = []string{
	"fmt.Println(vari(\"p\", counter, next(), counter), counter)", "@mq := map[int]int{counter: next(), 5: counter}\nfmt.Println(@mq)", "box.N = box.N + next() + box.Sum(counter)\nfmt.Println(box)", "fmt.Println(box, box.Sum(next()), box.N)", "@zq := counter > 0 && next() > counter\nfmt.Println(@zq, counter)", "bump(&counter, next())\nfmt.Println(counter)", "fmt.Println(counter == next(), counter < next(), next() == counter)",
	"fmt.Println(next(), next(), {string}, next())", "boom({int}&7)", "fmt.Println(boom({int}&3))", "vari({string}, {int}, {string}, {bool})", "fmt.Println(vari({string}), {float64})",
	"fmt.Println(vari({string}, {uint8}, {int8}, {float64}))", "next()", "@xq := next()\nfmt.Println(@xq, counter)", "counter = {int}\nfmt.Println(next(), counter)", "counter++\nnext()\ncounter += next()\nfmt.Println(counter)",
	"bump(&counter, {int})\nfmt.Println(counter)", "fail({string})", "fmt.Println(fail({string}))", "box.N++\nbox.Name += {string}\nbox.M()\nfmt.Println(box)", "held = box\nbox.N += 5\nfmt.Println(held, box)",
	"@boxesq := []Box{box, box}\nbox.N = {int}\nfmt.Println(@boxesq, box)", "@mq := map[string]Box{{string}: box}\nbox.N--\nfmt.Println(@mq, len(@mq))", "@cq := box\n@cq.Name = {string}\nfmt.Println(@cq, box, @cq == box)",
	"held = {int}\nfmt.Printf(\"%T %v\\n\", held, held)", "held = []string{{string}}\nfmt.Println(held)", "keep(box)\nbox.N = 1\nfmt.Println(kept)", "keep({string})\nfmt.Println(kept)", "fmt.Println(held == kept)", "@bq := arr\narr = next3()\nfmt.Println(@bq, arr)",
	"box = Box{N: next(), Name: {string}}\nfmt.Printf(\"%+v %T\\n\", box, box)", "fmt.Println(box.Sum({int}), box.N)", "@yq := box.Sum({int8AsInt})\n@zq := float64(@yq) / 2\nfmt.Println(@yq, @zq, @yq > 3 && @zq < 10.5)", "grid := [][]int{{1}, {2, {int}}}\nfmt.Println(grid, len(grid))",
	"@sq := {string}\n@nq := len(@sq)\n@tq := @sq + \"|\" + @sq\nfmt.Printf(\"%d %q %v\\n\", @nq, @tq, @sq < @tq)", "@iq := {int}\n@iq *= 3\n@iq -= 7\n@iq++\nfmt.Println(@iq, -@iq, @iq/3, @iq == 3)", "@fq := {float64}\n@fq /= 3\n@fq *= @fq\nfmt.Println(@fq, -@fq, @fq/0.3, @fq != @fq)",
	"@eq := Code({uint8})\nfmt.Println(@eq)\nfmt.Printf(\"%v %d %s %T\\n\", @eq, @eq, @eq, @eq)", "fmt.Println(fmt.Errorf(\"%w: %d\", Code(3), {int}))", "errors.Is(fail({string}), Code(1))", "@dq := 90 * time.Minute\n@dq += time.Second\nfmt.Println(@dq, @dq.Hours(), @dq.Round(time.Hour), @dq > time.Hour)",
	"sort.Sort(codes)\nfmt.Println(codes, codes.Len())", "codes = Codes{Code({uint8}), 2, 9}\nfmt.Println(codes)", "fmt.Fprintln(os.Stdout, {string})", "@uq := url.Values{}\n@uq.Set({string}, {string})\n@uq.Add(\"k\", {string})\nfmt.Println(@uq.Encode(), @uq)", "fmt.Print({int}, {int}, {string}, {string}, {float64}, \"\\n\")",
	"fmt.Printf(\"%c %U %q %x %08b %o %+d|%6.2f|%-8s|%8q|%t\\n\", 'a', 0x1F600, 'é', {string}, {uint8}, 8, {int}, {float64}, {string}, {string}, {bool})", "fmt.Println(math.MaxInt64, math.Pi, 'x', 1e6, 1<<40, -5%3, 7/2, 7/2.0, \"a\"+\"b\", true && !false, 0x10, 0b11, 0o17, 1_000)",
	"time.Unix(int64({int}&0xffff), 0).UTC()", "@qq := strings.Fields({string} + \" x y\")\nlen(@qq)", "@wq := time.Date(2024, 2, {int}&31, 0, 0, 0, 0, time.UTC)\n@wq.Format(\"2006-01-02\")", "json.Marshal(box)", "@jjq, @jerrq := json.Marshal(map[string]any{\"b\": box, \"a\": {int}})\nfmt.Println(string(@jjq), @jerrq)",
	"@rq := 'é'\nfmt.Println(@rq, string(@rq), @rq+1, @rq > 'a')", "@byq := byte({uint8})\n@byq++\nfmt.Println(@byq, @byq+200, @byq == 'b')", "var @i8q int8 = 127\n@i8q++\nfmt.Println(@i8q)", "@f32q := float32({float64})\n@f32q += 0.1\nfmt.Println(@f32q, float64(@f32q))", "@pq := &box\n@pq.N = 77\nfmt.Println(box, *@pq, @pq.Sum(1))",
	"deep.In.N = {int}\ndeep.Box.N++\nfmt.Println(deep, deep.N, deep.Sum(1))", "deep.Name = {string}\ndeep.M()\nfmt.Printf(\"%+v\\n\", deep)", "held = nil\nfmt.Println(held, held == nil)", "kept = deep\ndeep.In.N = 5\nfmt.Println(kept, kept == any(deep))", "held\n", "kept\n",
}

// effects are declarations of functions that change and fail.
const effects = `var counter int
var held, kept any
var arr [3]int
type Box struct { N int; Name string }
func (b *Box) M() { b.N *= 2 }
func (b Box) Sum(k int) int { b.N += k; return b.N }
type Deep struct { Box; In Box }
var box = Box{1, "b"}
var deep Deep
type Code uint8
func (c Code) Error() string { return "code " + strconv.Itoa(int(c)) }
type Codes []Code
func (c Codes) Len() int { return len(c) }
func (c Codes) Less(i, j int) bool { return c[i] < c[j] }
func (c Codes) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
var codes = Codes{3, 1, 2}
func next() int { counter++; return counter }
func next3() [3]int { return [3]int{next(), next(), 0} }
func boom(i int) int { return []int{1, 2, 3}[i] }
func vari(pre string, xs ...any) string { return fmt.Sprint(pre, len(xs), xs) }
func bump(p *int, by int) { *p += by }
func fail(s string) error { if len(s) > 3 { return Code(len(s)) }; if s == "a" { panic(Code(1)) }; return fmt.Errorf("fail %q: %w", s, Code(1)) }
func keep(v any) { kept = v }
`

var (
	tBase     = basic("base", "int", 64)
	tSmall64  = basic("int", "int64", 8)
	tVerbs    = basic("verbs", "string", 0)
	tNonEmpty = basic("nonempty", "[]int", 0)
)

// A progen makes one program.
type progen struct {
	r      *rand.Rand
	cells  []progCell
	types  []*ptype // declared by cells, and composites
	vars   []pvar   // of the session
	locals []pvar
	funcs  []pcall
	consts []pvar
	ver    map[string]int
	fresh  int
	risk   bool // expressions may panic
	nest   int  // expressions being made
	unique bool // no variable is declared again
}

func newProgen(seed uint64) *progen {
	return &progen{r: rand.New(rand.NewPCG(seed, 77)), ver: map[string]int{}}
}

func (g *progen) n(n int) int           { return g.r.IntN(n) }
func (g *progen) chance(p int) bool     { return g.r.IntN(100) < p }
func (g *progen) local(p string) string { g.fresh++; return fmt.Sprintf("%s%d", p, g.fresh) }
func pick[T any](g *progen, xs []T) T   { return xs[g.n(len(xs))] }

func (g *progen) mark(name string) string {
	g.ver[name]++
	return fmt.Sprintf("§%s#%d§", name, g.ver[name])
}

var varNames = []string{"a", "b", "c", "x", "y", "z", "n", "s", "total", "items", "größe", "日本", "_x", "X", "print", "list", "ring", "err", "ok", "res", "data", "Name", "p", "q"}

func (g *progen) varName() string {
	if g.unique || g.chance(70) {
		g.fresh++
		return fmt.Sprintf("v%d", g.fresh)
	}
	return pick(g, varNames)
}

// define takes a name for a new variable of the session; an older variable of
// that name is gone.
func (g *progen) define(t *ptype) string {
	name := g.varName()
	g.hide(name)
	m := g.mark(name)
	g.vars = append(g.vars, pvar{m, t})
	return m
}

func (g *progen) hide(name string) {
	var kept []pvar
	for _, v := range g.vars {
		if !strings.HasPrefix(v.name, "§"+name+"#") {
			kept = append(kept, v)
		}
	}
	g.vars = kept
}

// anyType is a type of a variable.
func (g *progen) anyType() *ptype {
	switch k := g.n(20); {
	case k < 9:
		return pick(g, basics)
	case k < 11:
		return pick(g, stdTypes)
	case k < 17 && len(g.types) > 0:
		return pick(g, g.types)
	case k < 18:
		return tError
	case k < 19:
		return tAny
	}
	return g.composite(2)
}

func (g *progen) composite(depth int) *ptype {
	elem := pick(g, basics)
	if depth > 0 && g.chance(25) {
		elem = g.composite(depth - 1)
	} else if len(g.types) > 0 && g.chance(40) {
		if t := pick(g, g.types); t.kind != "opaque" {
			elem = t
		}
	}
	switch g.n(5) {
	case 0, 1:
		return &ptype{kind: "slice", name: "[]" + elem.name, elem: elem}
	case 2:
		key := pick(g, []*ptype{tString, tInt, tRune, tBool, tF64, tUint8})
		return &ptype{kind: "map", name: "map[" + key.name + "]" + elem.name, key: key, elem: elem}
	case 3:
		return &ptype{kind: "array", name: fmt.Sprintf("[%d]%s", 3, elem.name), elem: elem, n: 3}
	}
	return &ptype{kind: "ptr", name: "*" + elem.name, elem: elem}
}

// plain says that printing a value shows no address.
func (t *ptype) plain() bool {
	switch t.kind {
	case "ptr", "func":
		return false
	case "slice", "array", "map":
		return t.elem.plain()
	case "struct":
		for _, f := range t.fields {
			if !f.t.plain() {
				return false
			}
		}
	case "opaque":
		return t == tTime
	}
	return true
}

func (t *ptype) comparable() bool {
	switch t.kind {
	case "slice", "map", "opaque", "any", "error":
		return false
	case "array":
		return t.elem.comparable()
	case "struct":
		for _, f := range t.fields {
			if !f.t.comparable() {
				return false
			}
		}
	}
	return true
}

func (g *progen) visible() []pvar {
	return append(append([]pvar(nil), g.vars...), g.locals...)
}

func (g *progen) varOf(t *ptype) string {
	var names []string
	for _, v := range g.visible() {
		if v.t.name == t.name {
			names = append(names, v.name)
		}
	}
	for _, c := range g.consts {
		if c.t.name == t.name {
			names = append(names, c.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return pick(g, names)
}

// selection is a value of type t inside a variable.
func (g *progen) selection(t *ptype) string {
	var out []string
	for _, v := range g.visible() {
		if v.t.kind == "struct" {
			for _, f := range v.t.fields {
				if f.t.name == t.name {
					out = append(out, v.name+"."+f.name)
				}
			}
		}
		if v.t.kind == "array" && v.t.elem.name == t.name {
			out = append(out, fmt.Sprintf("%s[%d]", v.name, g.n(v.t.n)))
		}
		if v.t.kind == "slice" && v.t.elem.name == t.name && g.risk {
			out = append(out, fmt.Sprintf("%s[%s]", v.name, pick(g, []string{"0", "1", "len(" + v.name + ")-1", "2"})))
		}
		if v.t.kind == "map" && v.t.elem.name == t.name {
			out = append(out, fmt.Sprintf("%s[%s]", v.name, g.literal(v.t.key)))
		}
		if v.t.kind == "ptr" && v.t.elem.name == t.name && g.risk {
			out = append(out, "*"+v.name)
		}
		if v.t.kind == "any" && g.risk && g.chance(20) {
			out = append(out, v.name+".("+t.name+")")
		}
		for _, c := range v.t.calls {
			if c.res != nil && c.res.name == t.name && !c.stmt {
				out = append(out, v.name+"."+c.name+"("+g.args(c, 1)+")")
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return pick(g, out)
}

func (g *progen) args(c pcall, depth int) string {
	var out []string
	for _, p := range c.params {
		out = append(out, g.expr(p, depth-1))
	}
	if c.iface {
		for range 1 + g.n(2) {
			out = append(out, g.printable(depth-1))
		}
	}
	return strings.Join(out, ", ")
}

// printable is an expression whose text has no address.
func (g *progen) printable(depth int) string {
	if len(g.visible()) > 0 && g.chance(70) {
		v := pick(g, g.visible())
		switch {
		case v.t.kind == "opaque" && v.t != tTime:
			return v.name + ".String()"
		case v.t.kind == "ptr" && v.t.elem.plain() && v.t.elem.kind != "struct":
			return v.name + " == nil"
		case v.t.plain():
			return v.name
		case v.t.kind == "slice" || v.t.kind == "map":
			return "len(" + v.name + ")"
		}
	}
	t := pick(g, basics)
	if g.chance(25) && len(g.types) > 0 {
		if u := pick(g, g.types); u.plain() {
			t = u
		}
	}
	return g.expr(t, depth)
}

func (g *progen) funcCall(t *ptype, depth int) string {
	var fits []pcall
	for _, f := range append(append([]pcall(nil), stdFuncs...), g.funcs...) {
		if f.res != nil && f.res.name == t.name && !f.stmt {
			fits = append(fits, f)
		}
	}
	if len(fits) == 0 {
		return ""
	}
	f := pick(g, fits)
	return f.name + "(" + g.args(f, depth) + ")"
}

// expr is an expression of type t.
func (g *progen) expr(t *ptype, depth int) string {
	switch t.kind {
	case "base":
		return pick(g, []string{"2", "10", "16", "36", "8"})
	case "verbs":
		// None that prints the address in a nested pointer as a plain number.
		return pick(g, []string{`"%v"`, `"%v|%v"`, `"%+v %T"`, `"%q"`, `"%s"`, `"%5v|%-8v|"`, `"%08.3f %t"`, `"%T"`, `"%e %g"`, `"%[2]v %[1]v"`, `"%w"`, `"x %% %v"`})
	case "nonempty":
		return "[]int{" + g.expr(tInt, depth-1) + ", " + g.expr(tInt, depth-1) + "}"
	}
	g.nest++
	defer func() { g.nest-- }()
	if g.nest > 7 {
		return g.literal(t)
	}
	for range 3 {
		var s string
		switch g.n(10) {
		case 0, 1, 2:
			s = g.varOf(t)
		case 3:
			s = g.selection(t)
		case 4, 5:
			if depth > 0 {
				s = g.funcCall(t, depth)
			}
		case 6, 7, 8:
			if depth > 0 {
				s = g.operation(t, depth)
			}
		}
		if s != "" {
			return s
		}
	}
	if depth > 0 && g.chance(50) {
		if s := g.operation(t, depth); s != "" {
			return s
		}
	}
	return g.literal(t)
}

// typed is an operand whose own type is t, not an untyped constant.
func (g *progen) typed(t *ptype, depth int) string {
	if v := g.varOf(t); v != "" && g.chance(70) {
		return v
	}
	if t.kind == "string" || t.kind == "bool" {
		return g.expr(t, depth)
	}
	return t.name + "(" + g.expr(t, depth) + ")"
}

func (g *progen) operation(t *ptype, depth int) string {
	d := depth - 1
	switch t.kind {
	case "int", "uint":
		switch g.n(12) {
		case 0, 1, 2:
			return "(" + g.expr(t, d) + pick(g, []string{" + ", " - ", " * "}) + g.expr(t, d) + ")"
		case 3:
			return "(" + g.typed(t, d) + pick(g, []string{" & ", " | ", " ^ ", " &^ "}) + g.expr(t, d) + ")"
		case 4:
			by := g.literal(t)
			if g.risk {
				by = g.expr(t, d)
			}
			return "(" + g.expr(t, d) + pick(g, []string{" / ", " % "}) + by + ")"
		case 5:
			return "(" + g.typed(t, d) + pick(g, []string{" << ", " >> "}) + pick(g, []string{"1", "3", "7", "uint(70)", "(" + g.typed(tUint8, d) + " % 40)"}) + ")"
		case 6:
			return pick(g, []string{"-", "^", "+"}) + g.typed(t, d)
		case 7:
			return t.name + "(" + g.typed(pick(g, integers), d) + ")"
		case 8:
			if t.named {
				return ""
			}
			return pick(g, []string{"min", "max"}) + "(" + g.typed(t, d) + ", " + g.expr(t, d) + ")"
		case 9:
			if t.name == "int" {
				return pick(g, []string{"len", "len", "cap"}) + "(" + g.expr(pick(g, []*ptype{tInts, tStrings, tBytes}), d) + ")"
			}
			return t.name + "(len(" + g.expr(tString, d) + "))"
		case 10:
			if t.name == "byte" {
				return "(" + g.expr(tString, d) + ` + "k")[0]`
			}
			return t.name + "(" + pick(g, []string{"2.0", "1e1", "'c'", "6 / 2"}) + ")"
		}
	case "float":
		switch g.n(7) {
		case 0, 1, 2:
			return "(" + g.expr(t, d) + pick(g, []string{" + ", " - ", " * ", " / "}) + g.expr(t, d) + ")"
		case 3:
			return "-" + g.typed(t, d)
		case 4:
			return t.name + "(" + g.typed(pick(g, append([]*ptype{tF64, tF32, tInt, tInt}, integers...)), d) + ")"
		case 5:
			if t.name == "float64" {
				return pick(g, []string{"math.Pow(2, " + g.expr(tF64, d) + ")", "math.Pi", "math.MaxFloat64", "real(" + g.typed(tC128, d) + ")"})
			}
		case 6:
			return pick(g, []string{"min", "max"}) + "(" + g.typed(t, d) + ", " + g.expr(t, d) + ")"
		}
	case "complex":
		if g.chance(50) {
			return "complex(" + g.typed(tF64, d) + ", " + g.expr(tF64, d) + ")"
		}
		return "(" + g.expr(t, d) + pick(g, []string{" + ", " - ", " * "}) + g.expr(t, d) + ")"
	case "string":
		switch g.n(7) {
		case 0, 1:
			return "(" + g.expr(t, d) + " + " + g.expr(t, d) + ")"
		case 2:
			return t.name + "(" + pick(g, []string{g.expr(tBytes, d), g.expr(tRunes, d), g.typed(tRune, d)}) + ")"
		case 3:
			s := g.expr(tString, d)
			return t.name + "(" + s + "[" + "len(" + s + ")/2:])"
		case 4:
			return t.name + "(fmt.Sprintf(" + g.expr(tVerbs, 0) + ", " + g.printable(d) + ", " + g.printable(d) + "))"
		case 5:
			return t.name + "(fmt.Sprint(" + g.printable(d) + ", " + g.printable(d) + "))"
		}
	case "bool":
		switch g.n(6) {
		case 0, 1, 2:
			u := pick(g, []*ptype{tInt, tF64, tString, pick(g, integers), tDuration, pick(g, basics[:8])})
			op := pick(g, []string{" == ", " != ", " < ", " <= ", " > ", " >= "})
			if u.kind == "bool" {
				op = " != "
			}
			return "(" + g.typed(u, d) + op + g.expr(u, d) + ")"
		case 3:
			return "(" + g.expr(t, d) + pick(g, []string{" && ", " || "}) + g.expr(t, d) + ")"
		case 4:
			return "!" + g.typed(t, d)
		case 5:
			if len(g.types) > 0 {
				u := pick(g, g.types)
				if u.comparable() {
					return "(" + g.value(u) + pick(g, []string{" == ", " != "}) + g.value(u) + ")"
				}
			}
			return "(" + g.expr(tError, d) + " == nil)"
		}
	case "slice":
		if g.chance(40) {
			return "append(" + g.typedSlice(t, d) + ", " + g.expr(t.elem, d) + ")"
		}
		if t.name == "[]byte" || t.name == "[]rune" {
			return t.name + "(" + g.typed(tString, d) + ")"
		}
	case "any":
		if len(g.types) > 0 && g.chance(60) {
			if t := pick(g, g.types); t.plain() {
				return g.value(t)
			}
		}
		return g.value(pick(g, basics))
	case "error":
		var errs []*ptype
		for _, u := range g.types {
			for _, c := range u.calls {
				if c.name == "Error" {
					errs = append(errs, u)
				}
			}
		}
		if len(errs) > 0 && g.chance(60) {
			return g.value(pick(g, errs))
		}
		return pick(g, []string{"errors.New(" + g.expr(tString, d) + ")", `fmt.Errorf("wrap %w", ` + g.expr(tError, d) + ")", "io.EOF", "os.ErrNotExist"})
	case "ptr":
		if v := g.varOf(t.elem); v != "" && strings.HasPrefix(v, "§") && !g.isConst(v) {
			return "&" + v
		}
		if t.elem.kind == "struct" {
			return "&" + g.literal(t.elem)
		}
		return "new(" + t.elem.name + ")"
	}
	return ""
}

func (g *progen) isConst(name string) bool {
	for _, c := range g.consts {
		if c.name == name {
			return true
		}
	}
	return false
}

func (g *progen) typedSlice(t *ptype, d int) string {
	if v := g.varOf(t); v != "" {
		return v
	}
	return g.literal(t)
}

// value is an operand of type t that says its type.
func (g *progen) value(t *ptype) string {
	if v := g.varOf(t); v != "" && g.chance(60) {
		return v
	}
	l := g.literal(t)
	if t.kind == "struct" || t.kind == "array" {
		return "(" + l + ")"
	}
	switch t.kind {
	case "string", "bool", "slice", "map", "any", "error":
		if !t.named {
			return l
		}
	}
	if strings.HasPrefix(l, t.name) {
		return l
	}
	return t.name + "(" + l + ")"
}

var ints8 = []string{"0", "1", "2", "3", "7", "'a'", "0x1f", "0b101", "0o17", "1e2", "100", "127", "5", "1 + 2", "'\\n'", "10 / 3", "7 % 4", "1 << 3", "3.0"}
var intsBig = map[int][]string{
	16: {"32767", "0x7fff", "1_000"}, 32: {"1<<31 - 1", "math.MaxInt32", "1e9", "'世'"}, 64: {"1<<62 + 1", "math.MaxInt64", "1e18", "9007199254740993", "0x7fff_ffff_ffff_ffff"},
}
var uintsBig = map[int][]string{8: {"255", "0xff", "200"}, 16: {"65535", "math.MaxUint16"}, 32: {"1<<32 - 1", "math.MaxUint32"}, 64: {"1<<64 - 1", "math.MaxUint64", "1<<63"}}
var floats = []string{"0", "1", "2.5", "-1.25", "1e10", "0.1", "1e-7", "1.0 / 3", "10", "'a'", "0x1p-2", "3", "1e21", "123456789", ".5", "1 << 4", "math.Pi", "-0.0", "1e6", "100.0", "2 / 4"}
var stringLits = []string{`""`, `"a"`, `"hello"`, `"héllo"`, `"日本語"`, "`raw\\n`", `"tab\tnl\n"`, `"\xff\xfe"`, `"a,b,c"`, `" sp ace "`, `"\u00e9"`, `"%d"`, `"q\"uote"`, `"A" + "b"`, `"\x00"`, `"<&>"`, `"12"`, "`multi\nline`"}

// literal is a value without variables.
func (g *progen) literal(t *ptype) string {
	switch t.kind {
	case "int":
		lits := ints8
		if g.chance(30) && intsBig[t.bits] != nil {
			lits = intsBig[t.bits]
		}
		s := pick(g, lits)
		if g.chance(20) {
			s = "-(" + s + ")"
		}
		switch t {
		case tDuration:
			return pick(g, []string{s, "time.Second", "5 * time.Minute", "time.Duration(" + s + ")", "1500 * time.Millisecond", "time.Hour + 30*time.Second"})
		case tMonth:
			return pick(g, []string{"time.May", "1", "time.Month(12)", "time.December"})
		}
		if t.named && g.chance(50) {
			return t.name + "(" + s + ")"
		}
		return s
	case "uint":
		if g.chance(25) {
			return pick(g, uintsBig[t.bits])
		}
		return pick(g, ints8)
	case "float":
		s := pick(g, floats)
		if t.named && g.chance(50) {
			return t.name + "(" + s + ")"
		}
		return s
	case "complex":
		return pick(g, []string{"1 + 2i", "3i", "2", "1.5", "complex(1, -1)"})
	case "string":
		s := pick(g, stringLits)
		if t.named && g.chance(50) {
			return t.name + "(" + s + ")"
		}
		return s
	case "bool":
		return pick(g, []string{"true", "false", "1 < 2", `"a" == "b"`, "!true"})
	case "slice":
		if g.chance(10) {
			return t.name + "(nil)"
		}
		var es []string
		for range g.n(4) {
			es = append(es, g.element(t.elem))
		}
		if len(es) > 0 && g.chance(10) {
			es = append(es, "5: "+g.element(t.elem))
		}
		return t.name + "{" + strings.Join(es, ", ") + "}"
	case "array":
		var es []string
		for range g.n(t.n + 1) {
			es = append(es, g.element(t.elem))
		}
		return t.name + "{" + strings.Join(es, ", ") + "}"
	case "map":
		if t.key.kind == "bool" || g.chance(10) {
			return t.name + "{}"
		}
		var es []string
		for i := range g.n(3) {
			k := fmt.Sprint(i + g.n(2)*5)
			if t.key.kind == "string" {
				k = fmt.Sprintf("%q", strings.Repeat(pick(g, []string{"k", "a", "é"}), i+1))
			}
			es = append(es, k+": "+g.element(t.elem))
		}
		return t.name + "{" + strings.Join(es, ", ") + "}"
	case "struct":
		var es []string
		keyed := g.chance(60)
		for _, f := range t.fields {
			if keyed && g.chance(30) {
				continue
			}
			e := g.expr(f.t, 0)
			if keyed {
				e = f.name[strings.LastIndex(f.name, ".")+1:] + ": " + e
			}
			es = append(es, e)
		}
		return t.name + "{" + strings.Join(es, ", ") + "}"
	case "ptr":
		if t.elem.kind == "struct" {
			return "&" + g.literal(t.elem)
		}
		return pick(g, []string{"nil", "new(" + t.elem.name + ")"})
	case "any":
		return pick(g, []string{"1", `"s"`, "2.5", "'r'", "true", "[]int{1, 2}", "nil", "int8(3)", "struct{ A int }{4}", "uint8(7)", `map[string]any{"k": []any{1, nil, "x"}}`, "time.Second"})
	case "error":
		return pick(g, []string{"nil", `errors.New("e")`, "io.EOF", `fmt.Errorf("f %d: %w", 3, io.EOF)`})
	case "opaque":
		switch t {
		case tTime:
			return pick(g, []string{"time.Unix(0, 0).UTC()", "time.Date(2024, time.February, 29, 12, 30, 0, 5, time.UTC)", "time.Time{}"})
		}
		return t.name + "{}"
	}
	return "nil"
}

func (g *progen) element(t *ptype) string {
	s := g.expr(t, 1)
	if t.kind == "struct" && strings.HasPrefix(s, t.name+"{") && g.chance(50) {
		return strings.TrimPrefix(s, t.name)
	}
	return s
}

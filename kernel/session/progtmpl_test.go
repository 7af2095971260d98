package session_test

import (
	"fmt"
	"regexp"
	"strings"
)

// templates are cells of richer statements. {int}, {string}, ... stand for
// random expressions of that type; @a, @b, ... for fresh names; "|||" separates
// a cell of declarations from the one of statements that follows it.
var templates = []string{
	`for @i := range {int}&7 {
	if @i == 2 { continue }
	defer fmt.Println("deferred", @i, {int})
	fmt.Println(@i, {float64})
}`,
	`@fs := []func() int{}
for @i := 0; @i < 3; @i++ {
	@fs = append(@fs, func() int { @i += 10; return @i })
}
for _, @f := range @fs { fmt.Print(@f(), @f(), " ") }
fmt.Println()`,
	`func @G[T cmp.Ordered](xs ...T) (best T) {
	for i, x := range xs {
		if i == 0 || x > best { best = x }
	}
	return
}
type @S[K comparable, V any] struct { m map[K]V; order []K }
func (s *@S[K, V]) Put(k K, v V) {
	if s.m == nil { s.m = map[K]V{} }
	if _, ok := s.m[k]; !ok { s.order = append(s.order, k) }
	s.m[k] = v
}
func (s *@S[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range s.order {
			if !yield(k, s.m[k]) { return }
		}
	}
}
|||fmt.Println(@G({int}, {int}), @G[string]({string}, {string}), @G[float64]())
var @s @S[string, int8]
@s.Put({string}, {int8})
@s.Put({string}, {int8})
for @k, @v := range @s.All() {
	if @v == {int8} { break }
	fmt.Printf("%q %d\n", @k, @v)
}
fmt.Printf("%T\n", @s)`,
	`func @F(n int) (res int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered: %v (%T)", r, r)
			res = -n
		}
	}()
	xs := []int{1, 2, 3}
	var m map[string]int
	var p *struct{ X int }
	switch n % 7 {
	case 0: return xs[n], nil
	case 1: m["a"] = n
	case 2: return p.X, nil
	case 3: return 10 / (n - n), nil
	case 4: panic(fmt.Sprint("own ", n))
	case 5: return any(n).(int) + len(any(n).(string)), nil
	default: defer func() { res *= 2 }(); return n, nil
	}
	return n * 2, nil
}
|||for @i := range 8 { fmt.Println(@F(@i)) }
fmt.Println(@F({int}&15))`,
	`type @Shape interface { area() float64; Name() string }
type @Base struct{ name string }
func (b @Base) Name() string { return b.name }
type @Sq struct { @Base; s float64 }
func (q @Sq) area() float64 { return q.s * q.s }
type @Ci struct { *@Base; r float64 }
func (c *@Ci) area() float64 { return c.r * 3 }
|||@shapes := []@Shape{@Sq{@Base{{string}}, {float64}}, &@Ci{&@Base{"c"}, {float64}}}
for _, @sh := range @shapes {
	switch @x := @sh.(type) {
	case @Sq: fmt.Printf("%T %v %+v %v\n", @x, @x, @x, @x.area())
	case *@Ci: fmt.Printf("%T %v %v\n", @x, @x.r, @x.Name())
	}
}
@sq, @ok := @shapes[0].(@Sq); _, @ok2 := @shapes[1].(@Sq)
fmt.Println(@sq.name, @ok, @ok2, @shapes[0] == @Shape(@sq))`,
	`@ch := make(chan int, 2)
@done := make(chan struct{})
go func() {
	defer close(@done)
	for @v := range @ch { fmt.Println("got", @v, {bool}) }
}()
for @i := range 4 { @ch <- @i * ({int} | 1) }
close(@ch)
<-@done
@v2, @ok := <-@ch
fmt.Println(@v2, @ok)
select {
case @x, @okk := <-@ch: fmt.Println("closed", @x, @okk)
default: fmt.Println("default")
}`,
	`var @wg sync.WaitGroup
@out := make([]string, 5)
for @i := range @out {
	@wg.Add(1)
	go func() { defer @wg.Done(); @out[@i] = fmt.Sprint(@i, {string}) }()
}
@wg.Wait()
fmt.Printf("%q\n", @out)`,
	`@outer:
for @i := 0; ; @i++ {
	for @j := range 4 {
		switch {
		case @i*@j == 6: break @outer
		case @j == 2: continue @outer
		case {bool}: fallthrough
		case @j > 5: fmt.Print("f")
		default: fmt.Print(@i, @j, ";")
		}
	}
	if @i > 4 { break }
}
fmt.Println()`,
	`@m := map[string][]int{}
for @i, @w := range strings.Fields({string} + " a b a") { @m[@w] = append(@m[@w], @i) }
for _, @k := range slices.Sorted(maps.Keys(@m)) { fmt.Printf("%q=%v ", @k, @m[@k]) }
fmt.Println(len(@m))`,
	`for @i, @r := range {string} + "é\xffz" { fmt.Print(@i, ":", string(@r), "/", @r, " ") }
for @i := range [3]int{} { fmt.Print(@i) }
for range 2 { fmt.Print("!") }
for @i := range uint8(3) { fmt.Printf("%T%d ", @i, @i) }
fmt.Println()`,
	`type @E struct { Code int; Err error }
func (e *@E) Error() string { return fmt.Sprintf("E%d: %v", e.Code, e.Err) }
func (e *@E) Unwrap() error { return e.Err }
type @V int
func (v @V) Error() string { return "V" + strconv.Itoa(int(v)) }
func (v @V) Is(t error) bool { return t == io.EOF && v > 3 }
|||@err := fmt.Errorf("ctx: %w", &@E{{int}, @V({int}&7)})
var @pe *@E
var @v @V
fmt.Println(errors.As(@err, &@pe), errors.As(@err, &@v), @v, errors.Is(@err, io.EOF), @err)
if @pe != nil { fmt.Println(@pe.Code, @pe) }`,
	`type @P struct { Name string ` + "`json:\"name\"`" + `; Age int ` + "`json:\"age,omitempty\"`" + `; tags []string; Sub *@P; Any any }
|||@p := @P{Name: {string}, Age: {int}, tags: []string{{string}}, Sub: &@P{Name: "s"}, Any: map[string]any{"z": {float64} * 0, "a": {bool}}}
@j, @e := json.Marshal(@p)
fmt.Println(string(@j), @e)
var @q @P
fmt.Println(json.Unmarshal(@j, &@q), @q.Name, @q.Age, @q.Sub != nil, @q.Any)
fmt.Printf("%+v\n", reflect.TypeOf(@q).Field(0).Tag)`,
	`@xs := []struct{ K string; V int }{{"b", {int}}, {"a", {int}}, {{string}, 3}}
sort.Slice(@xs, func(i, j int) bool { return @xs[i].K < @xs[j].K })
fmt.Println(@xs)
slices.SortFunc(@xs, func(a, b struct{ K string; V int }) int { return cmp.Compare(a.V, b.V) })
fmt.Printf("%+v\n", @xs)`,
	`type @By []string
func (b @By) Len() int { return len(b) }
func (b @By) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b @By) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
|||@by := @By{{string}, "abc", "z", "", {string} + "xx"}
sort.Stable(@by)
fmt.Printf("%q %v %T\n", @by, sort.IsSorted(sort.Reverse(@by)), @by)`,
	`const (
	@A = 1 << (10 * iota)
	@B
	_
	@C
	@D, @E2 = iota, -iota
	@T time.Duration = iota * time.Second
)
type @W uint8
const (
	@W0 @W = iota + 250
	@W1
)
|||fmt.Println(@A, @B, @C, @D, @E2, @T, @W0, @W1+4, @W1 == 251)
fmt.Printf("%T %T %T\n", @A, @T, @W1)`,
	`func @gen(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		defer fmt.Println("cleanup")
		for i := range n { if !yield(i * i) { fmt.Println("stopped"); return } }
	}
}
func @find(n int) int {
	for x := range @gen(10) { if x > n { defer fmt.Println("found", x); return x } }
	return -1
}
|||for @x := range @gen(5) { if @x == 9 { break }; fmt.Println(@x) }
fmt.Println(@find({int} & 63))
@next, @stop := iter.Pull(@gen(3))
@a1, @ok := @next(); fmt.Println(@a1, @ok)
@stop()`,
	`@a, @b := {int}, {string}
@a, @c := {int}, {float64}
@a, @a2 := @a+1, @a
fmt.Println(@a, @b, @c, @a2)
{ @a := "inner"; _ = @a; fmt.Println(@a) }
if @a := {float64}; @a > 1 { fmt.Println("big") } else if @z := @a * 2; @z < 0 { fmt.Println("neg", @z < -1) }
fmt.Println(@a)`,
	`@arr := [4]int{1, 2, {int}}
@cp := @arr
@sl := @arr[1:3:4]
@sl = append(@sl, 77)
@sl = append(@sl, 88)
@sl[0] = 5
@cp[3]--
fmt.Println(@arr, @cp, @sl, len(@sl), cap(@sl), @arr == @cp)
@pa := &@arr
for @i := range @pa { @pa[@i] *= 2 }
fmt.Println(@arr, len(@pa), copy(@sl, @arr[:]), @sl)
@a4 := [4]int(append([]int{}, @arr[:]...))
fmt.Println(@a4, min(@a4[0], {int}), max(2.5, {float64}, 1))`,
	`type @T1 struct{ n int }
func (t @T1) Val() int { return t.n }
func (t *@T1) Inc(by int) *@T1 { t.n += by; return t }
|||@t := @T1{{int}}
@val := @t.Val
@inc := @t.Inc
@inc(3).Inc(4)
fmt.Println(@val(), @t.n, @T1.Val(@t), (*@T1).Inc(&@t, 2).n)
@f := (*@T1).Val
fmt.Println(@f(&@t))`,
	`func @named(a, b int) (sum, diff int) { defer func() { sum += 100 }(); sum = a + b; diff = a - b; return sum * 2, diff }
func @variadic(pre string, xs ...any) string { return fmt.Sprint(pre, len(xs), xs) }
|||fmt.Println(@named({int}, {int}))
@s, @d := @named(1, {int}); fmt.Println(@s, @d)
fmt.Println(@variadic("a"), @variadic("b", 1, {string}), @variadic("c", []any{1, nil}...), @variadic("d", nil))`,
	`var @i any = {int}
switch @x := @i.(type) {
case int, int64: fmt.Printf("i %T\n", @x)
case nil: fmt.Println("nil")
case error: fmt.Println(@x.Error())
case fmt.Stringer: fmt.Println(@x.String())
case func(): @x()
case []int: fmt.Println(len(@x))
}
@i = {error}
switch @i.(type) {
case nil: fmt.Println("nil error")
case interface{ Unwrap() error }: fmt.Println("wraps")
case error: fmt.Println("error", @i)
}`,
	`@goto := 0
@again:
	@goto++
	if @goto < 3 { goto @again }
	fmt.Println(@goto, {int})`,
	`var @x8 int8 = 127
@x8++
var @u8 uint8
@u8--
var @i32 int32 = -1 << 31
fmt.Println(@x8, @u8, -@i32, @i32/-1, uint32(@i32)>>4, @i32>>4, int8(@u8), uint16(@x8), ^@u8, @x8&^3, -7/2, -7%3, uint64(1)<<63)
@sh := {uint8} % 70
fmt.Println(1<<@sh, int32(1)<<@sh, -8>>@sh, uint8(200)<<(@sh%9))`,
	`fmt.Println(string(rune({int}&0xffff)), []byte({string}), []rune({string}), string([]rune{0x65e5, -1, 0x10ffff}), string([]byte{0xe6, 0x97}))
fmt.Println(float32(0.1), float64(float32(0.1)), int64(-2.0), int(float64({int8})), uint8(int16(300&0x1ff)), 0.1+0.2, 1/3.0)`,
	`func @Map[T, U any](xs []T, f func(T) U) []U { var out []U; for _, x := range xs { out = append(out, f(x)) }; return out }
func @Reduce[T, A any](xs []T, a A, f func(A, T) A) A { for _, x := range xs { a = f(a, x) }; return a }
type @Num interface { ~int | ~int8 | ~float64 }
func @Sum[T @Num](xs ...T) (t T) { for _, x := range xs { t += x }; return }
type @MyInt int
func (m @MyInt) String() string { return fmt.Sprintf("MyInt(%d)", int(m)) }
|||fmt.Println(@Map([]int{1, 2, {int}}, func(i int) string { return strconv.Itoa(i * 2) }), @Map([]string{{string}}, strings.ToUpper))
fmt.Println(@Reduce([]int{1, 2, 3}, {string}, func(a string, x int) string { return a + fmt.Sprint(x) }), @Sum(1, {int}), @Sum[int8](100, 100), @Sum(@MyInt(3), 4))
fmt.Printf("%v %d %T\n", @Sum[@MyInt](2), @MyInt(9), @Map[int, @MyInt])`,
	`type @Tree[T any] struct { L, R *@Tree[T]; V T }
func (t *@Tree[T]) Insert(v T, less func(a, b T) bool) *@Tree[T] {
	if t == nil { return &@Tree[T]{V: v} }
	if less(v, t.V) { t.L = t.L.Insert(v, less) } else { t.R = t.R.Insert(v, less) }
	return t
}
func (t *@Tree[T]) Walk(yield func(T) bool) bool {
	return t == nil || t.L.Walk(yield) && yield(t.V) && t.R.Walk(yield)
}
|||var @root *@Tree[int]
for _, @v := range []int{5, {int}, 2, {int}, 9} { @root = @root.Insert(@v, func(a, b int) bool { return a < b }) }
@root.Walk(func(v int) bool { fmt.Print(v, " "); return v != 9 })
fmt.Println()`,
	`@counter := func() func() int { @c := {int}; return func() int { @c++; return @c } }()
fmt.Println(@counter(), @counter())
func() { defer func() { fmt.Println("r:", recover()) }(); defer func() { panic("second") }(); panic({string}) }()
func() { defer func() { @r := recover(); @re, @isRe := @r.(runtime.Error); fmt.Println(@isRe, @re) }(); var @m map[int]int; @m[{int}] = 1 }()
func() { defer func() { fmt.Printf("%v\n", recover()) }(); @xs := make([]int, 3); @n := 5; _ = @xs[1:@n] }()
func() { defer func() { fmt.Printf("%v\n", recover()) }(); var @e error = io.EOF; _ = @e.(fmt.Stringer) }()
func() { defer func() { fmt.Printf("%v\n", recover()) }(); @a, @b := {int}, 0; fmt.Println(@a / @b) }()`,
	`@ctx, @cancel := context.WithCancel(context.WithValue(context.Background(), "k", {string}))
@cancel()
<-@ctx.Done()
fmt.Println(@ctx.Err(), @ctx.Value("k"), errors.Is(@ctx.Err(), context.Canceled))
var @once sync.Once
for range 3 { @once.Do(func() { fmt.Println("once") }) }
var @mu sync.RWMutex
@mu.RLock(); @mu.RUnlock(); @mu.Lock()
fmt.Println(@mu.TryLock()); @mu.Unlock()
var @at atomic.Int64
fmt.Println(@at.Add(5), @at.CompareAndSwap(5, 7), @at.Load())`,
	`@tpl := template.Must(template.New("t").Parse("{{range $i, $x := .}}{{$i}}={{$x.Name}}{{if $x.Ok}}!{{end}} {{end}}"))
type @row struct { Name string; Ok bool }
@tpl.Execute(os.Stdout, []@row{{{string}, {bool}}, {"n", true}})
fmt.Println()
fmt.Printf("%T %v\n", @row{}, @row{"x", {bool}})`,
	`type @local struct { a int; b string }
@l := map[@local]int{{1, "x"}: {int}, {2, {string}}: 3}
fmt.Println(len(@l), @l[@local{1, "x"}], @l)
@pp := &[]*@local{{3, "p"}}
(*@pp)[0].a += {int}
fmt.Println((*@pp)[0].a, *(*@pp)[0])
@anon := struct { X, Y int; F func(int) int }{Y: 2, F: func(i int) int { return i + {int} }}
fmt.Println(@anon.F(@anon.Y), @anon.X)`,
	`@w := tabwriter.NewWriter(os.Stdout, 0, 8, 1, ' ', 0)
fmt.Fprintf(@w, "a\t%v\t%s\n", {int}, {bool})
fmt.Fprintln(@w, "bbb\tc\td")
@w.Flush()
@sc := bufio.NewScanner(strings.NewReader({string} + "\nl2\nl3"))
for @sc.Scan() { fmt.Printf("%q ", @sc.Text()) }
fmt.Println()
@r := strings.NewReplacer("a", "1", "l", {string}); fmt.Println(@r.Replace("hello a"))
@re := regexp.MustCompile("([a-z]+)(\\d*)")
fmt.Printf("%q\n", @re.FindAllStringSubmatch({string}+" ab12 c", -1))`,
	`type @Node struct { Val int; next *@Node }
type @List struct { head *@Node; n int }
func (l *@List) Push(v int) { l.head = &@Node{v, l.head}; l.n++ }
func (l @List) Each(f func(int)) { for n := l.head; n != nil; n = n.next { f(n.Val) } }
|||var @l @List
for @i := range 4 { @l.Push(@i * {int}) }
@tot := 0
@l.Each(func(v int) { @tot += v })
fmt.Println(@tot, @l.n, @l.head.Val)
@l.Each(func(v int) { fmt.Print(v, ",") })
fmt.Println()`,
	`var @x, @y = {int}, {string}
var (
	@c1 complex128 = complex({float64}, 1)
	@d1, @e1 int = 3, 4
	@f1 = func(a int) (int, string) { return a * 2, "z" }
)
@g1, @h1 := @f1(@d1)
@d1, @e1 = @e1, @d1
fmt.Println(@x, @y, @c1, real(@c1) == imag(@c1), @d1, @e1, @g1, @h1)
_, @k1 := @f1(1); fmt.Println(@k1)`,
	`@p := new({int} + 1)
*@p += 2
@q := new({string})
fmt.Println(*@p, *@q)
@ps := []*int{@p, new(int)}
*@ps[1] = *@ps[0]
fmt.Println(*@ps[1], @ps[0] == @p)
type @alias = map[string]int
@al := @alias{"a": {int}}
clear(@al); fmt.Printf("%T %d\n", @al, len(@al))`,
	`@tm := time.Date(2023, time.March, {int}&15, 1, 2, 3, 0, time.UTC)
fmt.Println(@tm, @tm.Weekday(), @tm.Format(time.RFC3339), @tm.Add(time.Duration({int8})*time.Hour).Sub(@tm))
@dur, @err := time.ParseDuration("1h15m30.5s"); fmt.Println(@dur, @err, @dur.Minutes(), @dur.Round(time.Hour))
@u, @e2 := url.Parse("http://a.b/c?q=1&r=x y"); fmt.Println(@u, @e2)
@n1, @e3 := strconv.Atoi({string}); fmt.Println(@n1, @e3)
@b2 := big.NewInt({int64}); fmt.Println(@b2.Mul(@b2, @b2), new(big.Int).Exp(big.NewInt(3), big.NewInt(50), nil))`,
	`@tick := make(chan int)
@quit := make(chan bool)
go func() { for @i := range 3 { @tick <- @i }; close(@quit) }()
@sum := 0
@loop:
for {
	select {
	case @v := <-@tick: @sum += @v
	case <-@quit: break @loop
	}
}
fmt.Println(@sum)
@sem := make(chan struct{}, 1)
select { case @sem <- struct{}{}: fmt.Println("sent"); default: fmt.Println("full") }
select { case @sem <- struct{}{}: fmt.Println("sent"); default: fmt.Println("full", len(@sem), cap(@sem)) }
var @nilch chan int
select { case <-@nilch: case <-time.After(time.Millisecond): fmt.Println("timeout") }`,
	`func @fib(n int) int { if n < 2 { return n }; return @fib(n-1) + @fib(n-2) }
func @even(n int) bool { return n == 0 || @odd(n-1) }
func @odd(n int) bool { return n != 0 && @even(n-1) }
var @memo = map[int]int{0: 0, 1: 1}
|||fmt.Println(@fib(15), @even({int}&31), @odd(7), len(@memo))
@memo[2] = @fib(2)`,
	`var @z1 struct { A int; b string; C []int; D map[string]int; e error; F *int; G any; H [2]bool }
fmt.Printf("%v %+v %#v\n", @z1, @z1, @z1)
fmt.Printf("%v %d %s %q %x %t %p\n", nil, "s", 5, 'x', {string}, 1, nil)
fmt.Printf("%6.2f|%-6d|%+d|%06d|%x|%X|%o|%b|%c|%U|%e|%*d\n", {float64}, {int}, {int}, 42, 255, "hi", 8, 5, 0x65e5, 0x65e5, 12345.678, 5, {int8})`,
}

// panics are cells of one statement that panic.
var panics = []string{
	"fmt.Println([]int{1, 2}[{int}&3+2])", `var _ = any({int}).(string)`, "panic({string})", `panic(fmt.Errorf("own %d", {int}))`,
	"fmt.Println(map[string][]int{}[{string}][0])", "var _ = 10 / ({int} - {int} &^ 0 - 0*1)", "(*time.Time)(nil).Year()", "var @e error; fmt.Println(@e.Error())",
	"fmt.Println(strings.Repeat({string}, -1))", "fmt.Println({string}[40:])", "func() { panic(fmt.Sprint({int})) }()", "close((chan int)(nil))", "panic({int})",
	"fmt.Println([]int{1}[:{int}&7+2])", "_ = [4]int([]int{1})", "var @f func(); @f()", "panic(errors.New({string}))", "bytes.NewBuffer(nil).Truncate(5)", "regexp.MustCompile(\"(\")", "_ = make([]int, {int}|-1<<40)",
	"var @m map[string]int; @m[{string}]++", "var @i any = []int{}; fmt.Println(@i == @i)", "fmt.Println(map[any]int{[1]any{func() {}}: 1})", "defer fmt.Println(\"d\"); panic({float64})",
}

var slot = regexp.MustCompile(`\{(int|string|bool|float64|int8|int64|uint8|error)\}`)
var freshName = regexp.MustCompile(`@\w+`)

var slotTypes = map[string]*ptype{"int": tInt, "string": tString, "bool": tBool, "float64": tF64, "int8": tInt8, "int64": tInt64, "uint8": tUint8, "error": tError}

func (g *progen) fill(tmpl string) string {
	names := map[string]string{}
	tmpl = freshName.ReplaceAllStringFunc(tmpl, func(n string) string {
		if names[n] == "" {
			g.fresh++
			names[n] = fmt.Sprintf("%s%d", n[1:], g.fresh)
		}
		return names[n]
	})
	return slot.ReplaceAllStringFunc(tmpl, func(s string) string {
		t := slotTypes[s[1:len(s)-1]]
		if t.kind == "int" || t.kind == "uint" || t.kind == "float" || g.chance(30) {
			return g.typed(t, 2)
		}
		return g.expr(t, 2)
	})
}

// template adds a template's cells. What its statements define is not used by
// other cells, so the compiler has it in a function.
func (g *progen) template() {
	saved := g.vars
	decl, body, two := strings.Cut(pick(g, templates), "|||")
	if !two {
		g.run(g.fill(decl))
		g.vars = saved
		return
	}
	g.vars = nil // the declarations' slots have no variables
	text := g.fill(decl + "|||" + body)
	g.vars = saved
	decl, body, _ = strings.Cut(text, "|||")
	if g.chance(30) {
		g.add(progCell{text: decl + body, decl: decl, body: body, defines: true, compiled: true})
		return
	}
	g.declare(decl)
	g.run(body)
}

// redeclare adds cells that declare something again.
func (g *progen) redeclare() {
	switch g.n(4) {
	case 0: // a function: earlier callers call the new one
		f, h := g.local("re"), g.local("caller")
		sig := "(n int) string"
		g.add(progCell{
			text: fmt.Sprintf("func %s%s { return fmt.Sprint(\"old\", n) }\nfunc %s%s { return %s(n) + \"!\" }", f, sig, h, sig, f),
			decl: fmt.Sprintf("var %s = func%s { return fmt.Sprint(\"old\", n) }\nfunc %s%s { return %s(n) + \"!\" }", f, sig, h, sig, f), defines: true, compiled: true,
		})
		call := fmt.Sprintf("fmt.Println(%s(%s), %s(2))", h, g.expr(tInt, 1), f)
		g.run(call)
		body := "{ return " + strings.ReplaceAll(g.expr(tString, 2), "§", "§") + " + strconv.Itoa(n*2) }"
		if strings.Contains(body, "§") {
			body = "{ return \"new\" + strconv.Itoa(n*2) }"
		}
		g.add(progCell{text: "func " + f + sig + " " + body, body: f + " = func" + sig + " " + body, defines: true, compiled: true})
		g.run(call)
	case 1: // a method in a later cell; the variable takes the new version
		t := g.local("Later")
		v := g.local("lv")
		lit := g.literal(tInt)
		g.declare(fmt.Sprintf("type %s struct { N int; s string }", t))
		g.add(progCell{text: fmt.Sprintf("%s := %s{%s, \"q\"}", v, t, lit), decl: fmt.Sprintf("var %s %s", v, t), body: fmt.Sprintf("%s = %s{%s, \"q\"}", v, t, lit), defines: true})
		g.declare(fmt.Sprintf("func (l *%s) Add(k int) int { l.N += k; return l.N }\nfunc (l %s) Get() (int, string) { return l.N, l.s }", t, t))
		g.run(fmt.Sprintf("%s.Add(%s)", v, g.expr(tInt, 1)))
		g.run(fmt.Sprintf("fmt.Println(%s.Get())\nfmt.Printf(\"%%+v %%T\\n\", %s, %s)", v, v, v))
	case 2: // a String method in a later cell
		t, v := g.local("Str"), g.local("sv")
		t1, t2 := "§"+t+"#1§", "§"+t+"#2§"
		v1, v2 := "§"+v+"#1§", "§"+v+"#2§"
		x := g.constant(tInt)
		g.add(progCell{text: "type " + t1 + " int64", decl: "type " + t1 + " int64", defines: true, compiled: true})
		g.add(progCell{text: v1 + " := " + t1 + "(" + x + ")", decl: "var " + v1 + " " + t1, body: v1 + " = " + t1 + "(" + x + ")", defines: true})
		g.run("fmt.Printf(\"%v %d %T\\n\", " + v1 + ", " + v1 + ", " + v1 + ")")
		m := " String() string { return fmt.Sprintf(\"<%d>\", int64(s)) }"
		g.add(progCell{
			text: "func (s " + t1 + ")" + m, decl: "type " + t2 + " int64\nfunc (s " + t2 + ")" + m + "\nvar " + v2 + " " + t2,
			body: v2 + " = " + t2 + "(" + v1 + ")", defines: true, compiled: true,
		})
		g.run("fmt.Printf(\"%v %d %T\\n\", " + v2 + ", " + v2 + ", " + v2 + ")")
		g.run(v2 + "++\nfmt.Println(" + v2 + ", []" + t2 + "{1, " + v2 + "})")
	case 3: // a type declared anew with other fields, and a new variable
		t, v := g.local("Ty"), g.local("tv")
		for i := 1; i <= 2; i++ {
			tm, vm := fmt.Sprintf("§%s#%d§", t, i), fmt.Sprintf("§%s#%d§", v, i)
			ft := pick(g, basics)
			g.add(progCell{text: fmt.Sprintf("type %s struct { F%d %s }", tm, i, ft.name), decl: fmt.Sprintf("type %s struct { F%d %s }", tm, i, ft.name), defines: true, compiled: true})
			x := fmt.Sprintf("%s{F%d: %s}", tm, i, g.literal(ft))
			g.add(progCell{text: vm + " := " + x, decl: "var " + vm + " " + tm, body: vm + " = " + x, defines: true})
			g.run(fmt.Sprintf("fmt.Printf(\"%%+v %%T %%#v\\n\", %s, %s, %s)", vm, vm, vm))
		}
	}
}

// script makes a program of small statements, over variables that one cell
// defines.
func (g *progen) script(cells int) {
	g.setup(3+g.n(3), true)
	from := len(g.cells)
	g.unique = true
	for range 16 {
		g.attempt(func() { g.defineVar(1) })
	}
	g.unique = false
	all := progCell{defines: true, compiled: true}
	for _, c := range g.cells[from:] {
		all.text += c.text + "\n"
		all.decl += c.decl + "\n"
		all.body += c.body + "\n"
	}
	g.cells = append(g.cells[:from], all)
	g.declare(effects)
	for range cells {
		if g.chance(35) {
			g.effect()
		} else {
			g.smallCell(g.n(3))
		}
	}
}

// effect adds a cell about what effects declares. Its last line may be an
// expression that is not shown here.
func (g *progen) effect() {
	text := g.fill(strings.ReplaceAll(pick(g, sideEffects), "{int8AsInt}", "({int}&7)"))
	body := text
	if i := strings.LastIndexByte(strings.TrimSpace(text), '\n') + 1; !strings.Contains(text[i:], "=") && !strings.HasSuffix(text, "++") {
		if !strings.HasPrefix(text[i:], "fmt.") || strings.HasPrefix(text[i:], "fmt.Errorf") {
			body = text[:i] + "wbDrop(" + strings.TrimSpace(text[i:]) + ")"
			if regexp.MustCompile(`^(bump|keep|box\.M|deep\.M|sort)`).MatchString(text[i:]) {
				body = text
			}
		}
	}
	names := regexp.MustCompile(`(?m)^(?:var )?(\w+)(?:, (\w+))? (?::=|int8)`).FindAllStringSubmatch(text, -1)
	for _, n := range names {
		for _, name := range n[1:] {
			if name != "" {
				body += "\n_ = " + name
			}
		}
	}
	g.add(progCell{text: text, body: body})
}

// mixed makes a program of statements and declarations of every sort.
func (g *progen) mixed(cells int) {
	g.setup(2+g.n(3), false)
	for range 4 {
		g.attempt(func() { g.defineVar(1) })
	}
	g.declare(effects)
	for range cells {
		switch k := g.n(22); {
		case k >= 20:
			g.effect()
		case k < 11:
			g.attempt(g.template)
		case k < 13:
			g.attempt(g.redeclare)
		case k < 14:
			g.run(g.fill(pick(g, panics)))
		case k < 16:
			var lines []string
			for range 2 + g.n(6) {
				lines = append(lines, pick(g, []func(int) string{g.assignment, g.print, g.callStmt})(2))
			}
			g.run(strings.Join(lines, "\n"))
		default:
			g.smallCell(2)
		}
	}
}

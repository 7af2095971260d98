package sim

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strings"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// natives are functions that CUDA provides and no module defines.
var natives map[string]func(w *Warp, s *split, in *Inst, m Mask)

func init() {
	natives = map[string]func(w *Warp, s *split, in *Inst, m Mask){
		"vprintf": vprintf, "__assertfail": assertFail,
	}
}

// call decodes a call: direct, to a function CUDA provides, or through a register.
func (d *decoder) call(in *Inst) error {
	p := in.PTX
	in.control = true
	for _, list := range [][]ptx.Operand{p.Returns, p.Args} {
		for _, o := range list {
			if o.Kind != ptx.Symbol {
				return fmt.Errorf("an argument that is no .param variable")
			}
		}
	}
	if p.Callee == "" {
		if len(p.Operands) == 0 {
			return fmt.Errorf("a call without a function")
		}
		in.run = execIndirect
		return d.sources(in, ptx.U64, p.Operands[0])
	}
	if f := natives[p.Callee]; f != nil {
		in.control = true
		in.run = f
		return nil
	}
	callee := d.k.funcs[p.Callee]
	if callee == nil || len(callee.ptx.Body) == 0 && callee.ptx.Body == nil {
		return fmt.Errorf("the function %s is declared and defined nowhere", p.Callee)
	}
	in.callee = callee
	in.run = func(w *Warp, s *split, in *Inst, m Mask) { w.enter(s, in, m, in.callee) }
	return nil
}

// enter makes the lanes m of s execute callee.
func (w *Warp) enter(s *split, in *Inst, m Mask, callee *Func) {
	if s.frame.depth >= maxDepth {
		w.block.fatal(w, in, m, Trap, fmt.Sprintf("calls are nested more than %d deep: the recursion does not end, or needs more stack than a device has", maxDepth))
		return
	}
	p := in.PTX
	if len(p.Args) != len(callee.ptx.Params) || len(p.Returns) != len(callee.ptx.Returns) {
		w.block.fatal(w, in, m, Unsupported, fmt.Sprintf("%s is called with %d arguments and has %d", callee.Name, len(p.Args), len(callee.ptx.Params)))
		return
	}
	s = w.fork(s, m)
	f := w.newFrame(callee, s.frame)
	caller := s.frame
	f.call, f.back, f.depth = in, s.pc, caller.depth+1
	f.local = caller.local + caller.fn.local.size
	for i, v := range callee.ptx.Params {
		from, ok := caller.fn.passed.at[p.Args[i].Symbol]
		if !ok {
			w.block.fatal(w, in, m, Unsupported, "an argument that is no variable of the caller")
			return
		}
		for l := range WarpSize {
			if m>>l&1 != 0 {
				copy(f.bytes(l)[callee.passed.at[v.Name]:][:v.Bytes], caller.bytes(l)[from:])
			}
		}
	}
	if callee.local.size > 0 {
		w.local(f.local + callee.local.size)
	}
	f.rets = in.returns(callee, caller.fn)
	s.frame, s.pc = f, 0
}

// returns works out how results go back.
func (in *Inst) returns(callee, caller *Func) []passing {
	rets := make([]passing, 0, len(callee.ptx.Returns))
	for i, v := range callee.ptx.Returns {
		rets = append(rets, passing{callee.passed.at[v.Name], caller.passed.at[in.PTX.Returns[i].Symbol], v.Bytes})
	}
	return rets
}

// execIndirect calls functions through pointers: each group of lanes its own.
func execIndirect(w *Warp, s *split, in *Inst, m Mask) {
	target := *s.get(w, &in.src[0])
	t := target[bits.TrailingZeros32(m)]
	var same Mask
	for i := range target {
		if m>>i&1 != 0 && target[i] == t {
			same |= 1 << i
		}
	}
	var callee *Func
	if id := (t - funcBase) / 16; t >= funcBase && id < uint64(len(w.block.launch.kernel.module.ids)) {
		callee = w.block.launch.kernel.funcs[w.block.launch.kernel.module.ids[id].Name]
	}
	if callee == nil {
		w.block.fatal(w, in, same, Trap, fmt.Sprintf("a call of %#x, where no function is", t))
		return
	}
	if rest := m &^ same; rest != 0 { // the others call again
		o := w.fork(s, rest)
		o.pc--
	}
	w.enter(s, in, same, callee)
}

// arg is the i-th argument of a native call for a lane.
func (s *split) arg(in *Inst, i, lane int) uint64 {
	if i >= len(in.PTX.Args) {
		return 0
	}
	at, ok := s.frame.fn.passed.at[in.PTX.Args[i].Symbol]
	if !ok {
		return 0
	}
	return peekBytes(s.frame.bytes(lane)[at:], 8)
}

// ret sets the result of a native call.
func (s *split) ret(in *Inst, lane int, v uint32) {
	if len(in.PTX.Returns) == 0 {
		return
	}
	if at, ok := s.frame.fn.passed.at[in.PTX.Returns[0].Symbol]; ok {
		b := s.frame.bytes(lane)[at:]
		b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
}

// memoryAt is what a generic address points to, as far as it goes; for natives.
func (w *Warp) memoryAt(lane int, addr uint64) []byte {
	switch {
	case addr-sharedWindow < sharedStride:
		if o := addr - sharedWindow; o < uint64(len(w.block.shared)) {
			return w.block.shared[o:]
		}
	case addr-localWindow < windowSize:
		if o := addr - localWindow; o < uint64(len(w.lane[lane].data)) {
			return w.lane[lane].data[o:]
		}
	default:
		if a := w.block.launch.dev.find(addr); a != nil && addr-a.Addr < uint64(len(a.Data)) {
			return a.Data[addr-a.Addr:]
		}
	}
	return nil
}

func cstring(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// vprintf prints for each lane, in order. Arguments lie one behind the other, each
// aligned to its size.
func vprintf(w *Warp, s *split, in *Inst, m Mask) {
	for l := range WarpSize {
		if m>>l&1 == 0 {
			continue
		}
		format := cstring(w.memoryAt(l, s.arg(in, 0, l)))
		args := w.memoryAt(l, s.arg(in, 1, l))
		text, n := w.format(l, format, args)
		w.block.launch.dev.out.print(text)
		s.ret(in, l, uint32(n))
	}
}

// format is C's printf, as CUDA has it: %n is not there, and the widths of
// integers come from l, ll, z, j and t.
func (w *Warp) format(lane int, format string, args []byte) (string, int) {
	var b strings.Builder
	at, count := 0, 0
	next := func(n int) uint64 {
		at = (at + n - 1) / n * n
		if at+n > len(args) {
			return 0
		}
		v := peekBytes(args[at:], n)
		at += n
		return v
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		start := i
		i++
		flags := "%"
		long, narrow := 4, 32 // bytes that are taken, and bits of them that count
	spec:
		for ; i < len(format); i++ {
			switch c := format[i]; {
			case strings.IndexByte("-+ #0.123456789", c) >= 0:
				flags += string(c)
			case c == '*':
				flags += itoa(int(int32(next(4))))
				count++
			case c == 'l' || c == 'j' || c == 'z' || c == 't' || c == 'L':
				long = 8
			case c == 'h':
				narrow /= 2
			default:
				break spec
			}
		}
		if i == len(format) {
			b.WriteString(format[start:])
			break
		}
		count++
		switch c := format[i]; c {
		case '%':
			b.WriteByte('%')
			count--
		case 'd', 'i':
			v := int64(next(long))
			if long == 4 {
				v = v << (64 - narrow) >> (64 - narrow)
			}
			fmt.Fprintf(&b, flags+"d", v)
		case 'u', 'x', 'X', 'o':
			v := next(long)
			if long == 4 {
				v = v << (64 - narrow) >> (64 - narrow)
			}
			if c == 'u' {
				c = 'd'
			}
			fmt.Fprintf(&b, flags+string(c), v)
		case 'c':
			fmt.Fprintf(&b, flags+"c", rune(next(4)&0xff))
		case 'p':
			fmt.Fprintf(&b, "0x%x", next(8))
		case 's':
			fmt.Fprintf(&b, flags+"s", cstring(w.memoryAt(lane, next(8))))
		case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
			b.WriteString(cfloat(flags, c, math.Float64frombits(next(8))))
		default:
			b.WriteString(format[start : i+1])
			count--
		}
	}
	return b.String(), count
}

// exponent is that of a hexadecimal number, of which C writes no leading zero.
var exponent = regexp.MustCompile(`([pP][+-])0(\d)`) // never changed

// cfloat formats like C where Go differs: inf and nan, exponents of two digits (the
// same in both), a precision of six for %g, and %a.
func cfloat(flags string, c byte, v float64) string {
	switch {
	case math.IsInf(v, 0) || math.IsNaN(v):
		text := "inf"
		if math.IsNaN(v) {
			text = "nan"
		}
		if math.Signbit(v) {
			text = "-" + text
		} else if strings.Contains(flags, "+") {
			text = "+" + text
		}
		width := strings.TrimLeft(strings.SplitN(strings.TrimPrefix(flags, "%"), ".", 2)[0], "+ #0")
		return fmt.Sprintf("%"+width+"s", text)
	case c == 'a' || c == 'A':
		text := fmt.Sprintf(flags+string(c-'a'+'x'), v)
		return exponent.ReplaceAllString(text, "$1$2")
	case (c == 'g' || c == 'G') && !strings.Contains(flags, "."):
		flags += ".6"
	}
	return fmt.Sprintf(flags+string(c), v)
}

// assertFail ends the launch with what assert() says: text, file, line, function.
func assertFail(w *Warp, s *split, in *Inst, m Mask) {
	l := bits.TrailingZeros32(m)
	w.block.fatal(w, in, m, Assert, fmt.Sprintf("%s (%s)", cstring(w.memoryAt(l, s.arg(in, 0, l))), cstring(w.memoryAt(l, s.arg(in, 3, l)))))
}

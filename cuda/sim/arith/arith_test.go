package arith

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// parse reads one instruction. Its registers are %h (16 bits), %r (32), %d (64) and %p.
func parse(text string) (*ptx.Instruction, func(int) ptx.Type, error) {
	m, err := ptx.Parse(`.version 9.0
.target sm_90
.address_size 64
.visible .entry k()
{
.reg .pred %p<16>;
.reg .b16 %h<16>;
.reg .b32 %r<16>;
.reg .b64 %d<16>;
` + text + `;
}
`)
	if err != nil {
		return nil, nil, err
	}
	f := m.Functions[0]
	if len(f.Body) != 1 {
		return nil, nil, fmt.Errorf("%d instructions", len(f.Body))
	}
	return &f.Body[0], func(r int) ptx.Type { return f.Regs[r].Type }, nil
}

func compile(text string) (Op, error) {
	in, regType, err := parse(text)
	if err != nil {
		return Op{}, err
	}
	return Compile(in, regType)
}

// apply runs op on lanes that all have the same values, predicates as 0 or 1.
func apply(op Op, carry Mask, src ...uint64) (dst []uint64, carryOut Mask) {
	var in [8]Lanes
	x := &Args{Carry: -(carry & 1)}
	for k, v := range src {
		for i := range in[k] {
			in[k][i] = v
		}
		x.S[k], x.SP[k] = &in[k], -Mask(v&1)
	}
	var out [8]Lanes
	for k := range op.Dst {
		x.D[k] = &out[k]
	}
	op.apply(x)
	for k, t := range op.Dst {
		if t == ptx.Pred {
			dst = append(dst, uint64(x.DP[k]>>7&1))
			continue
		}
		dst = append(dst, out[k][7])
	}
	return dst, x.Carry >> 7 & 1
}

// literal reads a value of type t: 12, -1, 0x7f, or for floats 1.5, inf, nan, -0.0.
func literal(t ptx.Type, s string) (uint64, error) {
	if strings.HasPrefix(s, "0x") {
		return strconv.ParseUint(s[2:], 16, 64)
	}
	if isFloat(t) && !isPair(t) && t != ptx.E4M3x2 && t != ptx.E5M2x2 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0, err
		}
		switch t {
		case ptx.F16:
			return uint64(half.F16FromFloat64(f)), nil
		case ptx.BF16:
			return uint64(half.BF16FromFloat64(f)), nil
		case ptx.F64:
			return math.Float64bits(f), nil
		}
		if f != f {
			return nan32, nil
		}
		return uint64(math.Float32bits(float32(f))), nil
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return uint64(v) & ones(Width(t)), nil
	}
	v, err := strconv.ParseUint(s, 10, 64)
	return v & ones(Width(t)), err
}

// The files of testdata have lines "instruction: sources -> results", the carry
// flag written "+0" or "+1" after sources and results. Further sources and
// results for the same instruction follow on lines that begin with a colon.
func TestInstructions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text := ""
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			line, _, _ := strings.Cut(lines.Text(), "#")
			instruction, values, ok := strings.Cut(line, ":")
			if !ok {
				continue
			}
			if s := strings.TrimSpace(instruction); s != "" {
				text = s
			}
			if err := check(text, values); err != nil {
				t.Errorf("%s:%d: %s: %v", name, n, text, err)
			}
		}
	}
}

func check(text, values string) error {
	op, err := compile(text)
	if err != nil {
		return err
	}
	in, out, _ := strings.Cut(values, "->")
	var carry, wantCarry Mask
	var src []uint64
	for _, s := range strings.Fields(in) {
		if s[0] == '+' {
			carry = Mask(s[1] - '0')
			continue
		}
		if len(src) == len(op.Src) {
			return fmt.Errorf("has only %d sources", len(op.Src))
		}
		v, err := literal(op.Src[len(src)], s)
		if err != nil {
			return err
		}
		src = append(src, v)
	}
	if len(src) != len(op.Src) {
		return fmt.Errorf("has %d sources, not %d", len(op.Src), len(src))
	}
	got, gotCarry := apply(op, carry, src...)
	n := 0
	for _, s := range strings.Fields(out) {
		if s[0] == '+' {
			if wantCarry = Mask(s[1] - '0'); wantCarry != gotCarry {
				return fmt.Errorf("%s: the carry is %d", values, gotCarry)
			}
			continue
		}
		t := op.Dst[n]
		want, err := literal(t, s)
		if err != nil {
			return err
		}
		if got[n] != want {
			return fmt.Errorf("%s: got %#x %v", values, got[n], show(t, got[n]))
		}
		n++
	}
	return nil
}

func show(t ptx.Type, v uint64) any {
	if f := loader(t, false); f != nil {
		return f(v)
	}
	return signExtend(v, Width(t))
}

// apply calls the function that the Op has.
func (op *Op) apply(x *Args) {
	switch {
	case op.Fn1 != nil:
		op.Fn1(x.D[0], x.S[0])
	case op.Fn2 != nil:
		op.Fn2(x.D[0], x.S[0], x.S[1])
	case op.Fn3 != nil:
		op.Fn3(x.D[0], x.S[0], x.S[1], x.S[2])
	case op.Cmp != nil:
		x.DP[0] = op.Cmp(x.S[0], x.S[1])
	case op.Sel != nil:
		op.Sel(x.D[0], x.S[0], x.S[1], x.SP[2])
	case op.Logic != nil:
		x.DP[0] = op.Logic(x.SP[0], x.SP[1])
	default:
		op.Any(x)
	}
}

package isa

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// Difference is one element that differs.
type Difference struct {
	Output    string
	Index     int
	Got, Want uint64
	Text      string
}

// Compare lists where got is not what the GPU wrote, up to a number of places.
func (c *Case) Compare(got, want []byte, most int) (out []Difference, count int) {
	for _, o := range c.Outputs {
		size := memoryBytes(o.Type)
		for i := range o.Count {
			at := o.At + i*size
			g, w := word(got[at:at+size]), word(want[at:at+size])
			if g == w || o.Tolerance.allows(o.Type, g, w) {
				continue
			}
			if count++; len(out) < most {
				out = append(out, Difference{o.Name, i, g, w, c.describe(o, i, g, w)})
			}
		}
	}
	for at := c.stored(); at < c.Out; at += 4 { // what atomics left in memory
		if g, w := word(got[at:at+4]), word(want[at:at+4]); g != w {
			if count++; len(out) < most {
				out = append(out, Difference{"memory", at, g, w, fmt.Sprintf("byte %d of memory: %#x, not %#x", at, g, w)})
			}
		}
	}
	return out, count
}

// stored is the size of the outputs.
func (c *Case) stored() int {
	n := 0
	for _, o := range c.Outputs {
		n = max(n, o.At+o.Count*memoryBytes(o.Type))
	}
	return n
}

func word(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

// describe shows an element with the operands that it was made of.
func (c *Case) describe(o Output, i int, got, want uint64) string {
	s := fmt.Sprintf("%s[%d]: ", o.Name, i)
	for _, src := range c.Sources {
		size := memoryBytes(src.Type)
		s += fmt.Sprintf("%s = %s, ", src.Name, show(src.Type, word(c.Input[src.At+i*size:src.At+(i+1)*size])))
	}
	return s + fmt.Sprintf("got %s, want %s", show(o.Type, got), show(o.Type, want))
}

func show(t ptx.Type, bits uint64) string {
	if v, ok := value(t, bits); ok {
		return fmt.Sprintf("%#x (%g)", bits, v)
	}
	return fmt.Sprintf("%#x", bits)
}

// value is a float's value; ok is false for other types and for pairs.
func value(t ptx.Type, bits uint64) (v float64, ok bool) {
	switch t {
	case ptx.F32, ptx.TF32:
		return float64(math.Float32frombits(uint32(bits))), true
	case ptx.F64:
		return math.Float64frombits(bits), true
	case ptx.F16:
		return half.F16(bits).Float64(), true
	case ptx.BF16:
		return half.BF16(bits).Float64(), true
	}
	return 0, false
}

// allows reports whether got is close enough to want. Pairs are compared by halves.
func (t Tolerance) allows(typ ptx.Type, got, want uint64) bool {
	if t == (Tolerance{}) {
		return false
	}
	switch typ {
	case ptx.F16x2:
		return t.close(ptx.F16, got&0xffff, want&0xffff) && t.close(ptx.F16, got>>16, want>>16)
	case ptx.BF16x2:
		return t.close(ptx.BF16, got&0xffff, want&0xffff) && t.close(ptx.BF16, got>>16, want>>16)
	}
	return t.close(typ, got, want)
}

func (t Tolerance) close(typ ptx.Type, got, want uint64) bool {
	if got == want {
		return true
	}
	g, ok := value(typ, got)
	w, _ := value(typ, want)
	switch {
	case !ok:
		return false
	case g != g || w != w:
		return g != g && w != w
	case math.Abs(g-w) <= t.Abs:
		return true
	}
	a, b := ordered(typ, got), ordered(typ, want)
	return max(a, b)-min(a, b) <= int64(min(t.ULP, 1<<62))
}

// ordered maps a float's bits to integers in the order of the numbers.
func ordered(t ptx.Type, bits uint64) int64 {
	sign := uint64(1) << (t.Bits() - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}

package half

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestKnownValues(t *testing.T) {
	for _, c := range []struct {
		x    float64
		f16  F16
		bf16 BF16
	}{
		{0, 0, 0},
		{math.Copysign(0, -1), 0x8000, 0x8000},
		{1, 0x3c00, 0x3f80},
		{-2, 0xc000, 0xc000},
		{65504, 0x7bff, 0x4780},
		{65519.99, 0x7bff, 0x4780},
		{65520, 0x7c00, 0x4780}, // halfway to 65536 goes to even, which is infinity
		{0x1p-24, 0x0001, 0x3380},
		{0x1p-25, 0x0000, 0x3300}, // halfway to the smallest subnormal
		{0x1.8p-25, 0x0001, 0x3340},
		{0x1.ffcp-15, 0x0400, 0x3880}, // subnormal that rounds up to a normal number
		{1 + 0x1p-11, 0x3c00, 0x3f80},
		{1 + 0x3p-11, 0x3c02, 0x3f80},
		{1 + 0x1p-8, 0x3c04, 0x3f80},
		{1 + 0x3p-8, 0x3c0c, 0x3f82},
		{math.MaxFloat32, 0x7c00, 0x7f80},
		{math.Inf(-1), 0xfc00, 0xff80},
	} {
		f := float32(c.x)
		if got := F16FromFloat32(f); float64(f) == c.x && got != c.f16 {
			t.Errorf("F16FromFloat32(%v) = %#04x, want %#04x", f, got, c.f16)
		}
		if got := F16FromFloat64(c.x); got != c.f16 {
			t.Errorf("F16FromFloat64(%v) = %#04x, want %#04x", c.x, got, c.f16)
		}
		if got := BF16FromFloat32(f); got != c.bf16 {
			t.Errorf("BF16FromFloat32(%v) = %#04x, want %#04x", f, got, c.bf16)
		}
		if got := BF16FromFloat64(c.x); got != c.bf16 {
			t.Errorf("BF16FromFloat64(%v) = %#04x, want %#04x", c.x, got, c.bf16)
		}
	}
}

// Double rounding through float32 would give the even neighbour.
func TestFloat64RoundsOnce(t *testing.T) {
	x := 1 + 0x1p-11 + 0x1p-40
	if got := F16FromFloat64(x); got != 0x3c01 {
		t.Errorf("F16FromFloat64(%v) = %#04x, want 0x3c01", x, got)
	}
	if got := BF16FromFloat64(1 + 0x1p-8 + 0x1p-40); got != 0x3f81 {
		t.Errorf("BF16FromFloat64 = %#04x, want 0x3f81", got)
	}
}

func TestAllValuesRoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		h, b := F16(i), BF16(i)
		if got := F16FromFloat32(h.Float32()); got != quietF16(h) {
			t.Fatalf("binary16 %#04x comes back as %#04x", h, got)
		}
		if got := F16FromFloat64(h.Float64()); got != quietF16(h) {
			t.Fatalf("binary16 %#04x comes back as %#04x from float64", h, got)
		}
		if got := BF16FromFloat32(b.Float32()); got != quietBF16(b) {
			t.Fatalf("bfloat16 %#04x comes back as %#04x", b, got)
		}
		if got := BF16FromFloat64(b.Float64()); got != quietBF16(b) {
			t.Fatalf("bfloat16 %#04x comes back as %#04x from float64", b, got)
		}
		if !h.IsNaN() && float64(h.Float32()) != h.Float64() {
			t.Fatalf("binary16 %#04x is %v and %v", h, h.Float32(), h.Float64())
		}
		if h.IsNaN() != math.IsNaN(h.Float64()) || b.IsNaN() != math.IsNaN(b.Float64()) {
			t.Fatalf("%#04x: IsNaN is wrong", i)
		}
	}
}

func quietF16(h F16) F16 {
	if h.IsNaN() {
		return h | 0x200
	}
	return h
}

func quietBF16(h BF16) BF16 {
	if h.IsNaN() {
		return h | 0x40
	}
	return h
}

func TestSmallFormats(t *testing.T) {
	for _, f := range []Format{E4M3, E5M2} {
		for i := range uint32(256) {
			v := f.Value(i)
			if math.IsNaN(v) {
				continue
			}
			if got := f.Round(v, NearestEven); got != i {
				t.Errorf("%+v: %#02x is %v, which becomes %#02x", f, i, v, got)
			}
		}
	}
	for _, c := range []struct {
		got, want float64
	}{
		{E4M3.Value(0x7e), 448},
		{E4M3.Value(0x01), 0x1p-9},
		{E5M2.Value(0x7b), 57344},
		{E4M3.Value(E4M3.RoundFinite(1e9, NearestEven)), 448},
		{E5M2.Value(E5M2.RoundFinite(math.Inf(-1), NearestEven)), -57344},
		{E4M3.Value(E4M3.RoundFinite(465, NearestEven)), 448},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if v := E4M3.Value(0x7f); !math.IsNaN(v) {
		t.Errorf("E4M3 0x7f is %v, want NaN", v)
	}
}

// reference rounds by looking at the neighbours: it finds the largest number of
// the format not above |x| and decides with exact arithmetic.
func reference(f Format, x float64, mode Mode) uint32 {
	mag := math.Abs(x)
	lo, hi := uint32(0), f.inf()
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; f.Value(mid) <= mag {
			lo = mid
		} else {
			hi = mid
		}
	}
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(2200).SetFloat64(v) }
	// The number after the largest is where infinity would be were it a number.
	below := exact(f.Value(lo))
	var above *big.Float
	if hi == f.inf() {
		step := new(big.Float).Sub(below, exact(f.Value(lo-1)))
		above = new(big.Float).Add(below, step)
	} else {
		above = exact(f.Value(hi))
	}
	d := new(big.Float).Sub(exact(mag), below)
	r := new(big.Float).Sub(above, exact(mag))
	up, neg := false, math.Signbit(x)
	switch mode {
	case NearestEven:
		up = d.Cmp(r) > 0 || d.Cmp(r) == 0 && lo&1 != 0
	case NearestAway:
		up = d.Cmp(r) >= 0
	case Downward:
		up = neg && d.Sign() != 0
	case Upward:
		up = !neg && d.Sign() != 0
	}
	if up {
		lo = hi
	}
	if neg {
		lo |= f.sign()
	}
	return lo
}

func TestRoundAgainstReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	formats := []Format{Binary16, BFloat16, TF32, Binary32, E5M2, E4M3}
	for range 20000 {
		f := formats[rng.IntN(len(formats))]
		var x float64
		switch rng.IntN(3) {
		case 0: // near a number of the format, or halfway
			n := rng.Uint32N(f.Max())
			a, next := f.Value(n), f.Value(n+1)
			x = a + float64(rng.IntN(2))*(next-a)/2
			x = math.Float64frombits(math.Float64bits(x) + uint64(rng.IntN(2)))
		case 1:
			x = math.Ldexp(rng.Float64(), rng.IntN(2*f.bias()+40)-f.bias()-30)
		default:
			x = math.Float64frombits(rng.Uint64())
		}
		if rng.IntN(2) == 0 {
			x = -x
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		for mode := NearestEven; mode <= NearestAway; mode++ {
			if got, want := f.Round(x, mode), reference(f, x, mode); got != want {
				t.Fatalf("%+v mode %d: %b gives %#x, want %#x", f, mode, x, got, want)
			}
		}
	}
}

// The fast paths are the general rounding, on every kind of float32.
func TestFastPathsAgree(t *testing.T) {
	check := func(b uint32) {
		f := math.Float32frombits(b)
		if math.IsNaN(float64(f)) {
			if !F16FromFloat32(f).IsNaN() || !BF16FromFloat32(f).IsNaN() {
				t.Fatalf("NaN %#08x is lost", b)
			}
			return
		}
		if got, want := F16FromFloat32(f), F16FromFloat64(float64(f)); got != want {
			t.Fatalf("F16FromFloat32(%#08x) = %#04x, want %#04x", b, got, want)
		}
		if got, want := BF16FromFloat32(f), BF16FromFloat64(float64(f)); got != want {
			t.Fatalf("BF16FromFloat32(%#08x) = %#04x, want %#04x", b, got, want)
		}
	}
	for b := uint64(0); b < 1<<32; b += 1021 {
		check(uint32(b))
	}
	for i := range uint32(1 << 16) { // around every halfway case of both
		for d := range uint32(3) {
			check(i<<16 + 0x8000 + d - 1)
			check(math.Float32bits(F16(i).Float32()) + 0x1000 + d - 1)
		}
	}
}

func BenchmarkF16FromFloat32(b *testing.B) {
	var sum F16
	for i := 0; b.Loop(); i++ {
		sum += F16FromFloat32(float32(i))
	}
	_ = sum
}

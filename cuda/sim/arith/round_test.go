package arith

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

var modes = map[string]half.Mode{"rn": half.NearestEven, "rz": half.TowardZero, "rm": half.Downward, "rp": half.Upward}

// bigMode is the mode of math/big for a number of the given sign.
func bigMode(m half.Mode) big.RoundingMode {
	return map[half.Mode]big.RoundingMode{half.NearestEven: big.ToNearestEven, half.TowardZero: big.ToZero,
		half.Downward: big.ToNegativeInf, half.Upward: big.ToPositiveInf}[m]
}

// roundBig rounds an exact number other than zero to a float with man bits of
// mantissa and the smallest exponent low, as a float64.
func roundBig(x *big.Float, man, low int, largest float64, mode half.Mode) float64 {
	// Keep the bits down to the last place of the result.
	exp := x.MantExp(nil) - 1
	prec := man + 1
	if exp < low {
		prec -= low - exp
	}
	var r *big.Float
	if prec >= 1 {
		r = new(big.Float).SetMode(bigMode(mode)).SetPrec(uint(prec)).Set(x)
	} else {
		// Less than one place: nothing, or one of it.
		place := new(big.Float).SetMantExp(big.NewFloat(1), low-man)
		half2 := new(big.Float).SetMantExp(big.NewFloat(1), low-man-1)
		abs := new(big.Float).Abs(x)
		up := mode == half.NearestEven && abs.Cmp(half2) > 0 ||
			mode == half.Upward && x.Sign() > 0 || mode == half.Downward && x.Sign() < 0
		r = big.NewFloat(0)
		if up {
			r = place
		}
		if x.Sign() < 0 {
			r = new(big.Float).Neg(r)
		}
	}
	if new(big.Float).Abs(r).Cmp(big.NewFloat(largest)) > 0 {
		inf := mode == half.NearestEven || mode == half.Upward && x.Sign() > 0 || mode == half.Downward && x.Sign() < 0
		if inf {
			return math.Inf(x.Sign())
		}
		return math.Copysign(largest, float64(x.Sign()))
	}
	f, _ := r.Float64()
	return f
}

type floatType struct {
	name     string
	typ      ptx.Type
	reg      string
	man, low int
	largest  float64
	number   func(uint64) float64
	bits     func(float64) uint64
}

var floatTypes = []floatType{
	{"f32", ptx.F32, "%r", 23, -126, math.MaxFloat32,
		func(u uint64) float64 { return float64(f32(u)) },
		func(f float64) uint64 { return uint64(math.Float32bits(float32(f))) }},
	{"f64", ptx.F64, "%d", 52, -1022, math.MaxFloat64, f64, math.Float64bits},
	{"f16", ptx.F16, "%h", 10, -14, 65504,
		func(u uint64) float64 { return half.F16(u).Float64() },
		func(f float64) uint64 { return uint64(half.F16FromFloat64(f)) }},
	{"bf16", ptx.BF16, "%h", 7, -126, half.BFloat16.Value(half.BFloat16.Max()),
		func(u uint64) float64 { return half.BF16(u).Float64() },
		func(f float64) uint64 { return uint64(half.BF16FromFloat64(f)) }},
}

// random gives numbers of all sizes, often close to each other, and edge values.
func (t floatType) random(rng *rand.Rand, near uint64) uint64 {
	w := Width(t.typ)
	switch rng.IntN(6) {
	case 0:
		edge := []float64{0, 1, -1, t.largest, -t.largest, math.Ldexp(1, t.low), math.Ldexp(1, t.low-t.man), 1.5, math.Copysign(0, -1)}
		return t.bits(edge[rng.IntN(len(edge))])
	case 1:
		return near ^ rng.Uint64N(8)
	case 2:
		return near&^(ones(t.man)) | rng.Uint64()&ones(t.man)
	case 3:
		return t.bits(math.Ldexp(rng.Float64()-0.5, rng.IntN(8)-4))
	}
	return rng.Uint64() & ones(w)
}

// Every rounding mode of the exact operations, against arbitrary precision.
func TestRoundingAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, ft := range floatTypes {
		for name, mode := range modes {
			ops := []string{"add", "sub", "mul", "fma", "div", "rcp", "sqrt"}
			if isHalf(ft.typ) {
				ops = ops[:4]
				if name != "rn" {
					continue
				}
			}
			for _, opName := range ops {
				n := map[string]int{"fma": 3, "rcp": 1, "sqrt": 1}[opName]
				if n == 0 {
					n = 2
				}
				text := fmt.Sprintf("%s.%s.%s %s0", opName, name, ft.name, ft.reg)
				for k := range n {
					text += fmt.Sprintf(", %s%d", ft.reg, k+1)
				}
				op, err := compile(text)
				if err != nil {
					t.Fatal(err)
				}
				for range 1500 {
					checkRounding(t, ft, op, text, opName, mode, rng)
				}
			}
		}
	}
}

func checkRounding(t *testing.T, ft floatType, op Op, text, name string, mode half.Mode, rng *rand.Rand) {
	t.Helper()
	var u [3]uint64
	var x [3]*big.Float
	for k := range u {
		near := u[0]
		u[k] = ft.random(rng, near)
		f := ft.number(u[k])
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return
		}
		x[k] = exact(f)
	}
	r := new(big.Float).SetPrec(5000)
	switch name {
	case "add":
		r.Add(x[0], x[1])
	case "sub":
		r.Sub(x[0], x[1])
	case "mul":
		r.Mul(x[0], x[1])
	case "fma":
		r.Mul(x[0], x[1])
		r.Add(r, x[2])
	case "div":
		if x[1].Sign() == 0 {
			return
		}
		r.Quo(x[0], x[1])
	case "rcp":
		if x[0].Sign() == 0 {
			return
		}
		r.Quo(exact(1), x[0])
	case "sqrt":
		if x[0].Sign() < 0 {
			return
		}
		r.Sqrt(x[0])
	}
	got, _ := apply(op, 0, u[:len(op.Src)]...)
	if r.Sign() == 0 {
		if ft.number(got[0]) != 0 {
			t.Fatalf("%s of %#x is %#x, want a zero", text, u[:len(op.Src)], got[0])
		}
		return
	}
	want := roundBig(r, ft.man, ft.low, ft.largest, mode)
	if want == 0 {
		want = math.Copysign(0, float64(r.Sign()))
	}
	if got[0] != ft.bits(want) {
		t.Fatalf("%s of %#x is %#x, want %#x", text, u[:len(op.Src)], got[0], ft.bits(want))
	}
}

// Approximations are within the errors that the manual gives.
func TestApproximations(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		text     string
		f        func(float64) float64
		low, top float64
	}{
		{"ex2.approx.f32 %r0, %r1", math.Exp2, -140, 127},
		{"lg2.approx.f32 %r0, %r1", math.Log2, 1e-30, 1e30},
		{"sin.approx.f32 %r0, %r1", math.Sin, -3, 3},
		{"cos.approx.f32 %r0, %r1", math.Cos, -3, 3},
		{"tanh.approx.f32 %r0, %r1", math.Tanh, -5, 5},
		{"rsqrt.approx.f32 %r0, %r1", func(x float64) float64 { return 1 / math.Sqrt(x) }, 1e-30, 1e30},
	} {
		op, err := compile(c.text)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			x := float32(c.low + rng.Float64()*(c.top-c.low))
			got, _ := apply(op, 0, uint64(math.Float32bits(x)))
			want := c.f(float64(x))
			if ulp := math.Abs(float64(f32(got[0]))-want) / math.Max(math.Abs(want)*0x1p-23, 0x1p-149); ulp > 0.51 {
				t.Fatalf("%s of %v is %v, want %v: %.2f units off", c.text, x, f32(got[0]), want, ulp)
			}
		}
	}
}

// An operation on pairs is the operation on each half.
func TestPairsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, ft := range floatTypes[2:] {
		for _, name := range []string{"add", "sub", "mul", "fma", "max", "min"} {
			args := map[string]string{"fma": ", %[1]s1, %[1]s2, %[1]s3"}[name]
			if args == "" {
				args = ", %[1]s1, %[1]s2"
			}
			rn := ".rn"
			if name == "max" || name == "min" {
				rn = ""
			}
			one, err := compile(fmt.Sprintf(name+rn+"."+ft.name+" %[1]s0"+args, "%h"))
			if err != nil {
				t.Fatal(err)
			}
			two, err := compile(fmt.Sprintf(name+rn+"."+ft.name+"x2 %[1]s0"+args, "%r"))
			if err != nil {
				t.Fatal(err)
			}
			for range 20000 {
				var low, high, both [3]uint64
				for k := range both {
					low[k], high[k] = ft.random(rng, low[0]), ft.random(rng, high[0])
					both[k] = low[k] | high[k]<<16
				}
				n := len(one.Src)
				got, _ := apply(two, 0, both[:n]...)
				l, _ := apply(one, 0, low[:n]...)
				h, _ := apply(one, 0, high[:n]...)
				if want := l[0] | h[0]<<16; got[0] != want {
					t.Fatalf("%s.%sx2 of %#x is %#x, want %#x", name, ft.name, both[:n], got[0], want)
				}
			}
		}
	}
}

package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

	"github.com/warpbook/warpbook/cuda/device"
)

// argument puts one argument into the call's parameters.
func (k *Kernel) argument(c *call, i int, arg any, d **Device) error {
	p := &k.sig.Params[i]
	at := k.sig.Offsets[i]
	out := c.params[at : at+p.Bytes]
	if t, ok := arg.(*Tensor); ok {
		return k.tensor(c, i, t, d)
	}
	if p.Pointer {
		return k.wrong(i, arg, "")
	}
	switch v := arg.(type) {
	case int:
		return k.integer(i, out, int64(v), arg)
	case int32:
		return k.integer(i, out, int64(v), arg)
	case int64:
		return k.integer(i, out, v, arg)
	case float64:
		return k.float(i, out, v, arg)
	case float32:
		return k.float(i, out, float64(v), arg)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		return k.integer(i, out, n, arg)
	}
	switch v := reflect.ValueOf(arg); {
	case !v.IsValid():
		return k.wrong(i, arg, "")
	case v.CanInt():
		return k.integer(i, out, v.Int(), arg)
	case v.CanUint():
		if v.Uint() > math.MaxInt64 {
			if p.Bytes != 8 || p.Float {
				return k.wrong(i, arg, fmt.Sprintf("%v does not fit", arg))
			}
			binary.LittleEndian.PutUint64(out, v.Uint())
			return nil
		}
		return k.integer(i, out, int64(v.Uint()), arg)
	case v.CanFloat():
		return k.float(i, out, v.Float(), arg)
	}
	return k.wrong(i, arg, "")
}

func (k *Kernel) tensor(c *call, i int, t *Tensor, d **Device) error {
	p := &k.sig.Params[i]
	if err := t.check(); err != nil {
		return fmt.Errorf("%s: argument %d%s: %w", k.sig.Name, i+1, p.Called(), err)
	}
	if p.Bytes != 8 || p.Float || p.Type != "" && !p.Pointer {
		return k.wrong(i, t, "")
	}
	if p.Element != "" && !holds(p.Element, t.dtype) {
		return k.wrong(i, t, "")
	}
	if t.IsHost() {
		return fmt.Errorf("%s: argument %d%s is in the host's memory, which no kernel reaches; To copies it to a device", k.sig.Name, i+1, p.Called())
	}
	if *d == nil {
		*d = t.buf.dev
	} else if *d != t.buf.dev {
		return fmt.Errorf("%s: argument %d%s is on %s and the launch on %s", k.sig.Name, i+1, p.Called(), t.buf.dev, *d)
	}
	if t.buf.bytes == 0 {
		return nil // nothing to point to: a null pointer, as in C++
	}
	if p.Name != "" {
		t.buf.rename(p.Name, false)
	}
	c.patches = append(c.patches, device.Patch{At: uint32(k.sig.Offsets[i]), Buffer: t.buf.handle.ID, Offset: uint64(t.offset * t.dtype.Size())})
	return nil
}

// integer writes a whole number into a parameter that can hold it.
func (k *Kernel) integer(i int, out []byte, v int64, arg any) error {
	p := &k.sig.Params[i]
	if p.Float {
		return k.float(i, out, float64(v), arg)
	}
	fits := true
	switch len(out) {
	case 1:
		fits = v >= math.MinInt8 && v <= math.MaxUint8
		out[0] = byte(v)
	case 2:
		fits = v >= math.MinInt16 && v <= math.MaxUint16
		binary.LittleEndian.PutUint16(out, uint16(v))
	case 4:
		fits = v >= math.MinInt32 && v <= math.MaxUint32
		if p.Type == "int" {
			fits = v >= math.MinInt32 && v <= math.MaxInt32
		}
		binary.LittleEndian.PutUint32(out, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(out, uint64(v))
	default:
		return k.wrong(i, arg, "")
	}
	if !fits {
		return k.wrong(i, arg, fmt.Sprintf("%d does not fit", v))
	}
	return nil
}

// float writes a number into a floating-point parameter; a whole one also into an
// integer parameter, where it is exact.
func (k *Kernel) float(i int, out []byte, v float64, arg any) error {
	p := &k.sig.Params[i]
	switch {
	case p.Float && len(out) == 8:
		binary.LittleEndian.PutUint64(out, math.Float64bits(v))
	case p.Float && len(out) == 4:
		binary.LittleEndian.PutUint32(out, math.Float32bits(float32(v)))
	case len(out) == 2 && (p.Type == "half" || p.Type == "bfloat16"):
		t := F16
		if p.Type == "bfloat16" {
			t = BF16
		}
		t.put(out, v)
	default:
		return k.wrong(i, arg, "")
	}
	return nil
}

// wrong is the error for an argument that does not fit.
func (k *Kernel) wrong(i int, arg any, why string) error {
	p := &k.sig.Params[i]
	got := fmt.Sprintf("%T", arg)
	if t, ok := arg.(*Tensor); ok {
		got = fmt.Sprintf("a tensor of %v", t.dtype)
	}
	if arg == nil {
		got = "nil"
	}
	if why != "" {
		why = ": " + why
	}
	return fmt.Errorf("%s: argument %d%s wants %s, got %s%s", k.sig.Name, i+1, p.Called(), p.Wanted(), got, why)
}

// holds reports whether a pointer to element may point to a tensor of type t. What is
// no number of ours may point to anything of bytes.
func holds(element string, t DType) bool {
	if element == "void" || element == "char" && t == U8 || element == "unsigned short" && t.Size() == 2 {
		return true
	}
	known := false
	for i := range dtypes {
		if dtypes[i].element == element {
			known = true
			if DType(i) == t {
				return true
			}
		}
	}
	return !known
}

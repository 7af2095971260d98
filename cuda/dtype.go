package cuda

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/warpbook/warpbook/cuda/half"
)

// DType is the type of a tensor's elements.
type DType uint8

// The element types.
const (
	F64 DType = iota
	F32
	F16  // IEEE binary16
	BF16 // bfloat16
	I32
	U32
	U8
	I64
)

var dtypes = [...]struct {
	name    string
	size    int
	float   bool
	element string // in CUDA C++
}{
	F64: {"f64", 8, true, "double"}, F32: {"f32", 4, true, "float"}, F16: {"f16", 2, true, "half"}, BF16: {"bf16", 2, true, "bfloat16"},
	I32: {"i32", 4, false, "int"}, U32: {"u32", 4, false, "unsigned int"}, U8: {"u8", 1, false, "unsigned char"}, I64: {"i64", 8, false, "long long"},
}

// String is the type's short name: "f32".
func (t DType) String() string {
	if int(t) < len(dtypes) {
		return dtypes[t].name
	}
	return fmt.Sprintf("DType(%d)", uint8(t))
}

// Size is the number of bytes of an element.
func (t DType) Size() int {
	if int(t) < len(dtypes) {
		return dtypes[t].size
	}
	return 0
}

// Float reports whether elements are floating-point numbers.
func (t DType) Float() bool { return int(t) < len(dtypes) && dtypes[t].float }

// ParseDType reads a short name.
func ParseDType(name string) (DType, error) {
	for i, d := range dtypes {
		if d.name == name {
			return DType(i), nil
		}
	}
	return 0, fmt.Errorf("there is no element type %q; there are f64, f32, f16, bf16, i32, u32, u8 and i64", name)
}

// put writes v as an element: floats rounded once, to nearest even; integers cut
// toward zero and kept in range.
func (t DType) put(b []byte, v float64) {
	le := binary.LittleEndian
	switch t {
	case F64:
		le.PutUint64(b, math.Float64bits(v))
	case F32:
		le.PutUint32(b, math.Float32bits(float32(v)))
	case F16:
		le.PutUint16(b, uint16(half.F16FromFloat64(v)))
	case BF16:
		le.PutUint16(b, uint16(half.BF16FromFloat64(v)))
	case I32:
		le.PutUint32(b, uint32(int32(clamp(v, math.MinInt32, math.MaxInt32))))
	case U32:
		le.PutUint32(b, uint32(clamp(v, 0, math.MaxUint32)))
	case U8:
		b[0] = uint8(clamp(v, 0, math.MaxUint8))
	case I64:
		le.PutUint64(b, uint64(int64(clamp(v, math.MinInt64, 1<<63-1024))))
	}
}

func clamp(v, lo, hi float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return math.Trunc(min(max(v, lo), hi))
}

// get reads an element.
func (t DType) get(b []byte) float64 {
	le := binary.LittleEndian
	switch t {
	case F64:
		return math.Float64frombits(le.Uint64(b))
	case F32:
		return float64(math.Float32frombits(le.Uint32(b)))
	case F16:
		return float64(half.F16(le.Uint16(b)).Float32())
	case BF16:
		return float64(half.BF16(le.Uint16(b)).Float32())
	case I32:
		return float64(int32(le.Uint32(b)))
	case U32:
		return float64(le.Uint32(b))
	case U8:
		return float64(b[0])
	case I64:
		return float64(int64(le.Uint64(b)))
	}
	return math.NaN()
}

// Round is v as an element holds it.
func (t DType) Round(v float64) float64 {
	var b [8]byte
	t.put(b[:], v)
	return t.get(b[:])
}

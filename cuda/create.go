package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// Number is what FromHost takes.
type Number interface {
	float64 | float32 | int32 | uint32 | uint8 | int64
}

// FromHost makes a tensor of the slice's own type. Without a shape it has one
// dimension.
func FromHost[T Number](d *Device, values []T, shape ...int) (*Tensor, error) {
	if shape == nil {
		shape = []int{len(values)}
	}
	var dt DType
	switch any(*new(T)).(type) {
	case float64:
		dt = F64
	case float32:
		dt = F32
	case int32:
		dt = I32
	case uint32:
		dt = U32
	case uint8:
		dt = U8
	case int64:
		dt = I64
	}
	b, err := binary.Append(make([]byte, 0, len(values)*dt.Size()), binary.LittleEndian, values)
	if err != nil {
		return nil, fmt.Errorf("copy to the device: %w", err)
	}
	return d.FromBytes(dt, b, shape...)
}

// FromBytes makes a tensor of elements as they lie in memory, little-endian.
func (d *Device) FromBytes(t DType, b []byte, shape ...int) (*Tensor, error) {
	x, err := d.Empty(t, shape...)
	if err != nil {
		return nil, err
	}
	return x, x.SetBytes(b)
}

// From makes a tensor of values, each rounded once to the type.
func (d *Device) From(t DType, values []float64, shape ...int) (*Tensor, error) {
	if shape == nil {
		shape = []int{len(values)}
	}
	return d.FromBytes(t, encode(t, values), shape...)
}

// Full makes a tensor whose elements are all v.
func (d *Device) Full(t DType, v float64, shape ...int) (*Tensor, error) {
	x, err := d.Empty(t, shape...)
	if err != nil || x.Len() == 0 {
		return x, err
	}
	return x, d.client.Fill(d.streamID(), x.buf.handle, 0, encode(t, []float64{v}), int64(x.Len()))
}

// Zeros makes a tensor of zeros.
func (d *Device) Zeros(t DType, shape ...int) (*Tensor, error) { return d.Full(t, 0, shape...) }

// Arange makes a tensor of 0, 1, 2 and so on, rounded to the type.
func (d *Device) Arange(t DType, n int) (*Tensor, error) {
	return d.generate(t, []int{n}, func(i int) float64 { return float64(i) })
}

// Uniform makes a tensor of numbers in [0, 1) that seed determines, the same on
// every device: multiples of 2^-53 from a PCG with the state (seed, 0), rounded to
// the type, in row-major order.
func (d *Device) Uniform(t DType, seed uint64, shape ...int) (*Tensor, error) {
	r := rand.NewPCG(seed, 0)
	return d.generate(t, shape, func(int) float64 { return unit(r) })
}

// Randn makes a tensor of standard-normal numbers that seed determines, the same on
// every device: pairs by the Box-Muller method from the numbers of Uniform.
func (d *Device) Randn(t DType, seed uint64, shape ...int) (*Tensor, error) {
	next := Normal(seed)
	return d.generate(t, shape, func(int) float64 { return next() })
}

// Normal returns a function that gives the numbers of Randn, one after the other.
func Normal(seed uint64) func() float64 {
	r := rand.NewPCG(seed, 0)
	var spare float64
	have := false
	return func() float64 {
		if have {
			have = false
			return spare
		}
		radius := math.Sqrt(-2 * math.Log(1-unit(r)))
		sin, cos := math.Sincos(2 * math.Pi * unit(r))
		spare, have = float64(radius*sin), true
		return float64(radius * cos)
	}
}

func unit(r *rand.PCG) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

func (d *Device) generate(t DType, shape []int, f func(i int) float64) (*Tensor, error) {
	n, err := count(shape)
	if err != nil {
		return nil, err
	}
	size := t.Size()
	b := make([]byte, n*size)
	for i := range n {
		t.put(b[i*size:], f(i))
	}
	return d.FromBytes(t, b, shape...)
}

package cuda

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/warpbook/warpbook/cuda/device"
)

// Tensor is an array of elements in a device's memory. Several tensors may be views
// of the same memory. A tensor is never changed but by kernels and Set.
type Tensor struct {
	buf     *buffer
	dtype   DType
	shape   []int
	strides []int // in elements; not negative
	offset  int   // of the first element
}

// buffer is memory that tensors share.
type buffer struct {
	dev      *Device // nil for the host's memory
	handle   device.Handle
	host     []byte // the host's memory
	bytes    int64
	released *atomic.Bool

	mu    sync.Mutex
	label device.Label
	named bool // by the user
}

// maxElements keeps every index within 32 bits, as kernels use them.
const maxElements = 1<<31 - 1

// Empty makes a contiguous tensor whose elements nothing has written yet.
func (d *Device) Empty(t DType, shape ...int) (*Tensor, error) {
	if t.Size() == 0 {
		return nil, fmt.Errorf("there is no element type %v", t)
	}
	n, err := count(shape)
	if err != nil {
		return nil, err
	}
	b := &buffer{dev: d, bytes: int64(n) * int64(t.Size())}
	b.label = device.Label{Name: fmt.Sprintf("%v%v", t, brackets(shape)), Type: t.String(), Shape: clone(shape), Item: t.Size()}
	if b.bytes > 0 {
		if b.handle, err = d.client.Alloc(context.Background(), d.streamID(), b.bytes, b.label); err != nil {
			return nil, fmt.Errorf("a tensor of %s with shape %v: %w", t, brackets(shape), err)
		}
	} else if b.handle.Gen, err = d.client.Generation(); err != nil {
		return nil, err
	}
	d.used.Add(b.bytes)
	// What nothing refers to any more is given back.
	b.released = new(atomic.Bool)
	runtime.AddCleanup(b, collect, garbage{d, b.handle, b.bytes, b.released})
	return &Tensor{buf: b, dtype: t, shape: clone(shape), strides: rowMajor(shape)}, nil
}

// garbage is what is left of a buffer that nothing refers to.
type garbage struct {
	dev      *Device
	handle   device.Handle
	bytes    int64
	released *atomic.Bool
}

func collect(g garbage) {
	if g.released.Swap(true) || g.bytes == 0 {
		return
	}
	g.dev.used.Add(-g.bytes)
	g.dev.client.Drop(g.handle)
}

func clone(v []int) []int { return append([]int{}, v...) }

// count is the number of elements of a shape.
func count(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("the shape %v has a negative dimension", brackets(shape))
		}
		if n *= d; n > maxElements {
			return 0, fmt.Errorf("the shape %v has more than %d elements", brackets(shape), maxElements)
		}
	}
	return n, nil
}

func rowMajor(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= max(shape[i], 1)
	}
	return s
}

func brackets(shape []int) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = fmt.Sprint(d)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// DType is the elements' type.
func (t *Tensor) DType() DType { return t.dtype }

// Shape is the extent of each dimension.
func (t *Tensor) Shape() []int { return clone(t.shape) }

// Strides is how many elements apart neighbours in each dimension are.
func (t *Tensor) Strides() []int { return clone(t.strides) }

// Offset is the index of the first element in the memory, in elements.
func (t *Tensor) Offset() int { return t.offset }

// Device is where the tensor is, nil for the host's memory.
func (t *Tensor) Device() *Device { return t.buf.dev }

// Len is the number of elements.
func (t *Tensor) Len() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

// IsContiguous reports whether the elements lie in row-major order without gaps.
func (t *Tensor) IsContiguous() bool {
	want := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] != 1 && t.strides[i] != want {
			return t.Len() == 0
		}
		want *= max(t.shape[i], 1)
	}
	return true
}

// SharesMemory reports whether the tensors are views of the same memory.
func (t *Tensor) SharesMemory(u *Tensor) bool { return t.buf == u.buf }

// Name gives the tensor's memory a name for the simulator's findings. Without one
// it is called as the kernel's parameter is.
func (t *Tensor) Name(name string) *Tensor {
	t.buf.rename(name, true)
	return t
}

// rename tells the device a new name.
func (b *buffer) rename(name string, byUser bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.label.Name == name || b.named && !byUser || b.bytes == 0 || b.dev == nil {
		return
	}
	b.label.Name, b.named = name, b.named || byUser
	_ = b.dev.client.Label(b.handle, b.label) // a name is no reason to fail
}

// check says whether the tensor can be used.
func (t *Tensor) check() error {
	switch {
	case t == nil || t.buf == nil:
		return fmt.Errorf("a nil tensor")
	case t.buf.released.Load():
		return fmt.Errorf("the tensor %s%s cannot be used: %w", t.dtype, brackets(t.shape), device.ErrReleased)
	case t.buf.dev != nil && !t.buf.dev.client.Alive(t.buf.handle.Gen):
		return fmt.Errorf("the tensor %s%s is gone: %w", t.dtype, brackets(t.shape), device.ErrEnded)
	}
	return nil
}

// Err says why the tensor cannot be used: it was released, or the device process
// that held it has ended. It is nil for a tensor that can be.
func (t *Tensor) Err() error { return t.check() }

// Release gives the memory back, and makes every view of it unusable.
func (t *Tensor) Release() error {
	b := t.buf
	if b.released.Swap(true) || b.bytes == 0 || b.dev == nil {
		return nil
	}
	b.dev.used.Add(-b.bytes)
	return b.dev.client.Free(b.handle)
}

// span is the range of elements that the tensor reaches, from its offset on.
func (t *Tensor) span() int {
	if t.Len() == 0 {
		return 0
	}
	last := 0
	for i, d := range t.shape {
		last += (d - 1) * t.strides[i]
	}
	return last + 1
}

// Bytes copies the elements to the host, in row-major order. It waits for the
// device, and returns what went wrong there.
func (t *Tensor) Bytes() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	size, n := t.dtype.Size(), t.Len()
	if n == 0 {
		return []byte{}, nil
	}
	raw := make([]byte, t.span()*size)
	if err := t.buf.read(int64(t.offset*size), raw); err != nil {
		return nil, err
	}
	if t.IsContiguous() {
		return raw, nil
	}
	out := make([]byte, 0, n*size)
	t.each(func(at int) { out = append(out, raw[at*size:(at+1)*size]...) })
	return out, nil
}

// each calls f with the place of each element, in row-major order, relative to the
// offset.
func (t *Tensor) each(f func(at int)) {
	index := make([]int, len(t.shape))
	for range t.Len() {
		at := 0
		for i, v := range index {
			at += v * t.strides[i]
		}
		f(at)
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < t.shape[i] {
				break
			}
			index[i] = 0
		}
	}
}

// Float64s copies the elements to the host as float64, in row-major order; every
// type but i64 beyond 2^53 is exact.
func (t *Tensor) Float64s() ([]float64, error) {
	b, err := t.Bytes()
	if err != nil {
		return nil, err
	}
	out := make([]float64, t.Len())
	size := t.dtype.Size()
	for i := range out {
		out[i] = t.dtype.get(b[i*size:])
	}
	return out, nil
}

// Float32s copies the elements to the host as float32, in row-major order.
func (t *Tensor) Float32s() ([]float32, error) {
	v, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out, nil
}

// Ints copies the elements to the host as int, cut toward zero.
func (t *Tensor) Ints() ([]int, error) {
	v, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	out := make([]int, len(v))
	for i := range v {
		out[i] = int(v[i])
	}
	return out, nil
}

// At copies one element to the host.
func (t *Tensor) At(index ...int) (float64, error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	if len(index) != len(t.shape) {
		return 0, fmt.Errorf("%d indices for a tensor with %d dimensions", len(index), len(t.shape))
	}
	at := t.offset
	for i, v := range index {
		if v < 0 || v >= t.shape[i] {
			return 0, fmt.Errorf("the index %v is outside of the shape %v", brackets(index), brackets(t.shape))
		}
		at += v * t.strides[i]
	}
	b := make([]byte, t.dtype.Size())
	if err := t.buf.read(int64(at*len(b)), b); err != nil {
		return 0, err
	}
	return t.dtype.get(b), nil
}

// SetBytes copies elements in row-major order from the host into a contiguous
// tensor.
func (t *Tensor) SetBytes(b []byte) error {
	if err := t.check(); err != nil {
		return err
	}
	if want := t.Len() * t.dtype.Size(); len(b) != want {
		return fmt.Errorf("%d bytes for a tensor of %d", len(b), want)
	}
	if !t.IsContiguous() {
		return fmt.Errorf("elements can only be set in a contiguous tensor; Contiguous makes a copy that is")
	}
	if len(b) == 0 {
		return nil
	}
	return t.buf.write(int64(t.offset*t.dtype.Size()), b)
}

// Set copies values in row-major order into a contiguous tensor, each rounded once.
func (t *Tensor) Set(values []float64) error {
	if len(values) != t.Len() {
		return fmt.Errorf("%d values for a tensor of %d elements", len(values), t.Len())
	}
	return t.SetBytes(encode(t.dtype, values))
}

func encode(t DType, values []float64) []byte {
	size := t.Size()
	b := make([]byte, len(values)*size)
	for i, v := range values {
		t.put(b[i*size:], v)
	}
	return b
}

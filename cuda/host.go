package cuda

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
)

// Host makes a tensor in the host's memory, of values each rounded once to the type.
// It has shapes and views as others have, but no kernel can reach it: its Device is
// nil, and To copies it to one.
func Host(t DType, values []float64, shape ...int) (*Tensor, error) {
	if shape == nil {
		shape = []int{len(values)}
	}
	n, err := count(shape)
	if err != nil {
		return nil, err
	}
	if n != len(values) {
		return nil, fmt.Errorf("%d values for a tensor of %d elements", len(values), n)
	}
	return hosted(t, encode(t, values), shape), nil
}

func hosted(t DType, b []byte, shape []int) *Tensor {
	return &Tensor{buf: &buffer{host: b, bytes: int64(len(b)), released: new(atomic.Bool)}, dtype: t, shape: clone(shape), strides: rowMajor(shape)}
}

// IsHost reports whether the tensor is in the host's memory.
func (t *Tensor) IsHost() bool { return t.buf.dev == nil }

// To copies the tensor to a device, or with nil to the host's memory. The copy is
// contiguous.
func (t *Tensor) To(d *Device) (*Tensor, error) {
	b, err := t.Bytes()
	if err != nil {
		return nil, err
	}
	if d == nil {
		return hosted(t.dtype, b, t.shape), nil
	}
	return d.FromBytes(t.dtype, b, t.shape...)
}

// where names the place of the tensor's memory.
func (b *buffer) where() string {
	if b.dev == nil {
		return "the host"
	}
	return b.dev.String()
}

// read copies bytes from the buffer, when all earlier work of its device is done.
func (b *buffer) read(at int64, p []byte) error {
	if b.dev == nil {
		copy(p, b.host[at:])
		return nil
	}
	defer runtime.KeepAlive(b) // until the last piece has come
	b.dev.busy.Store(false)
	return b.dev.client.Read(context.Background(), b.handle, at, p)
}

// write copies bytes to the buffer.
func (b *buffer) write(at int64, p []byte) error {
	if b.dev == nil {
		copy(b.host[at:], p)
		return nil
	}
	defer runtime.KeepAlive(b)
	return b.dev.client.Write(context.Background(), b.handle, at, p)
}

package cuda

import "fmt"

// view makes another tensor of the same memory.
func (t *Tensor) view(shape, strides []int, offset int) *Tensor {
	return &Tensor{buf: t.buf, dtype: t.dtype, shape: shape, strides: strides, offset: offset}
}

// T is the view with the last two dimensions exchanged.
func (t *Tensor) T() *Tensor {
	n := len(t.shape)
	if n < 2 {
		return t
	}
	shape, strides := clone(t.shape), clone(t.strides)
	shape[n-1], shape[n-2] = shape[n-2], shape[n-1]
	strides[n-1], strides[n-2] = strides[n-2], strides[n-1]
	return t.view(shape, strides, t.offset)
}

// Permute is the view whose dimension i is the tensor's dimension order[i].
func (t *Tensor) Permute(order ...int) (*Tensor, error) {
	if len(order) != len(t.shape) {
		return nil, fmt.Errorf("Permute: %d dimensions for a tensor with %d", len(order), len(t.shape))
	}
	shape, strides, seen := make([]int, len(order)), make([]int, len(order)), make([]bool, len(order))
	for i, o := range order {
		if o < 0 || o >= len(order) || seen[o] {
			return nil, fmt.Errorf("Permute: %v is no order of %d dimensions", brackets(order), len(order))
		}
		seen[o] = true
		shape[i], strides[i] = t.shape[o], t.strides[o]
	}
	return t.view(shape, strides, t.offset), nil
}

// Slice is the view of the indices from, from+step and so on below to, in dimension
// dim.
func (t *Tensor) Slice(dim, from, to, step int) (*Tensor, error) {
	if dim < 0 || dim >= len(t.shape) {
		return nil, fmt.Errorf("Slice: there is no dimension %d in the shape %v", dim, brackets(t.shape))
	}
	if from < 0 || to < from || to > t.shape[dim] || step < 1 {
		return nil, fmt.Errorf("Slice: %d:%d:%d does not fit dimension %d of the shape %v", from, to, step, dim, brackets(t.shape))
	}
	shape, strides := clone(t.shape), clone(t.strides)
	shape[dim] = (to - from + step - 1) / step
	strides[dim] *= step
	offset := t.offset
	if shape[dim] > 0 {
		offset += from * t.strides[dim]
	}
	return t.view(shape, strides, offset), nil
}

// Broadcast is the view with a larger shape, in which dimensions of extent 1, and
// those missing in front, repeat: their stride is 0.
func (t *Tensor) Broadcast(shape ...int) (*Tensor, error) {
	if _, err := count(shape); err != nil {
		return nil, err
	}
	extra := len(shape) - len(t.shape)
	if extra < 0 {
		return nil, fmt.Errorf("Broadcast: the shape %v has fewer dimensions than %v", brackets(shape), brackets(t.shape))
	}
	strides := make([]int, len(shape))
	for i := range shape {
		if i < extra {
			continue
		}
		switch have := t.shape[i-extra]; {
		case have == shape[i]:
			strides[i] = t.strides[i-extra]
		case have != 1:
			return nil, fmt.Errorf("Broadcast: %v does not repeat to %v", brackets(t.shape), brackets(shape))
		}
	}
	return t.view(clone(shape), strides, t.offset), nil
}

// Reshape is the view with another shape of as many elements; -1 stands for what
// is left. It is an error when strides allow no such view: Contiguous makes a copy
// that has one.
func (t *Tensor) Reshape(shape ...int) (*Tensor, error) {
	shape = clone(shape)
	open, n := -1, 1
	for i, d := range shape {
		if d == -1 && open < 0 {
			open = i
			continue
		}
		if d < 0 {
			return nil, fmt.Errorf("Reshape: the shape %v has a negative dimension", brackets(shape))
		}
		n *= d
	}
	if open >= 0 && n > 0 && t.Len()%n == 0 {
		shape[open] = t.Len() / n
		n *= shape[open]
	}
	if n != t.Len() || open >= 0 && shape[open] < 0 {
		return nil, fmt.Errorf("Reshape: %v has %d elements and does not fit %v", brackets(t.shape), t.Len(), brackets(shape))
	}
	if t.IsContiguous() {
		return t.view(shape, rowMajor(shape), t.offset), nil
	}
	strides, ok := t.restride(shape)
	if !ok {
		return nil, fmt.Errorf("Reshape: a tensor of shape %v with strides %v has no view of shape %v; Contiguous makes a copy that has", brackets(t.shape), brackets(t.strides), brackets(shape))
	}
	return t.view(shape, strides, t.offset), nil
}

// restride finds the strides of a view with another shape: runs of old dimensions
// that lie without gaps may be cut differently.
func (t *Tensor) restride(shape []int) ([]int, bool) {
	var oldShape, oldStrides []int
	for i, d := range t.shape {
		if d != 1 {
			oldShape, oldStrides = append(oldShape, d), append(oldStrides, t.strides[i])
		}
	}
	strides := make([]int, len(shape))
	i, j := 0, 0
	for i < len(oldShape) && j < len(shape) {
		i0, j0 := i, j
		a, b := oldShape[i], shape[j]
		for a != b {
			if a < b {
				i++
				if i == len(oldShape) {
					return nil, false
				}
				a *= oldShape[i]
			} else {
				j++
				if j == len(shape) {
					return nil, false
				}
				b *= shape[j]
			}
		}
		for k := i0; k < i; k++ {
			if oldStrides[k] != oldStrides[k+1]*oldShape[k+1] {
				return nil, false
			}
		}
		s := oldStrides[i]
		for k := j; k >= j0; k-- {
			strides[k] = s
			s *= shape[k]
		}
		i++
		j++
	}
	for ; j < len(shape); j++ {
		if shape[j] != 1 {
			return nil, false
		}
		strides[j] = 1
	}
	return strides, true
}

// Row is the view of one index of the first dimension.
func (t *Tensor) Row(i int) (*Tensor, error) {
	if len(t.shape) == 0 || i < 0 || i >= t.shape[0] {
		return nil, fmt.Errorf("Row: there is no row %d in the shape %v", i, brackets(t.shape))
	}
	return t.view(clone(t.shape[1:]), clone(t.strides[1:]), t.offset+i*t.strides[0]), nil
}

// Contiguous is a copy whose elements lie in row-major order. It is always a copy.
func (t *Tensor) Contiguous() (*Tensor, error) {
	return t.To(t.buf.dev)
}

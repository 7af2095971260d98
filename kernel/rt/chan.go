package rt

import "iter"

// Send is ch <- v that an interrupt ends.
func Send[T any](ch chan<- T, v T) {
	select {
	case ch <- v:
		return
	default:
	}
	select {
	case ch <- v:
	case <-Done():
		Halt()
	}
}

// Recv is <-ch that an interrupt ends.
func Recv[T any](ch <-chan T) T {
	v, _ := Recv2(ch)
	return v
}

// Recv2 is v, ok := <-ch that an interrupt ends.
func Recv2[T any](ch <-chan T) (v T, ok bool) {
	select {
	case v, ok = <-ch:
		return v, ok
	default:
	}
	select {
	case v, ok = <-ch:
	case <-Done():
		Halt()
	}
	return v, ok
}

// Range ranges over a channel until it is closed or the cell is interrupted.
func Range[T any](ch <-chan T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for {
			Check()
			v, ok := Recv2(ch)
			if !ok || !yield(v) {
				return
			}
		}
	}
}

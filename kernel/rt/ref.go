package rt

// Ref returns a pointer to a copy of v: lowered code reaches the unexported
// fields of a value through a pointer, and not every value has an address.
func Ref[T any](v T) *T { return &v }

// Package display is a facade.
package display

// Text shows text.
func Text(s string) string { return s }

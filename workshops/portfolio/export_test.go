package portfolio

// For the tests.
var (
	Source  = source
	Kernels = kernels
)

// Package driver is the Backend on a GPU, through NVIDIA's driver.
//
// The model: one context, the device's primary one, on the goroutine that serves
// the device process. Memory comes from the driver's pool, in the order of a
// stream. The default stream of package device is a stream of ours that waits for
// no other, so that it can be captured. Whatever fails so that the context is lost
// is a Fault that is Fatal: the process ends with it.
//
// The driver is called through gorgonia.org/cu, and through a few functions in C
// for what it lacks: captures and graphs, memory in stream order, attributes that
// are set, and launches with parameters of any size, in clusters or cooperative.
//
// All of it is built with the tag cuda only; without it the package is empty but
// for what reads compute-sanitizer's reports. Headers of CUDA 12 and 13 do: compat
// stands before them on the include path.
package driver

// Package cuda runs CUDA kernels from Go, on a GPU or on a simulator.
//
// The model: a Device makes Tensors, typed arrays with a shape and strides in its
// memory, and Streams, queues of work. A Module is compiled CUDA C++; its Kernels
// are launched with a Config and arguments that are checked against the kernel's
// signature. The same module runs on every device.
//
//	dev, err := cuda.Open("auto")                  // the GPU, or the simulator where there is none
//	x, err := dev.Randn(cuda.F32, 2026, 64, 1024)  // seed, shape
//	y, err := dev.Empty(cuda.F32, 64, 1024)
//	m, err := cuda.Compile(ctx, "softmax.cu", source)
//	k, err := m.Kernel("softmax")
//	err = k.Launch(cuda.Config{Grid: cuda.D(64), Block: cuda.D(128)}, x, y, 1024)
//	values, err := y.Float64s()                    // waits, and says what the kernel did wrong
//
// A launch only queues work. What a kernel does wrong comes back as an error from
// the next call that waits for the device, or at the end of the cell. All work of a
// device is done in a process of its own: when a kernel ends it, or an interrupt has
// to, the device starts again and tensors made before say that they are gone.
//
// Tensors are released by Release, or some time after nothing refers to them.
package cuda

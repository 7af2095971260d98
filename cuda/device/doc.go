// Package device runs devices in a process of their own and talks to it.
//
// A kernel that faults costs its process, and one that never ends cannot be
// stopped, so the process that owns a device is a child that can be killed. The
// parent writes commands into a ring in shared memory and goes on; only what
// needs an answer waits for one. Bulk data moves through shared memory too. When
// the child dies, everything that lived in it belongs to a dead generation, and
// the next use starts a new child.
//
// The child for the simulator is the program itself (`warpbook device`). The
// child for a GPU is a program of its own beside it, warpbook-gpu: the same source
// built with the tag cuda, which links the driver. The notebook's program is never
// built with that tag, so compiled cells fit it on every machine, and it starts
// where no driver is. WARPBOOK_GPU_PROGRAM may name another one.
package device

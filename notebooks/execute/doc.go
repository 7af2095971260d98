// Package execute runs a notebook without Python.
//
// The model: Start starts a kernel, any kernel, as Jupyter does: it writes a
// connection file, starts the command of a kernelspec and connects to the five
// sockets. Notebook sends the code cells to it one after the other and records
// what comes back in the notebook, as nbclient would: streams joined, displays
// updated in place, counts and times noted. The kernel is a child of this
// process and is gone when Close returns.
package execute

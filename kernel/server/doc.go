// Package server speaks the Jupyter protocol for one notebook.
//
// The model: Run opens the sockets and serves each with one goroutine. Requests
// on shell are answered one after the other, in order; those on control at once,
// while a cell runs too. Every request is framed the same way: busy, whatever it
// does, its reply, idle. There is one file for each request; each decodes its
// content, asks the session.Session or the history, and returns the reply's
// content. What a cell shows goes through its output, which keeps the cell's
// request as the parent for as long as anything prints into it.
//
// Nothing that comes over the wire ends the kernel: what cannot be decoded is
// logged and dropped, what makes no sense is answered with an error, and a panic
// in a handler is caught, logged and answered.
package server

// Package session runs the cells of one notebook.
//
// The model: a session is a typed front end in this process and a child process
// that holds the notebook's live Go values. Execute checks a cell against
// everything declared so far, lowers it to a script for yaegi or to a plugin for
// the Go compiler, and has the child run it. The child may die; the front end,
// the sockets and the history do not.
package session

import "errors"

// ErrNoStdin is what Events.Input returns when the front end allows no input.
var ErrNoStdin = errors.New("this front end does not support input requests")

// Package rt is shared by the host and its plugins.
package rt

// Entries are the entry functions of plugins, in the order of loading.
var Entries []func()

// Register is called by the init functions of plugins.
func Register(f func()) { Entries = append(Entries, f) }

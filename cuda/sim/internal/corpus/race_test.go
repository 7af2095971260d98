//go:build race

package corpus_test

// Blocks that race are goroutines that race: the race detector would say of the
// simulator what the simulator says of the kernel. One worker runs one at a time.
const workers = 1

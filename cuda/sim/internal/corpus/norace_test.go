//go:build !race

package corpus_test

const workers = 0 // one a core

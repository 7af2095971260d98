// Command book is a host of plugins: it opens those named on its command line,
// in order, and calls what they registered.
package main

import (
	"fmt"
	"os"
	"plugin"

	"example.com/book/kernel/rt"
)

func main() {
	for _, name := range os.Args[1:] {
		if _, err := plugin.Open(name); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	for _, f := range rt.Entries {
		f()
	}
}

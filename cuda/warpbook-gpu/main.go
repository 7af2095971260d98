//go:build cuda

// Command warpbook-gpu serves a GPU to a notebook's program, as its device process.
// It is a program of its own because it links the driver: the notebook's own program
// starts where no driver is, and is one that compiled cells fit on every machine.
package main

import (
	"fmt"
	"os"

	"github.com/warpbook/warpbook/cuda/device"
	"github.com/warpbook/warpbook/cuda/driver"
)

func main() {
	device.Child(map[string]device.Opener{"gpu": driver.Open})
	fmt.Fprintln(os.Stderr, "warpbook-gpu serves a GPU to warpbook, which starts it; there is nothing that it does by itself.")
	os.Exit(2)
}

// Command host is the child of the tests: the part of warpbook that runs cells.
package main

import (
	"context"
	"log"

	"github.com/warpbook/warpbook/cuda/device"
	"github.com/warpbook/warpbook/cuda/nvrtc"
	"github.com/warpbook/warpbook/display/render"
	"github.com/warpbook/warpbook/kernel/engine"
)

func main() {
	nvrtc.Child()
	device.Child(nil)
	conn, err := engine.Control()
	if err != nil {
		log.Fatal(err)
	}
	defer engine.EndGroup()
	if err := engine.Serve(context.Background(), conn, render.All()); err != nil {
		log.Fatal(err)
	}
}

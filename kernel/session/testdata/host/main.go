// Command host is the child of the tests: the part of warpbook that runs cells.
package main

import (
	"context"
	"log"
	"os"

	"github.com/warpbook/warpbook/display/render"
	"github.com/warpbook/warpbook/kernel/engine"
)

func main() {
	if err := engine.Serve(context.Background(), os.NewFile(3, "control"), render.All()); err != nil {
		log.Fatal(err)
	}
}

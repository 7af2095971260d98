// Command testhost is the child process of the engine's tests: a plugin host
// must be a built program, not a test binary.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/engine"
)

func main() {
	conn, err := engine.Control()
	if err == nil {
		defer engine.EndGroup()
		err = engine.Serve(context.Background(), conn, display.Renderers{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

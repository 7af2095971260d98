// Command warpbook is the Go kernel for Jupyter that teaches GPU programming.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/warpbook/warpbook/cuda/device"
	"github.com/warpbook/warpbook/cuda/nvrtc"
)

func main() {
	nvrtc.Child()
	device.Child(nil)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

// run carries out one command line and returns the exit status.
func run(ctx context.Context, args []string) int {
	root := commands()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintln(os.Stderr, "warpbook:", err)
	return 1
}

// exitStatus is an exit status whose reason has been told already.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

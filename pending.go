package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// kernelCommands will be wired when package session builds.
func kernelCommands() []*cobra.Command {
	return []*cobra.Command{{Use: "kernel", RunE: func(*cobra.Command, []string) error {
		return errors.New("the kernel is not wired yet")
	}}}
}

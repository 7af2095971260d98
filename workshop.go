package main

import (
	"go/token"
	"go/types"
	"os"

	"github.com/spf13/cobra"

	"github.com/warpbook/warpbook/kernel/gotool"
	_ "github.com/warpbook/warpbook/workshops/online" // registers itself
	"github.com/warpbook/warpbook/workshops/runner"
)

// checkCommand runs the checks of the workshops.
func checkCommand() *cobra.Command {
	var o runner.Options
	check := &cobra.Command{
		Use:   "check [WORKSHOP|all]",
		Short: "Check your solution of a workshop",
		Long: `Checks your solution of a workshop, exercises/WORKSHOP.go here, or with "all"
(the default) every CPU workshop. Exit status: 0 every check passed; 1 a check
failed or the exercise did not load; 2 something is still to do; 3 nothing was
selected, or the device is not to be had.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Target = args[0]
			}
			o.Importer = recordedTypes()
			if code := runner.Run(cmd.Context(), o, os.Stdout, os.Stderr); code != runner.OK {
				return exitStatus(code)
			}
			return nil
		},
	}
	flags := check.Flags()
	flags.StringVar(&o.Level, "level", "all", "only workshops of this level: all, intermediate or advanced")
	flags.BoolVar(&o.List, "list", false, "list the workshops")
	flags.BoolVar(&o.Hint, "hint", false, "print a hint")
	flags.BoolVar(&o.Solution, "solution", false, "check the reference solution instead of yours")
	flags.BoolVar(&o.Start, "start", false, "write the starter file of the workshop")
	flags.BoolVar(&o.IncludeGPU, "include-gpu", false, "let \"all\" include the GPU workshops")
	flags.StringVar(&o.Device, "device", "auto", "what GPU workshops run on: auto, gpu or sim")
	flags.BoolVar(&o.Verbose, "verbose", false, "tell where the time went and what the exercise printed")
	flags.StringVar(&o.File, "file", "", "your solution's `FILE` (default exercises/WORKSHOP.go)")
	return check
}

// recordedTypes reads the types of packages from beside an installed program,
// which is quicker than asking the go command and works without one. It is nil
// for a program that is not installed.
func recordedTypes() func(*token.FileSet) types.Importer {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	tool, _ := gotool.Find(exe) // without a compiler the types are known all the same
	if tool == nil {
		return nil
	}
	return func(fset *token.FileSet) types.Importer { return tool.Importer(fset) }
}

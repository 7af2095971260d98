package main

import (
	"go/token"
	"go/types"
	"os"

	"github.com/spf13/cobra"

	"github.com/warpbook/warpbook/install"
	"github.com/warpbook/warpbook/kernel/gotool"
	_ "github.com/warpbook/warpbook/workshops/attention" // the workshops register themselves
	_ "github.com/warpbook/warpbook/workshops/backward"
	_ "github.com/warpbook/warpbook/workshops/gemm"
	_ "github.com/warpbook/warpbook/workshops/online"
	"github.com/warpbook/warpbook/workshops/runner"
	_ "github.com/warpbook/warpbook/workshops/softmax"
	_ "github.com/warpbook/warpbook/workshops/split"
)

// checkCommand runs the checks of the workshops.
func checkCommand() *cobra.Command {
	var o runner.Options
	check := &cobra.Command{
		Use:   "check [WORKSHOP|all]",
		Short: "Check your solution of a workshop",
		Long: `Checks your solution of a workshop, exercises/WORKSHOP.go here (and WORKSHOP.cu),
or with "all" (the default) every CPU workshop. GPU workshops run on a GPU, or on
the simulator where there is none. Exit status: 0 every check passed; 1 a check
failed or the exercise did not load; 2 something is still to do; 3 nothing was
selected, or the device is not to be had.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Target = args[0]
			}
			o.Importer = recordedTypes()
			bar := newProgress(os.Stderr)
			defer bar.end()
			if bar.terminal {
				o.Progress = func(done, total int, name string) { bar.step(install.Step{Text: "Checking", Done: done, Total: total}) }
			}
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
	flags.IntVar(&o.More, "more", 0, "also check `N` random shapes of each GPU workshop")
	flags.Uint64Var(&o.Seed, "seed", 1, "the `SEED` of those shapes")
	flags.StringVar(&o.Sanitize, "sanitize", "", "run a GPU under compute-sanitizer's `TOOL`: memcheck (the default), racecheck, initcheck or synccheck")
	flags.Lookup("sanitize").NoOptDefVal = "memcheck"
	flags.IntVar(&o.Schedules, "schedules", 0, "have the simulator try `N` orders of blocks and warps for each launch")
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

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/warpbook/warpbook/install"
	"github.com/warpbook/warpbook/notebooks/execute"
	"github.com/warpbook/warpbook/notebooks/nbformat"
)

// startLimit is what a kernel gets to start: the first start of an installation
// on a slow machine is the slowest.
const startLimit = time.Minute

// runFlags are the settings of one execution of a notebook.
type runFlags struct {
	out         string
	timeout     time.Duration
	allowErrors bool
	verbose     bool
}

func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write the executed notebook to this `FILE`")
	flags.DurationVar(&f.timeout, "timeout", 0, "the longest that a cell may run, such as 90s or 5m; no limit by default")
	flags.BoolVar(&f.allowErrors, "allow-errors", false, "go on after a cell that failed, and succeed")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show what the kernel logs")
}

func runCommand() *cobra.Command {
	var f runFlags
	var kernel string
	cmd := &cobra.Command{
		Use:   "run NOTEBOOK",
		Short: "Run a notebook without Python and without a browser",
		Long: `Runs the cells of a notebook in order, over a kernel's sockets as JupyterLab
would. It ends at the first cell that fails, with exit status 1. Cells with the
tag "raises-exception" may fail; cells with the tag "skip-execution" do not run.
With -o the notebook with its outputs is written, after a failure too.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			command, err := kernelCommand(kernel)
			if err != nil {
				return err
			}
			return runNotebook(cmd.Context(), command, kernel == "", args[0], f)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&kernel, "kernel", "", "run it with this installed kernel's `NAME` instead of this program")
	return cmd
}

// kernelCommand is how the kernel called name is started: this program itself
// without a name, an installed kernelspec with one.
func kernelCommand(name string) (execute.Command, error) {
	if name == "" {
		exe, err := os.Executable()
		return execute.Command{Argv: []string{exe, "kernel", "-f", "{connection_file}"}}, err
	}
	dir, err := install.UserPlace().SpecDir(name)
	if err != nil {
		return execute.Command{}, err
	}
	spec, err := install.ReadSpec(dir)
	if err != nil {
		return execute.Command{}, fmt.Errorf("there is no kernel %q to run with: %w; `warpbook install` installs ours", name, err)
	}
	return execute.Command{Argv: spec.Argv, Env: spec.Env}, nil
}

// runNotebook runs the notebook at path and writes it where the flags say.
// ours tells that the kernel is this program, which runs Go only.
func runNotebook(ctx context.Context, command execute.Command, ours bool, path string, f runFlags) error {
	nb, err := nbformat.ReadFile(path)
	if err != nil {
		return err
	}
	if lang := nb.Language(); ours && lang != "" && !strings.EqualFold(lang, "go") {
		return fmt.Errorf("%s is a notebook in %s, and this kernel runs Go; --kernel NAME names another", path, lang)
	}
	command.Log = io.Discard
	if f.verbose {
		command.Log = os.Stderr
	}
	bars := newProgress(os.Stderr)
	bars.step(install.Step{Text: "Starting the kernel"})
	starting, cancel := context.WithTimeout(ctx, startLimit)
	kernel, err := execute.Start(starting, command)
	cancel()
	if err != nil {
		bars.end()
		return err
	}
	ran := execute.Notebook(ctx, kernel, nb, execute.Options{
		Timeout:     f.timeout,
		AllowErrors: f.allowErrors,
		Progress: func(done, total int) {
			bars.step(install.Step{Text: "Running " + path, Done: done, Total: total})
		},
	})
	bars.end()
	closed := kernel.Close()
	if f.out != "" {
		if err := nb.WriteFile(f.out); err != nil {
			return errors.Join(ran, err)
		}
	}
	return errors.Join(explain(ran), closed)
}

// explain shows the traceback of a cell that failed.
func explain(err error) error {
	var cell *execute.CellError
	if errors.As(err, &cell) && len(cell.Traceback) > 0 {
		fmt.Fprintln(os.Stderr, strings.Join(cell.Traceback, "\n"))
	}
	return err
}

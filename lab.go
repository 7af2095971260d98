package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/warpbook/warpbook/install"
	"github.com/warpbook/warpbook/notebooks/execute"
)

func labCommand() *cobra.Command {
	var dir string
	var headless bool
	var f runFlags
	cmd := &cobra.Command{
		Use:   "lab [NOTEBOOK]",
		Short: "Open JupyterLab with the kernel and the lessons, installing what is missing",
		Long: `Installs the kernel where that is needed, uses the JupyterLab on the PATH or
makes a private Python environment with one, copies the lessons to a folder of
yours (files that are there already stay as they are), and opens NOTEBOOK, by
default the first lesson. With --headless the notebook runs without a browser,
and the exit status tells how that went.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			place := install.UserPlace()
			source, err := install.FindSource(cmd.Context(), place, "")
			if err != nil {
				return err
			}
			python, err := pythonFor(cmd.Context(), place, source)
			if err != nil {
				return err
			}
			done, err := installKernel(cmd.Context(), install.Options{Place: place})
			if err != nil {
				return err
			}
			notebook, err := chooseNotebook(source, dir, args)
			if err != nil {
				return err
			}
			if headless {
				return headlessLab(cmd.Context(), done.Spec, notebook, f)
			}
			return openLab(cmd.Context(), python, notebook)
		},
	}
	home, _ := os.UserHomeDir() // without one, the current folder
	cmd.Flags().StringVar(&dir, "dir", filepath.Join(home, "warpbook"), "your `FOLDER` for the lessons")
	cmd.Flags().BoolVar(&headless, "headless", false, "run the notebook without a browser and exit with its result")
	f.add(cmd)
	return cmd
}

// pythonFor finds JupyterLab, or installs a private one.
func pythonFor(ctx context.Context, place install.Place, source string) (install.Python, error) {
	bars := newProgress(os.Stderr)
	defer bars.end()
	if python, ok := install.FindPython(ctx, place); ok {
		fmt.Printf("JupyterLab %s: %s\n", python.Lab, python.Exe)
		if err := install.NeedCompiler(ctx, place, python, bars.step); err != nil {
			fmt.Fprintln(os.Stderr, err) // the lessons that need no kernel of one's own work without
		}
		return python, nil
	}
	papermill := filepath.Join(source, "python", "papermill_warpbook")
	return install.MakePython(ctx, place, papermill, bars.step)
}

// chooseNotebook is the notebook that the user named, or the first lesson in
// the user's own folder.
func chooseNotebook(source, dir string, args []string) (string, error) {
	if len(args) == 1 {
		if _, err := os.Stat(args[0]); err != nil {
			return "", fmt.Errorf("there is no notebook %s: %w", args[0], err)
		}
		return filepath.Abs(args[0])
	}
	lessons, err := install.CopyLessons(filepath.Join(source, "notebooks"), dir)
	if err != nil {
		return "", err
	}
	return lessons[0], nil
}

// headlessLab runs a notebook with the installed kernel, as JupyterLab would.
func headlessLab(ctx context.Context, specDir, notebook string, f runFlags) error {
	spec, err := install.ReadSpec(specDir)
	if err != nil {
		return err
	}
	command := execute.Command{Argv: spec.Argv, Env: spec.Env, Dir: filepath.Dir(notebook)}
	if err := runNotebook(ctx, command, true, notebook, f); err != nil {
		return err
	}
	fmt.Println("Ran", notebook)
	return nil
}

// openLab runs JupyterLab until the user ends it. Ctrl-C is JupyterLab's: it asks.
func openLab(ctx context.Context, python install.Python, notebook string) error {
	args := []string{"jupyterlab", "--ServerApp.root_dir=" + filepath.Dir(notebook)}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-root")
	}
	lab := python.Command(context.WithoutCancel(ctx), append(args, notebook)...)
	lab.Stdin, lab.Stdout, lab.Stderr = os.Stdin, os.Stdout, os.Stderr
	fmt.Println("Opening", notebook)
	if err := lab.Start(); err != nil {
		return fmt.Errorf("JupyterLab does not start: %w", err)
	}
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	defer signal.Stop(terminate)
	go func() {
		for s := range terminate {
			_ = lab.Process.Signal(s) // it may have ended by itself
		}
	}()
	err := lab.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && strings.HasPrefix(exit.String(), "signal:") {
		return nil // the user ended it
	}
	return err
}

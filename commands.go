package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warpbook/warpbook/install"
	"github.com/warpbook/warpbook/kernel/gotool"
)

// commands is the whole command line.
func commands() *cobra.Command {
	root := &cobra.Command{
		Use:           "warpbook",
		Short:         "The Go kernel for Jupyter that teaches GPU programming",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(labCommand(), runCommand(), installCommand(), uninstallCommand(), doctorCommand(), versionCommand(), recordCommand())
	root.AddCommand(kernelCommands()...)
	root.AddCommand(checkCommand(), lessonCommand())
	return root
}

// version is the program's version: the module's, or "devel".
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "0.1.0-devel"
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "warpbook %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// placeFlags are the flags that say where an installation is.
type placeFlags struct {
	user, sysPrefix bool
	prefix, name    string
}

func (f *placeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.user, "user", false, "for the current user (the default)")
	flags.BoolVar(&f.sysPrefix, "sys-prefix", false, "into the active Python, conda or virtual environment")
	flags.StringVar(&f.prefix, "prefix", "", "below this folder: `DIR`/share/jupyter and DIR/share/warpbook")
	flags.StringVar(&f.name, "name", install.Name, "the kernel's name")
	cmd.MarkFlagsMutuallyExclusive("user", "sys-prefix", "prefix")
}

func (f *placeFlags) place(ctx context.Context) (install.Place, error) {
	switch {
	case f.prefix != "":
		return install.PrefixPlace(f.prefix)
	case f.sysPrefix:
		return install.SysPrefixPlace(ctx)
	}
	return install.UserPlace(), nil
}

func installCommand() *cobra.Command {
	var where placeFlags
	var env []string
	var options install.Options
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Build the kernel and tell Jupyter about it; again is cheap",
		Long: `Builds the program from its source, so that compiled cells fit it, warms the
caches and writes the kernelspec. What is up to date already stays as it is.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			vars, err := environment(env)
			if err != nil {
				return err
			}
			options.Env, options.Name = vars, where.name
			if options.Place, err = where.place(cmd.Context()); err != nil {
				return err
			}
			_, err = installKernel(cmd.Context(), options)
			return err
		},
	}
	where.add(cmd)
	cmd.Flags().StringArrayVar(&env, "env", nil, "an environment variable of the kernel, `KEY=VALUE`; may be repeated")
	cmd.Flags().StringVar(&options.Source, "source", "", "a clone of Warpbook to build from (default: looked for)")
	cmd.Flags().StringVar(&options.Program, "program", "", "use this `FILE`, which has its record beside it, instead of building one")
	return cmd
}

// installKernel installs and tells what it did.
func installKernel(ctx context.Context, o install.Options) (install.Result, error) {
	o.Record = record
	bars := newProgress(os.Stderr)
	done, err := install.Run(ctx, o, bars.step)
	bars.end()
	if err != nil {
		return done, err
	}
	if done.Changed {
		fmt.Printf("Installed the kernel: %s starts %s\n", done.Spec, done.Program)
	} else {
		fmt.Printf("Up to date: %s starts %s\n", done.Spec, done.Program)
	}
	switch {
	case done.GPU != "":
		fmt.Println("Kernels run on the GPU:", done.GPU)
	case errors.Is(done.NoGPU, install.ErrNoDriver):
		fmt.Println("Kernels run on the simulator:", done.NoGPU)
	default:
		fmt.Println("Kernels run on the simulator, though there is a GPU:", done.NoGPU)
	}
	if !done.Compiler {
		fmt.Println("There is no Go toolchain on the PATH, so only simple statements run. Install Go from https://go.dev/dl and run this again.")
	}
	return done, nil
}

// record writes the toolchain record beside exe.
func record(ctx context.Context, source, exe string, p install.Progress) error {
	return gotool.Install(ctx, source, exe, func(text string, done, total int) {
		p(install.Step{Text: strings.ToUpper(text[:1]) + text[1:], Done: done, Total: total})
	})
}

// recordCommand makes a program that `make build` has built in place a host for
// compiled cells.
func recordCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "record SOURCE",
		Short:  "Write the toolchain record beside this program",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			bars := newProgress(os.Stderr)
			defer bars.end()
			return record(cmd.Context(), args[0], exe, bars.step)
		},
	}
}

// environment reads KEY=VALUE pairs.
func environment(pairs []string) (map[string]string, error) {
	env := map[string]string{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--env wants KEY=VALUE and got %q", pair)
		}
		env[key] = value
	}
	return env, nil
}

func uninstallCommand() *cobra.Command {
	var where placeFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove what install and lab wrote; notebooks and history stay",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := where.place(cmd.Context())
			if err != nil {
				return err
			}
			gone, err := install.Uninstall(place, where.name)
			for _, path := range gone {
				fmt.Println("Removed", path)
			}
			if err == nil && len(gone) == 0 {
				fmt.Println("Nothing is installed there.")
			}
			return err
		},
	}
	where.add(cmd)
	return cmd
}

func doctorCommand() *cobra.Command {
	var where placeFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what is installed, what is missing and how to get it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := where.place(cmd.Context())
			if err != nil {
				return err
			}
			found := install.Diagnose(cmd.Context(), place, where.name)
			for _, f := range found {
				fmt.Print(finding(f))
			}
			if !found.OK() {
				return errors.New("something that the kernel needs is missing; the lines under MISSING say how to get it")
			}
			return nil
		},
	}
	where.add(cmd)
	return cmd
}

// marks are a finding's mark by OK and Needed.
var marks = map[bool]map[bool]string{true: {true: "ok", false: "ok"}, false: {true: "MISSING", false: "-"}}

func finding(f install.Finding) string {
	text := fmt.Sprintf("%-8s %-17s %s\n", marks[f.OK][f.Needed], f.What, f.State)
	if !f.OK && f.Remedy != "" {
		text += fmt.Sprintf("%-26s %s\n", "", f.Remedy)
	}
	return text
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/warpbook/warpbook/display/render"
	"github.com/warpbook/warpbook/kernel/engine"
	"github.com/warpbook/warpbook/kernel/gotool"
	"github.com/warpbook/warpbook/kernel/history"
	"github.com/warpbook/warpbook/kernel/server"
	"github.com/warpbook/warpbook/kernel/session"
	"github.com/warpbook/warpbook/kernel/wire"
)

// kernelCommands are what a front end starts, and what that starts in turn.
func kernelCommands() []*cobra.Command {
	var file string
	var verbose bool
	kernel := &cobra.Command{
		Use:   "kernel",
		Short: "Serve one notebook; front ends start it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveKernel(context.WithoutCancel(cmd.Context()), file, verbose) // the server has signals of its own
		},
	}
	kernel.Flags().StringVarP(&file, "file", "f", "", "the connection `FILE` that the front end wrote")
	kernel.Flags().BoolVar(&verbose, "debug", false, "log more")
	_ = kernel.MarkFlagRequired("file") // fails for an unknown flag only

	return []*cobra.Command{kernel, {
		Use:    "session",
		Short:  "Run the cells of a kernel; the kernel starts it",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			return serveSession()
		},
	}}
}

func serveKernel(ctx context.Context, file string, verbose bool) error {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	connection, err := wire.ReadConnectionFile(file)
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program's own file cannot be found: %w", err)
	}
	// Lessons say !warpbook: what cells start finds this very program.
	if err := os.Setenv("PATH", filepath.Dir(exe)+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return err
	}
	return server.Run(ctx, server.Options{
		Connection: connection,
		History:    history.Open(history.DefaultPath(), log),
		Log:        log,
		Version:    version(),
		Session: func(context.Context) (session.Session, error) {
			return openSession(exe, log)
		},
	})
}

// openSession opens the session of a notebook in the current folder. Without a
// compiler it still runs what needs none, when the packages' types are known.
func openSession(exe string, log *slog.Logger) (session.Session, error) {
	tool, err := gotool.Find(exe)
	var unavailable *gotool.Unavailable
	switch {
	case errors.As(err, &unavailable) && tool != nil:
		log.Warn("cells cannot be compiled", "why", err)
	case err != nil:
		return nil, err
	}
	s, err := session.New(session.Options{Tool: tool, Command: []string{exe, "session"}, Log: log})
	if err != nil {
		return nil, err // not s: a nil *Notebook is no nil Session
	}
	return s, nil
}

// serveSession is the child: it talks to the kernel over descriptor 3.
func serveSession() error {
	conn, err := engine.Control()
	if err != nil {
		return err
	}
	defer engine.EndGroup() // what the cells have started ends with them
	return engine.Serve(context.Background(), conn, render.All())
}

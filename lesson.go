package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/warpbook/warpbook/notebooks/lesson"
)

// lessonCommand is for those who write lessons.
func lessonCommand() *cobra.Command {
	var check bool
	build := &cobra.Command{
		Use:   "build [SOURCE.md...]",
		Short: "Build the notebooks of lessons, by default of all below notebooks/lessons",
		RunE: func(_ *cobra.Command, sources []string) error {
			if len(sources) == 0 {
				sources, _ = filepath.Glob(filepath.Join("notebooks", "lessons", "*.md")) // the pattern is sound
			}
			if len(sources) == 0 {
				return errors.New("there are no lessons in notebooks/lessons; run this in a clone of Warpbook, or name the sources")
			}
			if check {
				return checkLessons(sources)
			}
			return buildLessons(sources)
		},
	}
	build.Flags().BoolVar(&check, "check", false, "write nothing; fail when a notebook differs from its source")
	cmd := &cobra.Command{Use: "lesson", Short: "Build lessons from their sources"}
	cmd.AddCommand(build)
	return cmd
}

func buildLessons(sources []string) error {
	written := 0
	for _, source := range sources {
		paths, err := lesson.Write(source)
		for _, path := range paths {
			fmt.Println("Wrote", path)
		}
		if err != nil {
			return err
		}
		written += len(paths)
	}
	if written == 0 {
		fmt.Println("Every notebook is up to date.")
	}
	return nil
}

func checkLessons(sources []string) error {
	var old []error
	for _, source := range sources {
		stale, err := lesson.Stale(source)
		if err != nil {
			return err
		}
		for _, f := range stale {
			old = append(old, fmt.Errorf("%s differs from %s; `warpbook lesson build` writes it again", f.Path, source))
		}
	}
	return errors.Join(old...)
}

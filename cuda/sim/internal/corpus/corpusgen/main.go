// Command corpusgen compiles the programs of the corpus whose PTX is missing or of
// another source: go run ./cuda/sim/internal/corpus/corpusgen
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/warpbook/warpbook/cuda/nvrtc"
	"github.com/warpbook/warpbook/cuda/sim/internal/corpus"
)

func main() {
	nvrtc.Child()
	all := flag.Bool("all", false, "compile every program")
	flag.Parse()
	dirs := flag.Args()
	if len(dirs) == 0 {
		dirs = []string{"cuda/sim/testdata/correct", "cuda/sim/testdata/faults"}
	}
	failed := false
	for _, dir := range dirs {
		if err := generate(dir, *all); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func generate(dir string, all bool) error {
	programs, err := corpus.Load(dir)
	if err != nil {
		return err
	}
	compiler, err := nvrtc.Find()
	if err != nil {
		return err
	}
	bad := 0
	for _, p := range programs {
		if _, err := p.PTX(); err == nil && !all {
			continue
		}
		r, err := compiler.Compile(context.Background(), nvrtc.Source{Name: p.Name + ".cu", Text: p.Source}, nvrtc.Options{Arch: p.Arch})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			bad++
			continue
		}
		first := fmt.Sprintf("// source %s arch %s compiler %s\n", p.Hash(), p.Arch, r.Compiler)
		if err := os.WriteFile(strings.TrimSuffix(p.Path, ".cu")+".ptx", []byte(first+r.PTX), 0o644); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d programs of %s do not compile", bad, dir)
	}
	return nil
}

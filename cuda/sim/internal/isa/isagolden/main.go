// Command isagolden makes the golden data of package isa, in three steps:
//
//	go run ./cuda/sim/internal/isa/isagolden -write FOLDER
//	(on a GPU) cd FOLDER && gcc -O1 -o runner runner.c -ldl && ./runner . OUT
//	go run ./cuda/sim/internal/isa/isagolden -import OUT
//
// The last writes cuda/sim/internal/isa/testdata/golden.gz, and keeps what is there
// of cases that the run does not have.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"

	"github.com/warpbook/warpbook/cuda/sim/internal/isa"
)

func main() {
	write := flag.String("write", "", "folder to write the cases to")
	load := flag.String("import", "", "folder of the outputs to make golden")
	file := flag.String("golden", "cuda/sim/internal/isa/testdata/golden.gz", "the golden file")
	flag.Parse()
	if err := run(*write, *load, *file); err != nil {
		fmt.Fprintln(os.Stderr, "isagolden:", err)
		os.Exit(1)
	}
}

func run(write, load, file string) error {
	cases := isa.Cases()
	switch {
	case write != "":
		if err := os.MkdirAll(write, 0o755); err != nil {
			return err
		}
		return isa.WriteFolder(write, cases)
	case load != "":
		return importRun(load, file, cases)
	}
	return errors.New("give -write FOLDER or -import FOLDER")
}

func importRun(dir, file string, cases []*isa.Case) error {
	g, failed, err := isa.ReadRun(dir, cases)
	if err != nil {
		return err
	}
	for _, f := range failed {
		fmt.Println(f)
	}
	if old, err := os.Open(file); err == nil {
		before, err := isa.ReadGolden(old)
		old.Close()
		if err != nil {
			return err
		}
		maps.Copy(before, g)
		g = before
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := g.Write(out, cases); err != nil {
		out.Close()
		return err
	}
	fmt.Printf("%d of %d cases have golden data\n", len(g), len(cases))
	return out.Close()
}

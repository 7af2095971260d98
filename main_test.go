package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The command line is tested by the scripts in testdata: each says what is
// typed, what comes out and which files are there afterwards.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"warpbook": func() { os.Exit(run(context.Background(), os.Args[1:])) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("JUPYTER_DATA_DIR", env.WorkDir+"/jupyter")
			env.Setenv("WARPBOOK_DATA_DIR", env.WorkDir+"/data")
			env.Setenv("XDG_DATA_HOME", env.WorkDir+"/share")
			env.Setenv("HOME", os.Getenv("HOME")) // for Go's build cache; nothing of ours is written there
			env.Setenv("VIRTUAL_ENV", "")
			return nil
		},
	})
}

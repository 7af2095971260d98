//go:build keep

package main

import (
	_ "github.com/go-zeromq/zmq4"
	_ "github.com/google/uuid"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/cobra"
	_ "github.com/traefik/yaegi/interp"
	_ "github.com/yuin/goldmark"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/tools/txtar"
	_ "gonum.org/v1/gonum/mat"
	_ "gonum.org/v1/plot"
	_ "modernc.org/sqlite"
)

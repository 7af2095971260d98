//go:build keep

package main

import (
	_ "github.com/yuin/goldmark" // pins a dependency that no package imports yet
)

package session

import (
	"go/ast"
	"go/parser"
	"strings"

	"github.com/warpbook/warpbook/kernel/lower"
)

// timeit runs code many times inside the session, in a function that the
// compiler has made.
func (r *run) timeit(p part) *Error {
	code, line := p.args, p.line
	if p.magic == "%timeit" {
		code = strings.TrimSpace(body(p))
		line = p.line + 1
		if p.args != "" {
			return simpleError("usage", "%%timeit takes no setup code: declare what it needs in a cell before")
		}
	}
	if code == "" {
		return simpleError("usage", "%timeit wants code to run: %timeit f(10)")
	}
	if x, err := parser.ParseExpr(code); err == nil {
		if _, call := ast.Unparen(x).(*ast.CallExpr); !call {
			code = "_ = (" + code + ")"
		}
	}
	// The import is written in front of the code's first line, behind blank ones.
	head := "import wb_rt \"" + lower.RuntimePath + "\"; wb_rt.Timeit(func() { "
	err := r.goCode(strings.Repeat("\n", max(line-1, 0)) + head + code + "\n})")
	return err
}

package session

import (
	"errors"
	"flag"
	"fmt"
	"go/token"
	"html"
	"io"
	"path/filepath"
	"strings"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/cuda/nvrtc"
	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/display"
)

const cudaUsage = "%%cuda NAME [--ptx] [--arch compute_90] [--fast-math] [-D MACRO=VALUE]: compiles the rest of the cell as CUDA C++ and calls the module NAME"

// cudaCell compiles the rest of a cell as CUDA C++, shows what its kernels take, and
// declares a variable of type *cuda.Module.
func (r *run) cudaCell(p part) *Error {
	o, err := cudaOptions(p.args)
	if err != nil {
		return simpleError("usage", err.Error())
	}
	c, err := nvrtc.Find()
	if err != nil {
		return simpleError("CUDA", err.Error())
	}
	src := nvrtc.Source{Name: fmt.Sprintf("cell [%d]", r.cell.Count), Text: p.code}
	result, err := c.Compile(r.ctx, src, o.Options)
	var wrong *nvrtc.CompileError
	switch {
	case r.ctx.Err() != nil:
		return interrupted()
	case errors.As(err, &wrong):
		return r.cudaError(wrong)
	case err != nil:
		return simpleError("CUDA", err.Error())
	}
	for _, d := range result.Diagnostics {
		if d.Severity == "warning" {
			r.ev.Stream("stderr", d.String()+"\n")
		}
	}
	if o.name != "" {
		path := filepath.Join(r.s.temp, fmt.Sprintf("cuda-%d-%s.json", r.s.nextID(), o.name))
		if err := cuda.SaveCompiled(path, result); err != nil {
			return internalError(err)
		}
		code := fmt.Sprintf("import wb_cuda %q; %s := wb_cuda.LoadCompiled(%q)", cudaPackage, o.name, path)
		if e := r.goCode(code); e != nil {
			return e
		}
	}
	r.ev.Publish(display.Message{Kind: display.Data, Bundle: display.Bundle{Data: kernelTable(result)}})
	if o.ptx {
		bundle, err := ptxListing(result)
		if err != nil {
			return internalError(err)
		}
		r.ev.Publish(display.Message{Kind: display.Data, Bundle: display.Bundle{Data: bundle}})
	}
	return nil
}

type cudaFlags struct {
	nvrtc.Options
	name string
	ptx  bool
}

// cudaOptions reads the line behind %%cuda. The name may stand anywhere.
func cudaOptions(line string) (o cudaFlags, err error) {
	o.Resources = true
	fs := flag.NewFlagSet("%%cuda", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.BoolVar(&o.ptx, "ptx", false, "")
	fs.BoolVar(&o.FastMath, "fast-math", false, "")
	fs.StringVar(&o.Arch, "arch", "", "")
	fs.Func("D", "", func(s string) error {
		o.Defines = append(o.Defines, s)
		return nil
	})
	args := strings.Fields(line)
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return o, fmt.Errorf("%w; %s", err, cudaUsage)
		}
		if args = fs.Args(); len(args) > 0 {
			if o.name != "" {
				return o, fmt.Errorf("%q after the name %s; %s", args[0], o.name, cudaUsage)
			}
			o.name, args = args[0], args[1:]
		}
	}
	if o.name == "" {
		return o, errors.New(cudaUsage)
	}
	if !token.IsIdentifier(o.name) || o.name == "_" {
		return o, fmt.Errorf("%q cannot be the name of a variable; %s", o.name, cudaUsage)
	}
	return o, nil
}

const cudaPackage = "github.com/warpbook/warpbook/cuda"

// cudaSettings is %cuda: it changes how kernels run, and says what is set.
func (r *run) cudaSettings(line string) *Error {
	fs := flag.NewFlagSet("%cuda", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	code := fmt.Sprintf("import wb_cuda %q\n", cudaPackage)
	for _, name := range []string{"device", "seed", "schedules", "budget", "sanitize"} {
		fs.Func(name, "", func(value string) error {
			code += fmt.Sprintf("if err := wb_cuda.Configure(%q, %q); err != nil { panic(err) }\n", name, value)
			return nil
		})
	}
	if err := fs.Parse(strings.Fields(line)); err != nil {
		return simpleError("usage", fmt.Sprintf("%v; %s", err, magics["cuda"]))
	}
	if fs.NArg() > 0 {
		return simpleError("usage", fmt.Sprintf("%q is no option; %s", fs.Arg(0), magics["cuda"]))
	}
	return r.goCode(fmt.Sprintf("import wb_fmt %q\n%swb_fmt.Println(wb_cuda.Status())", "fmt", code))
}

// cudaError shows what NVRTC says about the cell, as compile errors of Go are shown.
func (r *run) cudaError(err *nvrtc.CompileError) *Error {
	e := &Error{Name: "CUDA compile error", Value: cut(strings.TrimSpace(err.Log), 300)}
	n := 0
	for _, d := range err.Diagnostics {
		if d.Severity != "error" {
			continue
		}
		if n++; n == 1 {
			e.Value = cut(fmt.Sprintf("%s, line %d: %s", d.File, d.Line, d.Message), 300)
		}
		where := fmt.Sprintf("%s, line %d", d.File, d.Line)
		if d.Column > 0 {
			where += fmt.Sprintf(", column %d", d.Column)
		}
		text := fmt.Sprintf("%s: %s: %s", bold(where), red("error"), d.Message)
		if d.File == err.Source.Name {
			text += r.s.excerpt(fmt.Sprintf("cell[%d]", r.cell.Count), d.Line, d.Column)
		}
		for _, note := range d.Notes {
			text += "\n    " + note
		}
		e.Traceback = append(e.Traceback, text)
	}
	if n > 1 {
		e.Value += fmt.Sprintf(" (and %d more)", n-1)
	}
	if n == 0 {
		e.Traceback = []string{red(e.Name) + ": " + strings.TrimSpace(err.Log)}
	}
	return e
}

// kernelTable lists the kernels of a module with what they take.
func kernelTable(r *nvrtc.Result) map[string]any {
	var plain, page strings.Builder
	fmt.Fprintf(&plain, "%s, for %s\n", r.Compiler, r.Arch)
	fmt.Fprintf(&page, `<table><caption style="text-align: left">%s, for %s</caption><thead><tr>`, html.EscapeString(r.Compiler), html.EscapeString(r.Arch))
	for _, head := range []string{"Kernel", "Registers", "Shared memory", "Local memory and spills"} {
		fmt.Fprintf(&page, `<th style="text-align: left">%s</th>`, head)
	}
	page.WriteString("</tr></thead><tbody>")
	if len(r.Kernels) == 0 {
		plain.WriteString("no __global__ function\n")
	}
	for _, k := range r.Kernels {
		regs, shared, local := "unknown", "unknown", "unknown"
		if k.Measured {
			regs, shared, local = fmt.Sprint(k.Registers), fmt.Sprintf("%d bytes", k.Shared), fmt.Sprintf("%d bytes", k.Local)
		}
		sig := k.String()
		fmt.Fprintf(&plain, "%s: %s registers, %s of shared memory, %s of local memory\n", sig, regs, shared, local)
		fmt.Fprintf(&page, `<tr><td style="text-align: left"><code>%s</code></td><td>%s</td><td>%s</td><td>%s</td></tr>`, html.EscapeString(sig), regs, shared, local)
	}
	page.WriteString("</tbody></table>")
	return map[string]any{"text/plain": strings.TrimRight(plain.String(), "\n"), "text/html": page.String()}
}

// ptxListing shows each source line with the instructions that it became, in the
// order of the PTX.
func ptxListing(r *nvrtc.Result) (map[string]any, error) {
	m, err := ptx.Parse(r.PTX)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(r.Source.Text, "\n")
	var plain, page strings.Builder
	for _, f := range m.Functions {
		if len(f.Body) == 0 {
			continue
		}
		fmt.Fprintf(&plain, "%s\n", f.Name)
		fmt.Fprintf(&page, `<details open><summary><code>%s</code></summary><table style="font-family: monospace; text-align: left">`, html.EscapeString(f.Name))
		last := -1
		for i := range f.Body {
			in := &f.Body[i]
			source := ""
			if line := in.Pos.Line; in.Pos.File == 1 && line != last && line > 0 {
				last = line
				if line <= len(lines) {
					source = fmt.Sprintf("%4d  %s", line, lines[line-1])
				}
			}
			fmt.Fprintf(&plain, "%-60s %s\n", cut(source, 59), in.Text)
			fmt.Fprintf(&page, `<tr><td style="text-align: left; white-space: pre">%s</td><td style="text-align: left; white-space: pre">%s</td></tr>`, html.EscapeString(source), html.EscapeString(in.Text))
		}
		page.WriteString("</table></details>")
	}
	return map[string]any{"text/plain": strings.TrimRight(plain.String(), "\n"), "text/html": page.String()}, nil
}

package gotool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Unit is what becomes one plugin: one package of Go source.
type Unit struct {
	Path    string            // package path, unique in the session, such as "wb/s1/c12"
	Files   map[string][]byte // file name to source; the package's name is main
	Imports []string          // direct imports, except cells
	Cells   map[string]string // package path to archive of the earlier cells, all transitive ones
	Dir     string            // folder for the outputs; it must exist
	Embeds  []string          // patterns of //go:embed directives
	Base    string            // folder that they are relative to
}

// Result is a built unit.
type Result struct {
	Plugin  string // file for plugin.Open
	Archive string // file for the Cells of later units
	Compile time.Duration
	Link    time.Duration
}

// Build compiles and links a unit. Errors in the source come back as a
// CompileError; every other error is about the toolchain. Cancelling ctx ends
// the tools.
func (t *Toolchain) Build(ctx context.Context, u Unit) (Result, error) {
	var r Result
	if t.broken != nil {
		return r, t.broken
	}
	packages, err := t.archives(ctx, append(slices.Clone(u.Imports), t.basic()...))
	if err != nil {
		return r, err
	}
	stem := filepath.Join(u.Dir, strings.ReplaceAll(u.Path, "/", "_"))
	r.Archive, r.Plugin = stem+".a", stem+".so"
	start := time.Now()
	defer os.Remove(stem + ".cfg")
	defer os.RemoveAll(stem + ".src")
	if err := t.compile(ctx, u, packages, stem); err != nil {
		return r, err
	}
	r.Compile = time.Since(start)
	start = time.Now()
	if err := t.link(ctx, u, packages, stem); err != nil {
		return r, err
	}
	r.Link = time.Since(start)
	return r, nil
}

// compile writes the sources and the import configuration, and runs the
// compiler in the unit's folder, so that relative names of //line directives
// stay as they are.
func (t *Toolchain) compile(ctx context.Context, u Unit, packages map[string]compiled, stem string) error {
	src := stem + ".src"
	if err := os.MkdirAll(src, 0o755); err != nil {
		return fmt.Errorf("cannot write a cell's source: %w", err)
	}
	if err := os.WriteFile(stem+".cfg", importConfig(u, packages), 0o644); err != nil {
		return fmt.Errorf("cannot write a cell's import configuration: %w", err)
	}
	args := []string{
		"-o", stem + ".a", "-trimpath", src + "=>", "-p", u.Path, "-lang=" + language(t.record.GoVersion),
		"-complete", "-installsuffix", "dynlink", "-goversion", t.record.GoVersion,
		"-dynlink", "-nolocalimports", "-importcfg", stem + ".cfg", "-pack",
	}
	if len(u.Embeds) > 0 {
		defer os.Remove(stem + ".embed")
		if err := writeEmbeds(stem+".embed", u.Base, u.Embeds); err != nil {
			return err
		}
		args = append(args, "-embedcfg", stem+".embed")
	}
	for _, name := range slices.Sorted(maps.Keys(u.Files)) {
		if err := os.WriteFile(filepath.Join(src, name), u.Files[name], 0o644); err != nil {
			return fmt.Errorf("cannot write a cell's source: %w", err)
		}
		args = append(args, name)
	}
	stdout, stderr, err := t.run(ctx, src, filepath.Join(t.record.ToolDir, "compile"), args...)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return compileError(string(stdout)+stderr, err)
}

// importConfig names every known archive: the tools open only those they need.
func importConfig(u Unit, packages map[string]compiled) []byte {
	var b strings.Builder
	for path, p := range packages {
		fmt.Fprintf(&b, "packagefile %s=%s\n", path, p.Archive)
	}
	for path, archive := range u.Cells {
		fmt.Fprintf(&b, "packagefile %s=%s\n", path, archive)
	}
	return []byte(b.String())
}

// language is the language version of a release: "go1.26.8" speaks "go1.26".
func language(release string) string {
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 2 {
		return release
	}
	minor := strings.TrimRight(parts[1], "abcdefghijklmnopqrstuvwxyz-") // go1.27rc1
	if i := strings.IndexFunc(minor, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		minor = minor[:i]
	}
	return parts[0] + "." + minor
}

// CompileError is what the compiler had to say about a unit's source.
type CompileError struct {
	Diagnostics []Diagnostic
}

// Diagnostic is one error at a place; //line directives are respected. Column
// counts bytes from 1, and is 0 when the compiler gave none.
type Diagnostic struct {
	File    string
	Line    int
	Column  int
	Message string
}

func (d Diagnostic) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Column, d.Message)
}

func (e *CompileError) Error() string {
	lines := make([]string, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

func compileError(text string, err error) error {
	var e CompileError
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if d, ok := parseDiagnostic(line); ok {
			e.Diagnostics = append(e.Diagnostics, d)
		} else if n := len(e.Diagnostics); n > 0 && strings.HasPrefix(line, "\t") {
			e.Diagnostics[n-1].Message += "\n" + line
		}
	}
	if len(e.Diagnostics) == 0 {
		return fmt.Errorf("the Go compiler failed: %w", errors.Join(err, errors.New(strings.TrimSpace(text))))
	}
	return &e
}

// parseDiagnostic reads "file:line:column: message", where the column may be absent.
func parseDiagnostic(line string) (Diagnostic, bool) {
	place, message, ok := strings.Cut(line, ": ")
	if !ok || place == "" {
		return Diagnostic{}, false
	}
	file, last, ok := cutNumber(place)
	if !ok {
		return Diagnostic{}, false
	}
	d := Diagnostic{File: file, Line: last, Message: message}
	if file, n, ok := cutNumber(file); ok {
		d.File, d.Line, d.Column = file, n, last
	}
	return d, true
}

func cutNumber(s string) (string, int, bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return s, 0, false
	}
	n := 0
	if _, err := fmt.Sscanf(s[i+1:], "%d", &n); err != nil || strings.Trim(s[i+1:], "0123456789") != "" {
		return s, 0, false
	}
	return s[:i], n, true
}

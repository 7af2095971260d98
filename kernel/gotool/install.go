package gotool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Progress is told what is being done, and how much of it is.
type Progress func(step string, done, total int)

// shaping are the settings of the go command that change what it compiles or
// where it finds and keeps it. They are recorded from the build of the program.
var shaping = []string{
	"CGO_ENABLED", "CC", "CXX", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_LDFLAGS", "GOAMD64", "GOARM64", "GOARCH", "GOOS",
	"GOEXPERIMENT", "GOFIPS140", "GOFLAGS", "GOMODCACHE", "GOROOT", "GOWORK",
}

// Install makes the program exe, just built from the module in sourceDir by
// `go build -trimpath` with the go command in PATH, able to compile cells: it
// compiles what cells import for use in plugins, tries a cell, and leaves the
// record and the archive of types beside exe. Doing it again is cheap.
func Install(ctx context.Context, sourceDir, exe string, progress Progress) error {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	if resolved, err := filepath.EvalSymlinks(exe); err == nil {
		exe = resolved
	}
	progress("asking the Go toolchain", 0, 1)
	rec, err := makeRecord(ctx, sourceDir, exe)
	if err != nil {
		return err
	}
	t, err := open(rec, filepath.Dir(exe), exe)
	if err != nil {
		return err
	}
	t.list.forget()
	if err := t.Warm(ctx, progress); err != nil {
		return err
	}
	progress("writing the types of packages", 0, 1)
	var archive bytes.Buffer
	if err := t.WriteExports(ctx, &archive); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(filepath.Dir(exe), ExportsFile), archive.Bytes()); err != nil {
		return err
	}
	rec.Exports = ExportsFile
	data, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write the toolchain record: %w", err)
	}
	if err := replaceFile(filepath.Join(filepath.Dir(exe), RecordFile), append(data, '\n')); err != nil {
		return err
	}
	progress("writing the types of packages", 1, 1)
	t.list.prune()
	return nil
}

func makeRecord(ctx context.Context, sourceDir, exe string) (Record, error) {
	var rec Record
	source, err := filepath.Abs(sourceDir)
	if err != nil {
		return rec, fmt.Errorf("cannot find the source folder %s: %w", sourceDir, err)
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return rec, &Unavailable{NoGo, "there is no go command in PATH, so cells cannot be compiled: install Go from https://go.dev/dl"}
	}
	if goCommand, err = filepath.Abs(goCommand); err != nil {
		return rec, fmt.Errorf("cannot find the go command: %w", err)
	}
	env, err := goEnv(ctx, source, goCommand)
	if err != nil {
		return rec, err
	}
	rec = Record{
		Program: filepath.Base(exe), Source: source, Go: goCommand,
		GoVersion: env["GOVERSION"], GOROOT: env["GOROOT"], ToolDir: env["GOTOOLDIR"], CC: env["CC"],
	}
	for _, name := range shaping {
		if value, ok := env[name]; ok {
			rec.Env = append(rec.Env, name+"="+value)
		}
	}
	if rec.Module, err = moduleOf(source); err != nil {
		return rec, err
	}
	if err := checkProgram(exe, rec); err != nil {
		return rec, err
	}
	rec.ID, rec.Size, err = fingerprint(exe)
	return rec, err
}

func goEnv(ctx context.Context, dir, goCommand string) (map[string]string, error) {
	cmd := exec.CommandContext(ctx, goCommand, append([]string{"env", "-json", "GOVERSION", "GOTOOLDIR"}, shaping...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot ask the go command for its settings: %w", err)
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("cannot read the go command's settings: %w", err)
	}
	return env, nil
}

func moduleOf(source string) (string, error) {
	data, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return "", &Unavailable{NoSource, fmt.Sprintf("%s does not hold the source of Warpbook, which cells are compiled against: run this from there", source)}
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "module" {
			return strings.Trim(f[1], `"`), nil
		}
	}
	return "", fmt.Errorf("%s/go.mod names no module", source)
}

// checkProgram compares the settings that exe was built with to those that
// cells would be compiled with: plugin.Open refuses what does not match.
func checkProgram(exe string, rec Record) error {
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		return fmt.Errorf("%s is not a Go program: %w", exe, err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	const again = "build it again with `make build`"
	switch {
	case info.GoVersion != rec.GoVersion:
		return &Unavailable{WrongVersion, fmt.Sprintf("%s was built with %s, but the go command is %s now: %s", exe, info.GoVersion, rec.GoVersion, again)}
	case settings["-trimpath"] != "true":
		return &Unavailable{StaleRecord, fmt.Sprintf("%s was built without -trimpath, so compiled cells would not fit it: %s", exe, again)}
	case settings["-race"] == "true" || settings["-msan"] == "true" || settings["-asan"] == "true" || settings["-cover"] == "true":
		return &Unavailable{StaleRecord, fmt.Sprintf("%s was built to be examined (-race, -msan, -asan or -cover), and compiled cells would not fit it: %s", exe, again)}
	case settings["CGO_ENABLED"] != "1":
		return &Unavailable{NoCC, fmt.Sprintf("%s was built without cgo, so it cannot load compiled cells: install a C compiler and %s", exe, again)}
	}
	return nil
}

func fingerprint(exe string) (id string, size int64, err error) {
	f, err := os.Open(exe)
	if err != nil {
		return "", 0, fmt.Errorf("cannot read the program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, fmt.Errorf("cannot read the program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// Warm compiles what cells may import for use in plugins, where the build
// cache lacks it, and builds a cell to see that it all works.
func (t *Toolchain) Warm(ctx context.Context, progress Progress) error {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	if t.broken != nil {
		return t.broken
	}
	paths, err := t.warmSet(ctx)
	if err != nil {
		return err
	}
	const step, group = "compiling packages for cells", 25
	done := 0
	for part := range slices.Chunk(paths, group) {
		progress(step, done, len(paths))
		if _, err := t.compileAll(ctx, part); err != nil {
			return err
		}
		done += len(part)
	}
	progress(step, done, len(paths))
	return t.try(ctx)
}

// warmSet is the facades first, then the public standard library.
func (t *Toolchain) warmSet(ctx context.Context) ([]string, error) {
	patterns := []string{"std"}
	for _, f := range facades {
		if info, err := os.Stat(filepath.Join(t.record.Source, f)); err == nil && info.IsDir() {
			patterns = append(patterns, "./"+f+"/...")
		}
	}
	args := append([]string{"list", "-f", "{{.ImportPath}}\t{{.Name}}\t{{.Standard}}", "--"}, patterns...)
	out, text, err := t.run(ctx, t.record.Source, t.record.Go, args...)
	if err != nil {
		return nil, listError(ctx, patterns, text, err)
	}
	own, std := t.basic(), []string(nil)
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 3 || !t.public(compiled{Path: f[0], Name: f[1], Standard: f[2] == "true"}) {
			continue
		}
		if f[2] == "true" {
			std = append(std, f[0])
		} else {
			own = append(own, f[0])
		}
	}
	return append(own, std...), nil
}

// try builds a small cell.
func (t *Toolchain) try(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "warpbook-try-")
	if err != nil {
		return fmt.Errorf("cannot try a cell: %w", err)
	}
	defer os.RemoveAll(dir)
	source := "package main\n\nimport \"fmt\"\n\ntype Try struct{}\n\nfunc (Try) Run() { fmt.Println(1) }\n\nfunc main() {}\n"
	_, err = t.Build(ctx, Unit{Path: "wb/try", Files: map[string][]byte{"try.go": []byte(source)}, Imports: []string{"fmt"}, Dir: dir})
	if err != nil {
		return fmt.Errorf("cannot compile a cell: %w", err)
	}
	return nil
}

// Refresh lists the remembered packages again when that was last done a day or
// more ago. The go command removes from its cache what nothing asked for during
// five days, so a session calls this in the background.
func (t *Toolchain) Refresh(ctx context.Context) error {
	if t.broken != nil || t.list.memo == "" {
		return t.broken
	}
	info, err := os.Stat(t.list.memo)
	if err == nil && time.Since(info.ModTime()) < stale {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot read the list of compiled packages: %w", err)
	}
	return t.Warm(ctx, nil)
}

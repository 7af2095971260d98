package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Options says what Run installs and where.
type Options struct {
	Place   Place
	Name    string            // the kernelspec's; "" means Name
	Env     map[string]string // for the kernel's process
	Source  string            // a clone of the module; "" means look for it
	Program string            // use this program, recorded already, instead of building one

	// Record writes the toolchain record beside the program exe, built from the
	// module in source, and warms the caches.
	Record func(ctx context.Context, source, exe string, p Progress) error
}

// Result is what Run did.
type Result struct {
	Program  string
	Spec     string // the kernelspec's folder
	Changed  bool   // false: everything was up to date
	Compiler bool   // false: no Go toolchain, so cells that need the compiler will say so
	GPU      string // the program that serves GPUs, "" where there is none
	NoGPU    error  // why there is none
}

// state is install.json: what stands at a place.
type state struct {
	Hash  string   `json:"source"`        // of the source that the program was built from
	GPU   string   `json:"gpu,omitempty"` // what the program for GPUs was built from
	Build string   `json:"toolchain"`     // go version and the settings that a plugin has to share
	Specs []string `json:"kernelspecs"`
}

// Run installs the program and its kernelspec. What is up to date stays as it is.
func Run(ctx context.Context, o Options, p Progress) (Result, error) {
	name := o.Name
	if name == "" {
		name = Name
	}
	dir, err := o.Place.SpecDir(name)
	if err != nil {
		return Result{}, err
	}
	if old, err := ReadSpec(dir); err == nil && !old.ours() {
		return Result{}, fmt.Errorf("%s belongs to another kernel (it starts %s); choose another --name", dir, old.Argv[0])
	}
	r := Result{Program: o.Program, Spec: dir}
	switch _, lookErr := exec.LookPath("go"); {
	case o.Program != "":
		if r.Program, err = filepath.Abs(o.Program); err != nil {
			return r, err
		}
		if _, err := os.Stat(r.Program); err != nil {
			return r, fmt.Errorf("the program given with --program is not there: %w", err)
		}
		r.Compiler = lookErr == nil
	case lookErr != nil:
		if r.Program, err = os.Executable(); err != nil {
			return r, err
		}
	default:
		r.Compiler = true
		r.Program = o.Place.Program()
		if r.Changed, err = buildProgram(ctx, o, p); err != nil {
			return r, err
		}
	}
	r.GPU, r.NoGPU = gpuProgram(ctx, o, r.Program, p)
	p.step("Writing the kernelspec")
	changed, err := WriteSpec(dir, NewSpec(name, r.Program, o.Env))
	if err != nil {
		return r, err
	}
	r.Changed = r.Changed || changed
	return r, o.Place.remember(func(s *state) {
		if !slices.Contains(s.Specs, dir) {
			s.Specs = append(s.Specs, dir)
		}
	})
}

// buildProgram copies the source, builds the program from the copy and records
// its toolchain, unless all that has been done for this very source.
func buildProgram(ctx context.Context, o Options, p Progress) (changed bool, err error) {
	p.step("Looking at the source")
	dir, err := FindSource(ctx, o.Place, o.Source)
	if err != nil {
		return false, err
	}
	src, err := readSource(dir)
	if err != nil {
		return false, err
	}
	build, err := toolchain(ctx)
	if err != nil {
		return false, err
	}
	exe := o.Place.Program()
	old, err := o.Place.state()
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(exe); err == nil && old.Hash == src.hash && old.Build == build {
		return false, nil
	}
	copied := filepath.Join(o.Place.Root, "src", src.hash)
	p.step("Copying the source")
	if err := src.copyTo(copied); err != nil {
		return false, fmt.Errorf("the source cannot be copied to %s: %w", copied, err)
	}
	// From here to the end the place is in between: forget what it was.
	if err := o.Place.remember(func(s *state) { s.Hash, s.Build = "", "" }); err != nil {
		return false, err
	}
	p.step("Building the program")
	if err := Build(ctx, copied, exe); err != nil {
		return false, err
	}
	if o.Record != nil {
		if err := o.Record(ctx, copied, exe, p); err != nil {
			return false, fmt.Errorf("the Go toolchain cannot be recorded: %w", err)
		}
	}
	o.Place.dropOtherSources(src.hash)
	return true, o.Place.remember(func(s *state) { s.Hash, s.Build = src.hash, build })
}

// Build builds the program from the module in dir. A running program may be
// replaced: the new one is made beside it and renamed.
func Build(ctx context.Context, dir, exe string) error {
	exe, err := filepath.Abs(exe)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(exe), 0o755); err != nil {
		return fmt.Errorf("the program's folder cannot be made: %w", err)
	}
	part := exe + ".part"
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", part, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the program does not build in %s (%w): %s", dir, err, strings.TrimSpace(out.String()))
	}
	return os.Rename(part, exe)
}

// toolchain names what a program and its plugins have to share.
func toolchain(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOROOT", "CGO_ENABLED", "CC", "GOAMD64", "GOARM64", "GOEXPERIMENT").Output()
	if err != nil {
		return "", fmt.Errorf("the Go toolchain does not answer `go env`: %w; `go version` should work in this shell", err)
	}
	return runtime.GOOS + "/" + runtime.GOARCH + " " + strings.Join(strings.Split(strings.TrimSpace(string(out)), "\n"), " "), nil
}

// Uninstall removes the kernelspec called name and, when it was the last one of
// this place, the program, its source and the private Python environment. The
// history of cells stays. It returns what it removed.
func Uninstall(place Place, name string) ([]string, error) {
	if name == "" {
		name = Name
	}
	dir, err := place.SpecDir(name)
	if err != nil {
		return nil, err
	}
	var gone []string
	removed, err := RemoveSpec(dir)
	if err != nil {
		return nil, err
	}
	if removed {
		gone = append(gone, dir)
	}
	s, err := place.state()
	if err != nil {
		return gone, err
	}
	s.Specs = slices.DeleteFunc(s.Specs, func(d string) bool { return d == dir })
	if len(s.Specs) > 0 {
		return gone, place.remember(func(t *state) { t.Specs = s.Specs })
	}
	for _, part := range []string{"bin", "src", "venv", "nvrtc", "install.json"} {
		path := filepath.Join(place.Root, part)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return gone, fmt.Errorf("%s cannot be removed: %w", path, err)
		}
		gone = append(gone, path)
	}
	os.Remove(place.Root) // only when nothing else is in it
	return gone, nil
}

func (p Place) stateFile() string { return filepath.Join(p.Root, "install.json") }

// state reads install.json; where there is none, nothing is installed.
func (p Place) state() (state, error) {
	var s state
	raw, err := os.ReadFile(p.stateFile())
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("what is installed cannot be read: %w", err)
	}
	if json.Unmarshal(raw, &s) != nil {
		return state{}, nil // damaged: install anew
	}
	return s, nil
}

func (p Place) remember(change func(*state)) error {
	s, err := p.state()
	if err != nil {
		return err
	}
	change(&s)
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.Root, 0o755); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %w", p.Root, err)
	}
	_, err = writeIfChanged(p.stateFile(), append(raw, '\n'), 0o644)
	return err
}

// dropOtherSources removes the copies of older sources; one left behind does no harm.
func (p Place) dropOtherSources(hash string) {
	entries, _ := os.ReadDir(filepath.Join(p.Root, "src"))
	for _, e := range entries {
		if e.Name() != hash {
			os.RemoveAll(filepath.Join(p.Root, "src", e.Name()))
		}
	}
}

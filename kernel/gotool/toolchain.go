// Package gotool is the Go toolchain as a notebook session uses it.
//
// The model: a running warpbook can be extended only by code that the same
// toolchain compiled, with the same flags, from the same package versions.
// Install writes down which toolchain that was (a Record) beside the program,
// together with the export data of the packages that cells may import. Find
// reads it back. A Toolchain then answers two needs that are kept apart,
// because the first must work without a compiler too:
//
//   - types and documentation: Importer and Doc read those of one package at a
//     time from the archive;
//   - code: Build turns one unit of Go source into a plugin by running the
//     compiler and the linker themselves. The go command takes part only to
//     tell where the compiled packages lie (a listing), and that is remembered.
//
// Get adds modules to a session. They stand in a go.mod of the session's own,
// so neither the program's source nor another session sees them.
package gotool

import (
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
	"sync"
	"sync/atomic"
)

// RecordFile and ExportsFile are the names of what Install leaves beside the program.
const (
	RecordFile  = "warpbook.json"
	ExportsFile = "warpbook-exports.zip"
)

// Record says how the program beside it was built.
type Record struct {
	Program   string   `json:"program"`    // file name of the executable
	ID        string   `json:"id"`         // SHA-256 of the executable: names what was built for it
	Size      int64    `json:"size"`       // of the executable
	Source    string   `json:"source"`     // folder of the module that it was built from
	Module    string   `json:"module"`     // that module's path
	Go        string   `json:"go"`         // the go command
	GoVersion string   `json:"go_version"` // such as "go1.26.8"
	GOROOT    string   `json:"goroot"`
	ToolDir   string   `json:"tool_dir"` // where compile and link lie
	CC        string   `json:"cc"`       // C compiler, as go env CC says
	Env       []string `json:"env"`      // environment of the build that shapes its code
	Exports   string   `json:"exports"`  // export data archive, beside the record
}

// Reason says why cells cannot be compiled.
type Reason int

const (
	NoRecord     Reason = iota + 1 // the program was not installed
	StaleRecord                    // the record belongs to another build of the program
	NoSource                       // the program's source is gone
	NoGo                           // the recorded toolchain is gone
	WrongVersion                   // the toolchain is another version now
	NoCC                           // there is no C compiler
)

// Unavailable is the error of Find when cells cannot be compiled. Its text ends
// with what to do.
type Unavailable struct {
	Reason Reason
	Text   string
}

func (e *Unavailable) Error() string { return e.Text }

// Toolchain compiles cells and knows the types of the packages they import. It
// serves one session, whose modules it holds, and is safe for concurrent use.
type Toolchain struct {
	record  Record
	exe     string
	env     []string // the whole environment of the tools
	exports *exports // nil without an archive
	broken  error    // why Build is impossible; nil when it is possible

	list listing
	mods modules // of the session that uses this Toolchain

	importing atomic.Pointer[context.Context] // see During

	docMu sync.Mutex
	docs  map[string]*Docs

	linkMu sync.Mutex
	ld     *directLinker // nil until first used
	ldBad  bool          // the direct way failed once; the C compiler links from then on
}

// Find reads the record beside the executable exe. When cells cannot be
// compiled the error is an *Unavailable; the Toolchain is then still returned
// if the types of packages are known, and its Build returns the same error.
func Find(exe string) (*Toolchain, error) {
	if resolved, err := filepath.EvalSymlinks(exe); err == nil {
		exe = resolved
	}
	rec, err := readRecord(exe)
	if err != nil {
		return nil, err
	}
	return open(rec, filepath.Dir(exe), exe)
}

func open(rec Record, dir, exe string) (*Toolchain, error) {
	t := &Toolchain{record: rec, exe: exe, env: environ(rec.Env), docs: map[string]*Docs{}}
	t.list.memo = memoFile(rec)
	if rec.Exports != "" {
		archive, err := openExports(filepath.Join(dir, rec.Exports))
		if err != nil {
			return nil, fmt.Errorf("cannot read the types of packages, run `warpbook install` again: %w", err)
		}
		t.exports = archive
	}
	t.broken = usable(rec, exe)
	return t, t.broken
}

func readRecord(exe string) (Record, error) {
	var rec Record
	file := filepath.Join(filepath.Dir(exe), RecordFile)
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return rec, &Unavailable{NoRecord, fmt.Sprintf("there is no %s beside %s, so cells cannot be compiled: run `warpbook install` from the source of Warpbook", RecordFile, exe)}
	}
	if err != nil {
		return rec, fmt.Errorf("cannot read how this program was built, run `warpbook install` again: %w", err)
	}
	if err := json.Unmarshal(data, &rec); err != nil {
		return rec, fmt.Errorf("%s is damaged, run `warpbook install` again: %w", file, err)
	}
	return rec, nil
}

// usable checks the record against the machine, cheaply: it starts no process.
func usable(rec Record, exe string) error {
	if runtime.GOOS == "windows" {
		return &Unavailable{NoGo, "Go has no plugins on Windows, so cells cannot be compiled: use Warpbook in WSL"}
	}
	if info, err := os.Stat(exe); err == nil && rec.Size > 0 && info.Size() != rec.Size {
		return &Unavailable{StaleRecord, fmt.Sprintf("%s was built again after it was installed: run `warpbook install` or `make build`", exe)}
	}
	if _, err := os.Stat(filepath.Join(rec.Source, "go.mod")); err != nil {
		return &Unavailable{NoSource, fmt.Sprintf("the source that this program was built from is gone from %s: get it again and run `warpbook install` there", rec.Source)}
	}
	version, err := os.ReadFile(filepath.Join(rec.GOROOT, "VERSION"))
	if err != nil {
		return &Unavailable{NoGo, fmt.Sprintf("the Go toolchain that built this program is gone from %s: install %s from https://go.dev/dl and run `warpbook install`", rec.GOROOT, rec.GoVersion)}
	}
	if now, _, _ := strings.Cut(string(version), "\n"); strings.TrimSpace(now) != rec.GoVersion {
		return &Unavailable{WrongVersion, fmt.Sprintf("this program was built with %s but %s holds %s now: run `warpbook install` to build it again", rec.GoVersion, rec.GOROOT, now)}
	}
	for _, tool := range []string{filepath.Join(rec.ToolDir, "compile"), filepath.Join(rec.ToolDir, "link"), rec.Go} {
		if _, err := exec.LookPath(tool); err != nil {
			return &Unavailable{NoGo, fmt.Sprintf("%s is missing from the Go toolchain: install %s from https://go.dev/dl and run `warpbook install`", tool, rec.GoVersion)}
		}
	}
	return findCC(rec.CC)
}

func findCC(cc string) error {
	name, _, _ := strings.Cut(strings.TrimSpace(cc), " ")
	if _, err := exec.LookPath(name); err != nil {
		return &Unavailable{NoCC, fmt.Sprintf("there is no C compiler (%s), which links compiled cells: install gcc (on Debian: apt-get install gcc libc6-dev; on macOS: xcode-select --install)", cc)}
	}
	return nil
}

// environ is this process's environment with the recorded settings on top.
// The toolchain must not change or download itself, whatever go.mod says. Its
// short runs collect less garbage: that takes 5 % off a build.
func environ(recorded []string) []string {
	return slices.Concat(os.Environ(), buildCache(), recorded, []string{"GOTOOLCHAIN=local", "GOGC=400"})
}

// Usable returns nil when Build is possible, or why it is not.
func (t *Toolchain) Usable() error { return t.broken }

// Record returns how the program was built.
func (t *Toolchain) Record() Record { return t.record }

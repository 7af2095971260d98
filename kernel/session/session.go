package session

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/assist"
	"github.com/warpbook/warpbook/kernel/engine"
	"github.com/warpbook/warpbook/kernel/front"
	"github.com/warpbook/warpbook/kernel/gotool"
)

// Options say how a notebook's cells are run.
type Options struct {
	Tool    *gotool.Toolchain // knows packages' types; may be unable to compile
	Command []string          // the child: a program that calls engine.Serve
	Dir     string            // the notebook's folder
	Log     *slog.Logger
}

// Notebook is the Session of a real notebook.
type Notebook struct {
	opt  Options
	temp string // sources, archives and plugins of this session

	mu      sync.Mutex
	front   *front.Session
	cells   map[string]string // package path to archive
	mode    string            // "auto", "yaegi" or "compiled"
	cancel  context.CancelFunc
	sources map[int]string // code by count, for tracebacks
	good    []string       // cells that succeeded, for %replay
	started int            // children so far

	child  *engine.Process
	spawn  chan struct{} // closed when child is set or failed
	failed error
	id     int               // of programs
	assist *assist.Assistant // nil until used
	comms  comms

	cool context.CancelFunc // ends warm
}

// New makes a session and starts its child in the background.
func New(opt Options) (*Notebook, error) {
	if opt.Tool == nil {
		return nil, errors.New("the types of Go's packages are not known here: run `warpbook install`")
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	temp, err := tempFolder()
	if err != nil {
		return nil, fmt.Errorf("make a folder for compiled cells (TMPDIR may name another place for it): %w", err)
	}
	s := &Notebook{opt: opt, temp: temp, mode: "auto", sources: map[int]string{}}
	s.reset()
	ctx, cancel := context.WithCancel(context.Background())
	s.cool = cancel
	go s.warm(ctx)
	return s, nil
}

// reset forgets everything declared and starts a fresh child.
func (s *Notebook) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	s.opt.Tool.Fresh()
	fset := token.NewFileSet()
	s.front = front.New(fmt.Sprintf("wb/s%d/c", s.started), fset, s.opt.Tool.Importer(fset), packagesByName(s.opt.Tool.Packages()))
	s.cells = map[string]string{}
	s.assist = nil
	s.comms.reset()
	old := s.child
	s.child, s.failed = nil, nil
	s.spawn = make(chan struct{})
	go s.start(old, s.spawn)
}

func (s *Notebook) start(old *engine.Process, spawned chan struct{}) {
	defer close(spawned)
	if old != nil {
		if err := old.Close(); err != nil {
			s.opt.Log.Warn("close the old session", "error", err)
		}
	}
	child, err := engine.Start(context.Background(), engine.Options{
		Command: s.opt.Command, Dir: s.opt.Dir, Env: append(os.Environ(), "WARPBOOK=1"), Events: quiet{s.opt.Log},
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.child, s.failed = child, err
}

// process waits for the child.
func (s *Notebook) process(ctx context.Context) (*engine.Process, error) {
	s.mu.Lock()
	spawned := s.spawn
	s.mu.Unlock()
	select {
	case <-spawned:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.child, s.failed
}

// Interrupt stops the running cell, if any.
func (s *Notebook) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

// Close ends the child and removes what was compiled.
func (s *Notebook) Close() error {
	s.cool()
	s.Interrupt()
	child, _ := s.process(context.Background())
	var err error
	if child != nil {
		err = child.Close()
	}
	return errors.Join(err, os.RemoveAll(s.temp))
}

// nextID numbers the programs of the session.
func (s *Notebook) nextID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id++
	return s.id
}

// folder is where relative paths of the notebook start.
func (s *Notebook) folder() string {
	if s.opt.Dir != "" {
		return s.opt.Dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return dir
}

func (s *Notebook) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.folder(), name)
}

// packagesByName indexes the packages that are imported without being asked
// for. Of several with one name the everyday one comes first.
func packagesByName(all []gotool.Package) front.Packages {
	byName := map[string][]string{}
	for _, p := range all {
		if p.Standard || p.Own || p.Got {
			byName[p.Name] = append(byName[p.Name], p.Path)
		}
	}
	got := map[string]bool{}
	for _, p := range all {
		got[p.Path] = p.Got
	}
	everyday := []string{"math/rand", "text/template", "text/scanner", "go/token", "html/template", "crypto/rand"}
	for _, paths := range byName {
		slices.SortStableFunc(paths, func(a, b string) int {
			if got[a] != got[b] { // what was got comes last: its names must not change what the others mean
				if got[a] {
					return 1
				}
				return -1
			}
			return rank(everyday, a) - rank(everyday, b)
		})
	}
	return front.Packages{Names: slices.Sorted(maps.Keys(byName)), ByName: byName}
}

func rank(list []string, s string) int {
	if i := slices.Index(list, s); i >= 0 {
		return i
	}
	return len(list) + len(s)
}

// quiet takes what the child says before the first cell: the log does.
type quiet struct{ log *slog.Logger }

func (q quiet) Stream(name, text string) { q.log.Info("the session says", "on", name, "text", text) }
func (q quiet) Publish(display.Message)  {}
func (q quiet) Comm(engine.Comm)         {}
func (q quiet) Input(context.Context, string, bool) (string, error) {
	return "", ErrNoStdin
}

// Package runner runs workshops from the command line.
//
// The model: Options select workshops; for each, the learner's file (or the
// reference solution) is loaded and the workshop's checks run on its functions;
// the worst result is the exit code. A file is parsed and type-checked as Go
// would, so that its mistakes have Go's words and positions, and then
// interpreted, with guards that end endless loops and endless recursion.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/warpbook/warpbook/cuda"
	"github.com/warpbook/warpbook/cuda/nvrtc"
	"github.com/warpbook/warpbook/workshops"
)

// Exit codes of Run. Of several results the first of Failed, Unfinished and
// Unavailable counts.
const (
	OK          = 0 // every selected check passed
	Failed      = 1 // a check failed, or the exercise did not load
	Unfinished  = 2 // something is still to do
	Unavailable = 3 // nothing was selected, or the device cannot be had
)

// All is the target that selects every workshop.
const All = "all"

// Options say what to run; their zero value checks all CPU workshops.
type Options struct {
	Target     string // a workshop's id, or All; "" is All
	Level      string // "all", "intermediate" or "advanced"; "" is "all"
	List       bool   // list the selected workshops instead of checking them
	Hint       bool   // print hints; loads neither exercise nor device
	Solution   bool   // check the reference solutions, not the learner's work
	Start      bool   // write the starter of the workshop for the learner
	IncludeGPU bool   // let All select GPU workshops
	Device     string // "auto", "gpu" or "sim"; "" is "auto"
	More       int    // further checks of random shapes, of workshops that have such
	Seed       uint64 // of those shapes
	Sanitize   string // compute-sanitizer's tool for a GPU; "" is none
	Schedules  int    // orders of blocks and warps that the simulator tries; 0 is one
	Verbose    bool   // also say where time went and what the exercise printed
	File       string // the exercise's file; "" is exercises/ID.go in Dir
	Dir        string // working directory; "" is the current one

	Limit     time.Duration                       // for one check; 0 is the workshop's own
	Progress  func(done, total int, name string)  // is told of checks; may be nil
	Workshops []workshops.Workshop                // nil: those that are registered
	Importer  func(*token.FileSet) types.Importer // types of the standard library; nil: from the installed program, or the go command
}

// job is one run with its defaults filled in.
type job struct {
	Options
	out, err io.Writer
}

// Run does what the options ask for and returns the exit code. What the learner
// asked for goes to stdout, and what went wrong with asking to stderr.
func Run(ctx context.Context, o Options, stdout, stderr io.Writer) int {
	j := job{Options: o, out: stdout, err: stderr}
	j.Target = cmp.Or(j.Target, All)
	j.Level = cmp.Or(j.Level, "all")
	j.Device = cmp.Or(j.Device, "auto")
	if j.Workshops == nil {
		j.Workshops = workshops.All()
	}
	selected, err := j.selection()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return Unavailable
	}
	switch {
	case j.List:
		return j.list(selected)
	case j.Hint:
		for _, w := range selected {
			fmt.Fprintf(stdout, "Hint for %s: %s\n\n%s\n", w.ID, w.Title, strings.TrimRight(w.Hint, "\n"))
		}
		return OK
	case j.Start:
		return j.start(selected)
	}
	if err := j.configure(); err != nil {
		fmt.Fprintln(stderr, err)
		return Unavailable
	}
	if j.Progress != nil {
		ctx = workshops.WithProgress(ctx, j.Progress)
	}
	ctx = workshops.WithDevice(ctx, j.Device)
	if slices.ContainsFunc(selected, func(w workshops.Workshop) bool { return w.Device == workshops.GPU }) {
		j.sayDevice()
	}
	worst := OK
	reports := make([]workshops.Report, 0, len(selected))
	for _, w := range selected {
		code, report := j.check(ctx, w)
		worst = worse(worst, code)
		reports = append(reports, report)
	}
	if len(selected) > 1 {
		j.summary(reports)
	}
	return worst
}

// sayDevice names what the checks run on, so that a log says it. A device that cannot be
// had is told by the workshops that need it.
func (j *job) sayDevice() {
	dev, err := cuda.Open(j.Device)
	if err != nil {
		return
	}
	info, err := dev.Info()
	if err != nil {
		return
	}
	line := fmt.Sprintf("Device: %v, %s", dev, info.Name)
	if info.Kind == "gpu" {
		line += fmt.Sprintf(", driver %s, CUDA %s", info.Driver, info.CUDA)
		if j.Sanitize != "" {
			line += ", under compute-sanitizer's " + j.Sanitize
		}
	}
	fmt.Fprintf(j.out, "%s\n\n", line)
}

// configure sets how kernels run.
func (j *job) configure() error {
	if j.Sanitize != "" {
		if err := cuda.Configure("sanitize", j.Sanitize); err != nil {
			return err
		}
	}
	if j.Schedules > 0 {
		return cuda.Configure("schedules", strconv.Itoa(j.Schedules))
	}
	return nil
}

// summary counts the checks of several workshops.
func (j *job) summary(reports []workshops.Report) {
	passed, all := 0, 0
	for _, r := range reports {
		passed += r.Count(workshops.Pass)
		all += len(r.Results)
	}
	fmt.Fprintf(j.out, "\n%d of %d checks of %d workshops passed.\n", passed, all, len(reports))
}

// worse orders exit codes: failed outranks unfinished outranks unavailable.
func worse(a, b int) int {
	rank := [...]int{OK: 0, Unavailable: 1, Unfinished: 2, Failed: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// selection returns the workshops that the options mean, at least one.
func (j *job) selection() ([]workshops.Workshop, error) {
	if !oneOf(j.Level, "all", string(workshops.Intermediate), string(workshops.Advanced)) {
		return nil, fmt.Errorf("there is no level %q; use all, intermediate or advanced", j.Level)
	}
	if !oneOf(j.Device, "auto", "gpu", "sim") {
		return nil, fmt.Errorf("there is no device %q; use auto, gpu or sim", j.Device)
	}
	if j.Target != All {
		w, err := workshops.Find(j.Workshops, j.Target)
		if err != nil {
			return nil, err
		}
		if !j.atLevel(w) {
			return nil, fmt.Errorf("nothing is selected: %s is of level %s, not %s", w.ID, w.Level, j.Level)
		}
		return []workshops.Workshop{w}, nil
	}
	var selected []workshops.Workshop
	gpu := 0
	for _, w := range j.Workshops {
		switch {
		case !j.atLevel(w):
		case w.Device == workshops.GPU && !j.IncludeGPU && !j.List && !j.Hint:
			gpu++
		default:
			selected = append(selected, w)
		}
	}
	switch {
	case len(selected) == 0 && gpu > 0:
		return nil, fmt.Errorf("nothing is selected: all %d workshops of level %s need a GPU; add --include-gpu, or name one", gpu, j.Level)
	case len(selected) == 0:
		return nil, fmt.Errorf("nothing is selected: there is no workshop of level %s; --list shows what there is", j.Level)
	case j.File != "" && len(selected) > 1:
		return nil, fmt.Errorf("%s can be the exercise of one workshop only; name the workshop", j.File)
	}
	return selected, nil
}

func (j *job) atLevel(w workshops.Workshop) bool {
	return j.Level == "all" || j.Level == string(w.Level)
}

func oneOf(s string, values ...string) bool {
	for _, v := range values {
		if s == v {
			return true
		}
	}
	return false
}

func (j *job) list(selected []workshops.Workshop) int {
	tw := tabwriter.NewWriter(j.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tLEVEL\tDEVICE\tCHECKS\tTITLE\tLESSON")
	for _, w := range selected {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%s\t%s\n", w.ID, w.Level, w.Device, len(w.Checks), w.Title, w.Lesson)
	}
	if err := tw.Flush(); err != nil {
		return Failed // nobody reads what we print
	}
	return OK
}

// check runs one workshop and prints its report.
func (j *job) check(ctx context.Context, w workshops.Workshop) (int, workshops.Report) {
	none := workshops.Report{ID: w.ID, Title: w.Title}
	if w.Available != nil {
		if err := w.Available(j.Device); err != nil {
			fmt.Fprintf(j.out, "%s (%s)\n  not available: %v\n", w.Title, w.ID, err)
			return Unavailable, none
		}
	}
	src, err := j.source(w)
	if err != nil {
		fmt.Fprintln(j.out, err)
		return Failed, none
	}
	fmt.Fprintf(j.out, "%s\n\n", src.banner)
	e, err := j.load(ctx, w, src)
	if errors.Is(err, nvrtc.ErrNotFound) {
		fmt.Fprintf(j.out, "%s (%s)\n  not available: %v\n", w.Title, w.ID, err)
		return Unavailable, none
	}
	if err != nil {
		fmt.Fprintf(j.out, "%s (%s)\n%v\nThe exercise did not load, so no check was run.\n", w.Title, w.ID, err)
		return Failed, none
	}
	if j.More > 0 && w.More != nil {
		w.Checks = append(slices.Clone(w.Checks), w.More(j.More, j.Seed)...)
	}
	report := e.run(ctx, w, j.Limit)
	fmt.Fprint(j.out, report)
	if j.Verbose {
		j.explain(report, e)
	}
	return code(report), report
}

// code is the exit code of a report. A check that was not run is not passed.
func code(r workshops.Report) int {
	switch {
	case r.Err != nil || r.Count(workshops.Fail)+r.Count(workshops.Broken) > 0:
		return Failed
	case !r.Passed():
		return Unfinished
	}
	return OK
}

// explain adds what --verbose asks for.
func (j *job) explain(report workshops.Report, e *exercise) {
	fmt.Fprintf(j.out, "\nFunctions of each check, and its time:\n")
	for _, r := range report.Results {
		fmt.Fprintf(j.out, "  %-44s %-40s %v\n", r.Name, strings.Join(r.Needs, ", "), r.Elapsed.Round(time.Microsecond))
	}
	if e.untyped != nil {
		fmt.Fprintf(j.out, "\nThe types were not checked before the run: %v\n", e.untyped)
	}
}

package runner_test

import (
	"context"
	"errors"
	"testing"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/online"
	"github.com/warpbook/warpbook/workshops/runner"
)

// poison is a text that no run may load.
const poison = "this is not Go"

// made makes a workshop without functions whose one check ends with err. Its
// exercise is a file of Go without content.
func made(id string, level workshops.Level, device workshops.Device, err error) workshops.Workshop {
	empty := []workshops.File{{Name: id + ".go", Text: "package exercise"}}
	w := workshops.Workshop{ID: id, Title: "Title of " + id, Level: level, Device: device, Starter: empty, Solution: empty, Hint: "hint of " + id,
		Bind:   func(map[string]any) (any, error) { return 0, nil },
		Checks: []workshops.NamedCheck{workshops.On("check of "+id, "", func(context.Context, int) error { return err })}}
	if device == workshops.GPU {
		w.Available = func(device string) error { return errors.New("no " + device + " device") }
	}
	return w
}

var (
	passes = made("passes", workshops.Intermediate, workshops.CPU, nil)
	fails  = made("fails", workshops.Advanced, workshops.CPU, &workshops.Failure{Property: "1 is 2"})
	todo   = made("todo", workshops.Advanced, workshops.CPU, workshops.TODO("all of it"))
	gpu    = made("gpu", workshops.Intermediate, workshops.GPU, nil)
)

func TestSelection(t *testing.T) {
	for _, test := range []struct {
		name  string
		all   []workshops.Workshop
		o     runner.Options
		code  int
		want  []string
		lacks []string
	}{
		{"all means the CPU", []workshops.Workshop{passes, gpu}, runner.Options{}, 0, []string{"check of passes"}, []string{"Title of gpu"}},
		{"all, spelt out", []workshops.Workshop{passes}, runner.Options{Target: "all", Level: "all", Device: "sim"}, 0, []string{"check of passes"}, nil},
		{"by name", []workshops.Workshop{passes, fails}, runner.Options{Target: "passes"}, 0, []string{"check of passes"}, []string{"fails"}},
		{"by level", []workshops.Workshop{passes, fails}, runner.Options{Level: "intermediate"}, 0, []string{"check of passes"}, []string{"fails"}},
		{"unknown name", []workshops.Workshop{passes, fails}, runner.Options{Target: "pass"}, 3, []string{`no workshop "pass"; choose one of: passes, fails`}, nil},
		{"name of another level", []workshops.Workshop{passes}, runner.Options{Target: "passes", Level: "advanced"}, 3, []string{"nothing is selected"}, nil},
		{"empty level", []workshops.Workshop{passes}, runner.Options{Level: "advanced"}, 3, []string{"nothing is selected"}, nil},
		{"unknown level", []workshops.Workshop{passes}, runner.Options{Level: "easy"}, 3, []string{`no level "easy"`}, nil},
		{"unknown device", []workshops.Workshop{passes}, runner.Options{Device: "tpu"}, 3, []string{`no device "tpu"`}, nil},
		{"only GPU work", []workshops.Workshop{gpu}, runner.Options{}, 3, []string{"add --include-gpu"}, nil},
		{"one file for two", []workshops.Workshop{passes, fails}, runner.Options{File: "x.go"}, 3, []string{"name the workshop"}, nil},

		{"unavailable is not a pass", []workshops.Workshop{gpu}, runner.Options{Target: "gpu", Device: "sim"}, 3, []string{"not available: no sim device"}, []string{"passed"}},
		{"a named GPU workshop is attempted", []workshops.Workshop{passes, gpu}, runner.Options{Target: "gpu"}, 3, []string{"no auto device"}, nil},
		{"unavailable among passes", []workshops.Workshop{passes, gpu}, runner.Options{IncludeGPU: true}, 3, []string{"check of passes", "not available"}, nil},
		{"unfinished outranks unavailable", []workshops.Workshop{gpu, todo, passes}, runner.Options{IncludeGPU: true}, 2, []string{"to do"}, nil},
		{"failed outranks unfinished", []workshops.Workshop{fails, todo, gpu}, runner.Options{IncludeGPU: true}, 1, []string{"1 is 2", "to do", "not available"}, nil},
		{"order does not matter", []workshops.Workshop{gpu, todo, fails}, runner.Options{IncludeGPU: true}, 1, nil, nil},

		{"list", []workshops.Workshop{passes, gpu}, runner.Options{List: true}, 0, []string{"passes", "intermediate", "gpu", "Title of gpu"}, []string{"check of"}},
		{"list by level", []workshops.Workshop{passes, fails}, runner.Options{List: true, Level: "advanced"}, 0, []string{"fails"}, []string{"passes"}},
		{"hints", []workshops.Workshop{passes, gpu}, runner.Options{Hint: true}, 0, []string{"hint of passes", "hint of gpu"}, []string{"available", "check of"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.o.Workshops = test.all
			r := run(t, test.o, "")
			r.want(t, test.code, test.want...)
			r.lacks(t, test.lacks...)
		})
	}
}

// A hint loads neither exercise nor device: both would fail here.
func TestHintLoadsNothing(t *testing.T) {
	w := online.Workshop()
	w.Available = func(string) error { t.Error("the device was asked for"); return nil }
	w.Bind = func(map[string]any) (any, error) { t.Error("the exercise was bound"); return nil, nil }
	r := run(t, runner.Options{Workshops: []workshops.Workshop{w}, Hint: true, Target: w.ID}, poison)
	r.want(t, runner.OK, "Two loops.")
	r.lacks(t, "syntax error")
}

// The registered workshops are those that exist.
func TestRegistered(t *testing.T) {
	run(t, runner.Options{List: true}, "").want(t, runner.OK, "online_normalizer", "advanced", "cpu", "11", "notebooks/04_online_normalizer.ipynb")
}

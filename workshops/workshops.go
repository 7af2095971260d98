// Package workshops is what a cell and the command line know of workshops.
//
// The model: a Workshop is an exercise with named checks, in order. A learner's
// functions are bound to it, each check runs them and returns nil or says what
// is wrong, and a Report collects the results; it shows itself as a table in a
// notebook and as text on a terminal. The package is a thin facade, because
// cells link it: each workshop is a package of its own that registers itself
// and is linked into the program only.
package workshops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Level is how much a workshop asks for.
type Level string

// The levels of workshops.
const (
	Intermediate Level = "intermediate"
	Advanced     Level = "advanced"
)

// Device is what a workshop's checks run on.
type Device string

// The devices of workshops.
const (
	CPU Device = "cpu"
	GPU Device = "gpu"
)

// File is a source text that belongs to a workshop.
type File struct{ Name, Text string }

// Workshop is an exercise, its texts and its checks.
type Workshop struct {
	ID     string // "online_normalizer", which names it everywhere
	Number int    // its place among the lessons
	Title  string
	Level  Level
	Device Device

	Starter  []File // what the learner begins with: it compiles, and is all TODO
	Solution []File // the reference, in files of their own that no starter imports
	Hint     string // a nudge, not the answer
	Lesson   string // path of the lesson's notebook in the project

	// Functions are the learner's, in the order in which the lesson asks for them.
	Functions []Function
	// Bind turns functions, checked to be of the shapes above, into the value
	// that the checks run; those that the learner did not give are missing.
	Bind func(given map[string]any) (exercise any, err error)
	// Available says why device ("auto", "gpu", "sim") cannot run the checks;
	// nil means that they run everywhere.
	Available func(device string) error

	Checks []NamedCheck
	// More makes n more checks, of random shapes that a seed determines; nil for none.
	More func(n int, seed uint64) []NamedCheck
	// Limit is the time that one check may take; 0 is DefaultLimit.
	Limit time.Duration
}

// Function is one of the functions that a learner writes.
type Function struct {
	Name string
	Want string // its signature, for messages
	// Accepts says whether fn, a function of any type, has the right shape.
	Accepts func(fn any) bool
}

// NamedCheck is one test of an exercise.
type NamedCheck struct {
	Name  string
	Needs []string // the functions that it calls
	// Run returns nil when the property holds, a *Failure when it does not, and
	// TODO when the learner has not come to it.
	Run func(ctx context.Context, exercise any) error
}

// On makes a check of an exercise of type E; needs are the functions it calls,
// separated by spaces.
func On[E any](name, needs string, run func(context.Context, E) error) NamedCheck {
	return NamedCheck{Name: name, Needs: strings.Fields(needs), Run: func(ctx context.Context, exercise any) error {
		e, ok := exercise.(E)
		if !ok {
			return fmt.Errorf("the workshop binds a %T, and its check %q runs another type; report this as a bug", exercise, name)
		}
		return run(ctx, e)
	}}
}

// registry holds the workshops of this program: package-level state because a
// compiled cell reaches the program through nothing but this package.
var registry struct {
	sync.RWMutex
	all []Workshop
}

// Register adds a workshop; a package of a workshop calls it from init. Two
// workshops with one id are a mistake of the program.
func Register(w Workshop) {
	registry.Lock()
	defer registry.Unlock()
	for _, other := range registry.all {
		if other.ID == w.ID {
			panic(fmt.Sprintf("workshops: %q is registered twice", w.ID))
		}
	}
	registry.all = append(registry.all, w)
	slices.SortStableFunc(registry.all, func(a, b Workshop) int { return cmp.Compare(a.Number, b.Number) })
}

// All returns the registered workshops by number.
func All() []Workshop {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Clone(registry.all)
}

// Find returns the workshop of that id among all; the error lists the ids.
func Find(all []Workshop, id string) (Workshop, error) {
	var ids []string
	for _, w := range all {
		if w.ID == id {
			return w, nil
		}
		ids = append(ids, w.ID)
	}
	if len(ids) == 0 {
		return Workshop{}, fmt.Errorf("there is no workshop %q: this program holds none; run the cell in the Warpbook kernel", id)
	}
	return Workshop{}, fmt.Errorf("there is no workshop %q; choose one of: %s", id, strings.Join(ids, ", "))
}

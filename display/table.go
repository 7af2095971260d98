package display

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Alignment is where the text of a column stands.
type Alignment int

const (
	Auto   Alignment = iota // numbers right, everything else left
	Left                    // at the left edge
	Right                   // at the right edge
	Center                  // in the middle
)

// Order says which values of a column are best.
type Order int

const (
	Lowest  Order = iota + 1 // times, errors
	Highest                  // rates, scores
)

// maxRows is how many rows a table shows.
const maxRows = 1000

// TableView is a table being built. It is a value: it is shown when it ends a
// cell, by Show, or as part of something else that is shown.
type TableView struct {
	mu      sync.Mutex
	title   string
	caption string
	columns []*column
	shown   []string // column names in order; nil: all
	rows    int
	notes   []string
	known   map[reflect.Type][]reflect.StructField // fields of the rows' types
}

// column is one column with how it looks.
type column struct {
	name   string
	unit   string
	format string
	align  Alignment
	best   Order
	cells  []any // nil: empty
}

// Table makes a table of rows: a slice of structs or maps (their fields and keys
// are the columns), a [][]string or [][]any (its first row is the header), a map
// of slices (its columns), a map or a struct (two columns), or a slice.
//
// A field's tag can say how its column looks, or leave it out:
//
//	Time  float64 `display:"time,unit=us,format=%.2f,align=right,best=lowest"`
//	Inner int     `display:"-"`
func Table(rows any) *TableView {
	t := &TableView{}
	if err := t.fill(rows); err != nil {
		t.note("display.Table: %v", err)
	}
	return t
}

// Title sets the line above the table.
func (t *TableView) Title(s string) *TableView {
	return t.set(func() { t.title = s })
}

// Caption sets the line below the table.
func (t *TableView) Caption(s string) *TableView {
	return t.set(func() { t.caption = s })
}

// Columns chooses the columns and their order.
func (t *TableView) Columns(names ...string) *TableView {
	return t.set(func() {
		t.shown = nil
		for _, name := range names {
			if t.find(name) != nil {
				t.shown = append(t.shown, name)
			}
		}
	})
}

// Unit names the unit of a column; it stands in the header.
func (t *TableView) Unit(name, unit string) *TableView {
	return t.change(name, func(c *column) { c.unit = unit })
}

// Format sets how fmt writes the values of a column, for example "%.3g". Without
// a column name, it is for all columns of floating-point numbers.
func (t *TableView) Format(format string, names ...string) *TableView {
	return t.set(func() {
		for _, c := range t.columns {
			if len(names) == 0 && c.hasFloats() {
				c.format = format
			}
		}
		for _, name := range names {
			if c := t.find(name); c != nil {
				c.format = format
			}
		}
	})
}

// Align sets where the text of columns stands.
func (t *TableView) Align(a Alignment, names ...string) *TableView {
	return t.set(func() {
		for _, name := range names {
			if c := t.find(name); c != nil {
				c.align = a
			}
		}
	})
}

// Best highlights the lowest or the highest values of a column.
func (t *TableView) Best(name string, o Order) *TableView {
	return t.change(name, func(c *column) { c.best = o })
}

// Show shows the table now.
func (t *TableView) Show() *Handle { return Show(t) }

// MIMEBundle returns the table as HTML and as aligned text.
func (t *TableView) MIMEBundle() map[string]any {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.layout()
	return map[string]any{"text/html": g.html(), "text/plain": g.text()}
}

// String is the table as aligned text.
func (t *TableView) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.layout().text()
}

func (t *TableView) set(change func()) *TableView {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	return t
}

func (t *TableView) change(name string, change func(*column)) *TableView {
	return t.set(func() {
		if c := t.find(name); c != nil {
			change(c)
		}
	})
}

func (t *TableView) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(t.notes, n) {
		t.notes = append(t.notes, n)
	}
}

// find returns the column, or notes under the table that there is none.
func (t *TableView) find(name string) *column {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		if c.name == name {
			return c
		}
		names[i] = c.name
	}
	t.note("no column %q; the columns are %s", name, strings.Join(names, ", "))
	return nil
}

func (c *column) hasFloats() bool {
	return slices.ContainsFunc(c.cells, func(v any) bool {
		return v != nil && reflect.ValueOf(v).CanFloat()
	})
}

// number is a cell's value as a number that can be compared.
func number(cell any) (float64, bool) {
	v := reflect.ValueOf(cell)
	switch {
	case !v.IsValid():
		return 0, false
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// numeric reports whether all cells that are not empty are numbers.
func (c *column) numeric() bool {
	some := false
	for _, cell := range c.cells {
		if cell == nil {
			continue
		}
		if _, ok := number(cell); !ok {
			return false
		}
		some = true
	}
	return some
}

// bestValue is the value that Best highlights; false without one.
func (c *column) bestValue() (best float64, found bool) {
	for _, cell := range c.cells {
		x, ok := number(cell)
		if !ok || c.best == 0 || math.IsNaN(x) {
			continue
		}
		if !found || c.best == Lowest && x < best || c.best == Highest && x > best {
			best, found = x, true
		}
	}
	return best, found
}

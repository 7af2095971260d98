package display

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// Renderers are the heavy parts of the package. A nil member means that values
// of its kind are shown as text. Package render has them all.
type Renderers struct {
	PNG   func(image.Image) ([]byte, error)
	JPEG  func(m image.Image, quality int) ([]byte, error)
	Chart func(Figure) (svg string, err error)
	// Value represents a value that this package does not know, such as a
	// *plot.Plot. It returns nil for values that it does not know either.
	Value func(any) (data map[string]any, err error)
}

// connection is where messages go and who draws pictures.
type connection struct {
	host   Host // nil: a terminal
	render Renderers
}

// process is the package's only state: the connection of this process, which
// Connect sets once, and its comms.
var process struct {
	conn  atomic.Pointer[connection]
	comms comms
	plain sync.Mutex // one message at a time on a terminal
}

// Connect names the host and the renderers of this process. The main program
// calls it once, before the first cell runs. Without a host, text/plain goes to
// standard output.
func Connect(h Host, r Renderers) {
	process.conn.Store(&connection{host: h, render: r})
}

// Connected reports whether a host takes the messages of this process.
func Connected() bool { return current().host != nil }

func current() *connection {
	if c := process.conn.Load(); c != nil {
		return c
	}
	return &connection{}
}

// publish hands m to the host, or prints it where there is none.
func publish(m Message) error {
	if h := current().host; h != nil {
		if err := h.Publish(m); err != nil {
			return fmt.Errorf("the output did not reach the front end: %w", err)
		}
		return nil
	}
	return printPlain(m)
}

// errNoText is a bundle that a terminal cannot show.
var errNoText = errors.New("the output has no text/plain to show on a terminal; add one to its bundle")

func printPlain(m Message) error {
	if m.Kind == Clear {
		return nil // what a terminal or a file has taken stays
	}
	text, ok := m.Bundle.Data["text/plain"].(string)
	if !ok {
		return errNoText
	}
	if text == "" {
		return nil
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	process.plain.Lock()
	defer process.plain.Unlock()
	if _, err := os.Stdout.WriteString(text); err != nil {
		return fmt.Errorf("standard output takes no more output: %w", err)
	}
	return nil
}

// newID returns an id that no other output of the notebook has.
func newID() string {
	return fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
}

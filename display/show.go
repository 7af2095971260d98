package display

import "sync"

// A Handle is an output that has been shown. It can be updated in place,
// wherever in the notebook it stands. A handle that ends a cell is not shown
// again; Show shows it a second time, and updates then reach both places.
type Handle struct {
	id string

	mu   sync.Mutex // also keeps updates in order
	last Bundle
	err  error
}

// Show shows values at once, several side by side as one output.
func Show(values ...any) *Handle {
	if len(values) == 1 {
		if h, ok := values[0].(*Handle); ok && h != nil {
			h.send(Data, h.bundle())
			return h
		}
	}
	return showBundle(Render(values...))
}

// Display is Show, under the name that users of IPython look for.
func Display(values ...any) *Handle { return Show(values...) }

// ShowResult shows the values of a cell's last expression as its result. It
// leaves out handles, because what they stand for is on the page already. The
// code that the kernel makes of a cell calls it; cells themselves use Show.
func ShowResult(values ...any) error {
	kept := make([]any, 0, len(values))
	for _, v := range values {
		if _, shown := v.(*Handle); !shown {
			kept = append(kept, v)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return publish(Message{Kind: Result, Bundle: Render(kept...)})
}

// UpdateDisplay puts values in the place of the output with the given id, which
// Handle.ID tells or ShowAs chose.
func UpdateDisplay(id string, values ...any) *Handle {
	h := &Handle{id: id}
	h.send(Update, Render(values...))
	return h
}

// ShowAs is Show with an id of the caller's choice.
func ShowAs(id string, values ...any) *Handle {
	h := &Handle{id: id}
	h.send(Data, Render(values...))
	return h
}

// ClearOutput removes what the cell has shown so far. With wait, it is removed
// only when the next output comes, so that an animation does not flicker.
func ClearOutput(wait bool) error {
	return publish(Message{Kind: Clear, Wait: wait})
}

func showBundle(b Bundle) *Handle {
	h := &Handle{id: newID()}
	h.send(Data, b)
	return h
}

func (h *Handle) send(k Kind, b Bundle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = b
	h.err = publish(Message{Kind: k, Bundle: b, ID: h.id})
}

func (h *Handle) bundle() Bundle {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// ID is the display id of the output.
func (h *Handle) ID() string { return h.id }

// Err tells why the last message of the handle did not arrive; nil if it did.
func (h *Handle) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// Update puts values in the place of what the handle shows now. Use As to give
// content of a MIME type: h.Update(display.As("text/latex", "$x$")).
func (h *Handle) Update(values ...any) *Handle {
	h.send(Update, Render(values...))
	return h
}

// HTML updates the output to HTML.
func (h *Handle) HTML(s string) *Handle { return h.Update(htmlBundle(s)) }

// Markdown updates the output to Markdown.
func (h *Handle) Markdown(s string) *Handle { return h.Update(markdownBundle(s)) }

// Text updates the output to plain text.
func (h *Handle) Text(s string) *Handle { return h.Update(As("text/plain", s)) }

// Clear makes the output empty. Its place stays, and a later Update fills it.
func (h *Handle) Clear() *Handle {
	h.send(Update, Bundle{Data: map[string]any{"text/plain": "", "text/html": ""}})
	return h
}

// MIMEBundle returns what the handle shows.
func (h *Handle) MIMEBundle() map[string]any { return h.bundle().Data }

// MIMEMetadata returns the metadata of what the handle shows.
func (h *Handle) MIMEMetadata() map[string]any { return h.bundle().Metadata }

// String names the handle.
func (h *Handle) String() string { return "display handle " + h.id }

// Package display shows rich output from a cell.
//
// The model: everything shown is a Bundle, a map from MIME type to content. A
// Message carries a bundle, or the wish to clear, to whoever shows it: the
// notebook's front end when the program runs in a kernel, a terminal otherwise.
// The package is a thin facade, because cells link it: whatever needs heavy
// libraries (plots, picture encoders) is a Renderer that the main program
// registers through Connect.
//
// The five most useful calls:
//
//	display.Show(v)                              // any value, as the last line of a cell shows it
//	display.HTML("<b>fast</b>")                  // also Markdown, LaTeX, SVG, JSON, Image, VegaLite, Text
//	display.Table(rows).Unit("time", "us")       // slices of structs or maps, with Best, Format, Align
//	display.Line("speed", xs, ys).LogX()         // also Scatter, Bars, Histogram, and Plot for several series
//	for i := range display.Track(n, "training") {} // a progress bar around a loop
//
// Two rules cover all calls. What is given finished (HTML, Show, Image) is shown
// at once, and returns a Handle with which it can be updated or cleared; a
// handle that ends a cell is not shown again. What is built step by step (Table
// and the charts) is a value: it is shown when it ends the cell, or by its Show
// method, or by Show.
//
// A type shows itself by a method MIMEBundle() map[string]any, and optionally
// MIMEMetadata() map[string]any.
//
// All functions and methods may be called from several goroutines.
package display

// Bundle is one piece of output in several representations. Data maps a MIME
// type to a string, to []byte (sent base64 encoded) or, for JSON types, to any
// value that encoding/json accepts. Metadata maps a MIME type, or a key of the
// front end's, to its metadata.
type Bundle struct {
	Data     map[string]any `json:"data"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Kind says what a Message asks for. The values are the protocol's own names.
type Kind string

const (
	Data   Kind = "display_data"
	Update Kind = "update_display_data"
	Result Kind = "execute_result"
	Clear  Kind = "clear_output"
)

// Message is one request to the front end.
type Message struct {
	Kind   Kind   `json:"kind"`
	Bundle Bundle `json:"bundle,omitzero"`
	ID     string `json:"id,omitempty"`   // display id, for Data and Update
	Wait   bool   `json:"wait,omitempty"` // for Clear: wait for the next output
}

// A Host takes messages to the front end. Publish returns when the message has
// its place in the cell's output, so that what the caller prints next comes
// after it.
type Host interface {
	Publish(Message) error
}

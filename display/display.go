// Package display shows rich output from a cell.
//
// The model: everything shown is a Bundle, a map from MIME type to content. A
// Message carries a bundle, or the wish to clear, to whoever shows it: the
// notebook's front end when the program runs in a kernel, a terminal otherwise.
// The package is a thin facade, because cells link it: whatever needs heavy
// libraries (plots, picture encoders) is a Renderer that the main program
// registers through Connect.
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

package nbformat

import (
	"encoding/json"
	"strings"
)

// Output is one output of a code cell, as raw JSON.
type Output json.RawMessage

// Type returns the output's kind: "stream", "display_data", "execute_result"
// or "error"; "" when it says none.
func (o Output) Type() string {
	var head struct {
		Type string `json:"output_type"`
	}
	if err := json.Unmarshal(o, &head); err != nil {
		return ""
	}
	return head.Type
}

// Stream returns the name and the text of a stream output.
func (o Output) Stream() (name, text string, ok bool) {
	var s struct {
		Type string `json:"output_type"`
		Name string
		Text Text
	}
	if err := json.Unmarshal(o, &s); err != nil || s.Type != "stream" {
		return "", "", false
	}
	return s.Name, string(s.Text), true
}

// Text is a JSON string, or a list of strings that are its pieces; it is
// written as a list of lines, as Jupyter does.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	var whole string
	if err := json.Unmarshal(data, &whole); err == nil {
		*t = Text(whole)
		return nil
	}
	var pieces []string
	if err := json.Unmarshal(data, &pieces); err != nil {
		return err
	}
	*t = Text(strings.Join(pieces, ""))
	return nil
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) { return marshal(lines(string(t))) }

// NewStream returns what a cell printed; name is "stdout" or "stderr".
func NewStream(name, text string) Output {
	return object(map[string]any{"output_type": "stream", "name": name, "text": Text(text)})
}

// NewDisplay returns a display_data output.
func NewDisplay(data, metadata map[string]any) Output {
	return object(map[string]any{"output_type": "display_data", "data": splitBundle(data), "metadata": orEmpty(metadata)})
}

// NewResult returns an execute_result output.
func NewResult(count int, data, metadata map[string]any) Output {
	return object(map[string]any{"output_type": "execute_result", "execution_count": count,
		"data": splitBundle(data), "metadata": orEmpty(metadata)})
}

// NewError returns the output of a failed cell.
func NewError(name, value string, traceback []string) Output {
	if traceback == nil {
		traceback = []string{}
	}
	return object(map[string]any{"output_type": "error", "ename": name, "evalue": value, "traceback": traceback})
}

// object writes an output. A value that JSON cannot hold (it did not come over
// the wire, then) makes the output an error that says so.
func object(fields map[string]any) Output {
	raw, err := marshal(fields)
	if err != nil {
		return NewError("output", "this output cannot be written as JSON: "+err.Error(), nil)
	}
	return Output(raw)
}

// splitBundle makes lists of lines of the texts that Jupyter splits.
func splitBundle(data map[string]any) map[string]any {
	split := make(map[string]any, len(data))
	for mime, v := range data {
		if s, ok := v.(string); ok && (strings.HasPrefix(mime, "text/") || mime == "application/javascript" || mime == "image/svg+xml") {
			split[mime] = Text(s)
		} else {
			split[mime] = v
		}
	}
	return split
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

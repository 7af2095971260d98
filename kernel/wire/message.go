package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Version is the Jupyter messaging protocol that our messages follow.
const Version = "5.5"

// Delimiter is the frame between the identities and the signature.
const Delimiter = "<IDS|MSG>"

// Header is a message's header. Raw holds the bytes it was decoded from or
// encoded to; they, not the fields, become a reply's parent_header.
type Header struct {
	MsgID      string `json:"msg_id"`
	Session    string `json:"session"`
	Username   string `json:"username"`
	Date       string `json:"date"`
	MsgType    string `json:"msg_type"`
	Version    string `json:"version"`
	SubshellID string `json:"subshell_id,omitempty"`

	Raw json.RawMessage `json:"-"`
}

// Message is one Jupyter message. Nil JSON parts are sent as {}. Identities are
// the routing frames: the peer on a ROUTER socket, the topic on iopub.
type Message struct {
	Identities   [][]byte
	Header       Header
	ParentHeader json.RawMessage
	Metadata     json.RawMessage
	Content      json.RawMessage
	Buffers      [][]byte
}

// Parent reads the typed fields of the parent header; ok is false when there is
// none, as in a kernel's first status message.
func (m *Message) Parent() (h Header, ok bool) {
	if err := json.Unmarshal(m.ParentHeader, &h); err != nil {
		return Header{}, false
	}
	h.Raw = m.ParentHeader
	return h, h.MsgType != "" || h.MsgID != ""
}

// Marshal encodes v as JSON without HTML escaping, so that < and & in cells and
// outputs travel as they are. Values that JSON cannot hold, such as NaN, are an
// error; invalid UTF-8 becomes U+FFFD, so cut streams between runes.
func Marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode as JSON (use strings for values such as NaN): %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Encode returns the frames of m, identities first, signed. The frames share
// memory with m: change neither afterwards.
func (s *Signer) Encode(m *Message) ([][]byte, error) {
	header := m.Header.Raw
	if header == nil {
		var err error
		if header, err = Marshal(m.Header); err != nil {
			return nil, err
		}
	}
	parts := [4][]byte{header, object(m.ParentHeader), object(m.Metadata), object(m.Content)}
	frames := make([][]byte, 0, len(m.Identities)+6+len(m.Buffers))
	frames = append(frames, m.Identities...)
	frames = append(frames, []byte(Delimiter), s.Sign(parts[:]...))
	frames = append(frames, parts[:]...)
	return append(frames, m.Buffers...), nil
}

// object is a JSON part as it is sent: {} when there is none.
func object(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

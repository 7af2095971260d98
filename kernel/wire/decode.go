package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// What can be wrong with frames from a peer. Decode's errors wrap one of these;
// the right answer to all of them is to log, drop the message and go on.
var (
	ErrNoDelimiter  = errors.New("no <IDS|MSG> delimiter")
	ErrTooFewFrames = errors.New("too few frames after the delimiter")
	ErrTooLarge     = errors.New("message over the limits")
	ErrSignature    = errors.New("wrong signature")
	ErrReplay       = errors.New("signature seen before")
	ErrJSON         = errors.New("malformed JSON part")
)

// Limits bounds what a Decoder accepts and remembers.
type Limits struct {
	Identities int   // routing frames
	Buffers    int   // frames after the content
	JSON       int64 // bytes of the four JSON frames together
	Replays    int   // signatures remembered
}

// DefaultLimits suit a kernel: more than any front end sends.
var DefaultLimits = Limits{Identities: 64, Buffers: 4096, JSON: 64 << 20, Replays: 1 << 14}

// Decoder reads messages. It is safe for concurrent use.
type Decoder struct {
	signer *Signer
	limits Limits
	seen   replay
}

// NewDecoder returns a decoder that verifies with signer.
func NewDecoder(signer *Signer, limits Limits) *Decoder {
	return &Decoder{signer: signer, limits: limits, seen: replay{limit: limits.Replays}}
}

// Decode checks and reads the frames of one message. Nothing is parsed before
// its signature has been verified. The message shares memory with frames.
func (d *Decoder) Decode(frames [][]byte) (*Message, error) {
	ids, signature, parts, buffers, err := d.split(frames)
	if err != nil {
		return nil, err
	}
	if !d.signer.Verify(signature, parts...) {
		return nil, fmt.Errorf("%w: the sender has another key than the connection file", ErrSignature)
	}
	if len(d.signer.key) > 0 && !d.seen.add(signature) {
		return nil, ErrReplay
	}
	m := &Message{Identities: ids, Buffers: buffers}
	if m.Header, err = readHeader(parts[0]); err != nil {
		return nil, err
	}
	for i, to := range []*json.RawMessage{&m.ParentHeader, &m.Metadata, &m.Content} {
		if *to, err = readObject(partNames[i+1], parts[i+1]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

var partNames = [4]string{"header", "parent_header", "metadata", "content"}

// split finds the pieces of a message without looking into them.
func (d *Decoder) split(frames [][]byte) (ids [][]byte, signature []byte, parts, buffers [][]byte, err error) {
	at := -1
	for i, frame := range frames {
		if i > d.limits.Identities {
			break
		}
		if string(frame) == Delimiter {
			at = i
			break
		}
	}
	if at < 0 {
		return nil, nil, nil, nil, fmt.Errorf("%w in the first %d of %d frames", ErrNoDelimiter, min(len(frames), d.limits.Identities+1), len(frames))
	}
	rest := frames[at+1:]
	if len(rest) < 5 {
		return nil, nil, nil, nil, fmt.Errorf("%w: %d of at least 5", ErrTooFewFrames, len(rest))
	}
	size := int64(0)
	for _, part := range rest[1:5] {
		size += int64(len(part))
	}
	if size > d.limits.JSON || len(rest)-5 > d.limits.Buffers {
		return nil, nil, nil, nil, fmt.Errorf("%w: %d bytes of JSON and %d buffers", ErrTooLarge, size, len(rest)-5)
	}
	return frames[:at:at], rest[0], rest[1:5], rest[5:], nil
}

// readHeader reads a header: an object with a msg_type; the other fields that we
// know are strings, null or absent.
func readHeader(raw []byte) (Header, error) {
	if !isObject(raw) {
		return Header{}, fmt.Errorf("%w: the header is not an object", ErrJSON)
	}
	var h Header
	if err := json.Unmarshal(raw, &h); err != nil {
		return Header{}, fmt.Errorf("%w: header: %w", ErrJSON, err)
	}
	if h.MsgType == "" {
		return Header{}, fmt.Errorf("%w: the header has no msg_type", ErrJSON)
	}
	h.Raw = raw
	return h, nil
}

// readObject checks that raw is an object; an empty frame counts as {}.
func readObject(name string, raw []byte) (json.RawMessage, error) {
	if len(raw) == 0 {
		return json.RawMessage("{}"), nil
	}
	if !isObject(raw) || !json.Valid(raw) {
		return nil, fmt.Errorf("%w: the %s is not an object", ErrJSON, name)
	}
	return raw, nil
}

// isObject tells whether raw begins like a JSON object.
func isObject(raw []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}

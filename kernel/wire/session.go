package wire

import (
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Session makes the messages of one process. It is safe for concurrent use.
type Session struct {
	id       string
	username string
	count    atomic.Uint64
}

// NewSession returns a session with a fresh id.
func NewSession(username string) *Session {
	return &Session{id: uuid.NewString(), username: username}
}

// ID is the session id that every message of this process carries.
func (s *Session) ID() string { return s.id }

// Header returns a new header with an id that no other message has.
func (s *Session) Header(msgType string) Header {
	return Header{
		MsgID:    fmt.Sprintf("%s_%d_%d", s.id, os.Getpid(), s.count.Add(1)),
		Session:  s.id,
		Username: s.username,
		Date:     Date(time.Now()),
		MsgType:  msgType,
		Version:  Version,
	}
}

// Date writes t as the protocol wants it: ISO 8601, UTC, always six fractional
// digits. Python clients do not recognise nine.
func Date(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// Request returns a message without a parent. content is marshalled; nil is {}.
func (s *Session) Request(msgType string, content any) (*Message, error) {
	return s.message(nil, msgType, content)
}

// Reply answers parent: it goes back along the parent's identities.
func (s *Session) Reply(parent *Message, msgType string, content any) (*Message, error) {
	m, err := s.message(parent, msgType, content)
	if err == nil && parent != nil {
		m.Identities = parent.Identities
	}
	return m, err
}

// IOPub returns a message for all subscribers, under one topic frame. parent is
// the request that caused it, nil when none did.
func (s *Session) IOPub(parent *Message, msgType string, content any) (*Message, error) {
	m, err := s.message(parent, msgType, content)
	if err == nil {
		m.Identities = [][]byte{[]byte("kernel." + s.id + "." + msgType)}
	}
	return m, err
}

func (s *Session) message(parent *Message, msgType string, content any) (*Message, error) {
	m := &Message{Header: s.Header(msgType)}
	var err error
	if m.Header.Raw, err = Marshal(m.Header); err != nil {
		return nil, fmt.Errorf("header of %s: %w", msgType, err)
	}
	if content != nil {
		if m.Content, err = Marshal(content); err != nil {
			return nil, fmt.Errorf("content of %s: %w", msgType, err)
		}
	}
	if parent == nil {
		return m, nil
	}
	m.ParentHeader = parent.Header.Raw
	if m.ParentHeader == nil {
		m.ParentHeader, err = Marshal(parent.Header)
	}
	return m, err
}

// SetMetadata marshals v as the metadata of m.
func (m *Message) SetMetadata(v any) error {
	raw, err := Marshal(v)
	if err != nil {
		return fmt.Errorf("metadata of %s: %w", m.Header.MsgType, err)
	}
	m.Metadata = raw
	return nil
}

// Read unmarshals the content of m into v.
func (m *Message) Read(v any) error {
	if err := json.Unmarshal(object(m.Content), v); err != nil {
		return fmt.Errorf("%w: content of %s: %w", ErrJSON, m.Header.MsgType, err)
	}
	return nil
}

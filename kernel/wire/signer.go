package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
)

// Scheme is the signature scheme that this package speaks.
const Scheme = "hmac-sha256"

// Signer signs messages with one key. It is safe for concurrent use.
type Signer struct {
	key []byte
}

// NewSigner returns a signer for the scheme and key of a connection file. An
// empty key means unsigned messages, whatever the scheme.
func NewSigner(scheme, key string) (*Signer, error) {
	if key != "" && scheme != "" && scheme != Scheme {
		return nil, fmt.Errorf("signature scheme %q is not supported; use %q", scheme, Scheme)
	}
	return &Signer{key: []byte(key)}, nil
}

// Sign returns the hexadecimal signature of the parts, empty without a key.
func (s *Signer) Sign(parts ...[]byte) []byte {
	if len(s.key) == 0 {
		return []byte{}
	}
	return hex.AppendEncode(nil, s.sum(parts))
}

// Verify tells whether signature signs the parts, in constant time. Without a
// key any signature does.
func (s *Signer) Verify(signature []byte, parts ...[]byte) bool {
	if len(s.key) == 0 {
		return true
	}
	return hmac.Equal(signature, hex.AppendEncode(nil, s.sum(parts)))
}

func (s *Signer) sum(parts [][]byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// replay remembers the last signatures, between half and all of limit.
type replay struct {
	mu       sync.Mutex
	limit    int
	new, old map[string]struct{}
}

// add reports whether signature is new, and remembers it.
func (r *replay) add(signature []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := string(signature)
	if _, dup := r.new[key]; dup {
		return false
	}
	if _, dup := r.old[key]; dup {
		return false
	}
	if r.new == nil || len(r.new) >= r.limit/2 {
		r.old, r.new = r.new, make(map[string]struct{})
	}
	r.new[key] = struct{}{}
	return true
}

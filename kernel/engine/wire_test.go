package engine

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

// buffer is a connection in memory.
type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

func TestReceiveErrors(t *testing.T) {
	for input, want := range map[string]string{
		"":                           "EOF",
		"\x00\x00":                   "unexpected EOF",
		"\x00\x00\x00\x05{}":         "unexpected EOF",
		"\xff\xff\xff\xff":           "a control message of 4294967295 bytes is too large",
		"\x00\x00\x00\x02[]":         "a control message is not what it should be: json: cannot unmarshal array into Go value of type engine.message",
		"\x00\x00\x00\x08{\"seq\":x": "a control message is not what it should be: invalid character 'x' looking for beginning of value",
	} {
		b := &buffer{}
		b.WriteString(input)
		if _, err := (&link{rw: b}).receive(); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", input, err, want)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte(`{"op":"publish","message":{"kind":"display_data","bundle":{"data":{"a/b":[1,null]}}}}`))
	f.Add([]byte(`{"op":"done","outcome":{"panic":{"kind":"x","frames":[{}]},"bundle":3}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &buffer{}
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data))))
		b.Write(data)
		l := &link{rw: b, numbers: true}
		m, err := l.receive()
		if err != nil {
			return
		}
		if b.Len() > 0 {
			t.Fatal("bytes are left")
		}
		_ = received(m.Outcome)
		if err := l.send(m); err != nil {
			t.Fatalf("what was received cannot be sent: %v", err)
		}
		if _, err := l.receive(); err != nil {
			t.Fatalf("what was sent cannot be received: %v", err)
		}
		if _, err := l.receive(); err != io.EOF {
			t.Fatalf("more than what was sent: %v", err)
		}
	})
}

// However a text is cut, the runes come out whole.
func TestSourceRunes(t *testing.T) {
	const text = "aé€😀 \xff\xe2\x82 z\xf0\x9f"
	const want = "aé€😀 \uFFFD\uFFFD\uFFFD z\uFFFD\uFFFD"
	for size := 1; size < len(text); size++ {
		var got strings.Builder
		s := &source{buf: make([]byte, 64), emit: func(text string) { got.WriteString(text) }}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			copy(s.buf[s.kept:], rest[:n])
			s.take(n, false)
			rest = rest[n:]
		}
		s.take(0, true)
		if got.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, got.String(), want)
		}
	}
}

func TestLastWords(t *testing.T) {
	var got strings.Builder
	w := lastWords{emit: func(text string) { got.WriteString(text) }}
	w.add("ordinary panic: text\nfatal error: all ")
	w.add("goroutines are asleep - deadlock!\n\ngoroutine 1 [select]:\nmain.main()\n\t/x/main.go:3 +0x1d\nwb/s1/c2.(*T).M(0x1, {0x2, 0x3})\n\tcell[2]:7 +0x20\ncreated by wb/s1/c2.wb_entry in goroutine 5\n\tcell[2]:9 +0x20\n\ngoroutine 2 [running]:\nwb/s1/c3.f()\n\tcell[3]:1 +0x1\n")
	if want := "ordinary panic: text\n"; got.String() != want {
		t.Errorf("emitted %q, want %q", got.String(), want)
	}
	if got, want := w.summary(), "fatal error: all goroutines are asleep - deadlock!\n    cell [2], line 7, in (*T).M"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w.release()
	if !strings.HasSuffix(got.String(), "cell[3]:1 +0x1\n") {
		t.Errorf("what was held back is lost: %q", got.String())
	}
}

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

func signer(t testing.TB, key string) *Signer {
	t.Helper()
	s, err := NewSigner(Scheme, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func bytesOf(parts ...string) [][]byte {
	var out [][]byte
	for _, p := range parts {
		out = append(out, []byte(p))
	}
	return out
}

// sign makes frames with a right signature around parts, whatever they are.
func sign(t testing.TB, key string, parts [4]string, buffers ...string) [][]byte {
	p := bytesOf(parts[:]...)
	frames := append(bytesOf("peer", Delimiter), signer(t, key).Sign(p...))
	return append(append(frames, p...), bytesOf(buffers...)...)
}

func TestSignatureIsHMAC(t *testing.T) {
	// Computed with Python: hmac.new(b"key", b"abcd", "sha256").hexdigest()
	const want = "2a31ec0ee8d878c9eece9fb0df79b3b90b2256240163aa5ee50d176d3d1121f8"
	got := string(signer(t, "key").Sign(bytesOf("a", "b", "c", "d")...))
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := signer(t, "").Sign([]byte("a")); got == nil || len(got) > 0 {
		t.Errorf("without a key: %q, want an empty frame", got)
	}
	if !signer(t, "").Verify([]byte("anything"), []byte("a")) {
		t.Error("without a key a signature is looked at")
	}
	if _, err := NewSigner("hmac-md5", "key"); err == nil || !strings.Contains(err.Error(), Scheme) {
		t.Errorf("unknown scheme: %v", err)
	}
}

func TestDecode(t *testing.T) {
	const header = `{"msg_id":"1","msg_type":"x"}`
	good := [4]string{header, "{}", "{}", "{}"}
	with := func(at int, part string) [4]string { p := good; p[at] = part; return p }
	unsigned := sign(t, "", good)
	for _, test := range []struct {
		name   string
		frames [][]byte
		want   error
	}{
		{"a good one", sign(t, "key", good), nil},
		{"with buffers", sign(t, "key", good, "b1", ""), nil},
		{"no identity", sign(t, "key", good)[1:], nil},
		{"empty parts", sign(t, "key", [4]string{header, "", "", ""}), nil},
		{"space around", sign(t, "key", [4]string{" " + header + "\n", " {} ", "{}", "\t{}"}), nil},
		{"null fields", sign(t, "key", with(0, `{"msg_type":"x","subshell_id":null,"date":null}`)), nil},

		{"nothing", nil, ErrNoDelimiter},
		{"no delimiter", bytesOf("a", "b", "c", "d", "e", "f", "g"), ErrNoDelimiter},
		{"delimiter too late", append(make([][]byte, 100), sign(t, "key", good)...), ErrNoDelimiter},
		{"delimiter only", bytesOf(Delimiter), ErrTooFewFrames},
		{"one frame short", sign(t, "key", good)[:6], ErrTooFewFrames},
		{"too many buffers", sign(t, "key", good, make([]string, 5000)...), ErrTooLarge},
		{"too much JSON", sign(t, "key", with(3, `{"a":"`+strings.Repeat("x", 2000)+`"}`)), ErrTooLarge},
		{"unsigned", unsigned, ErrSignature},
		{"another key", sign(t, "other", good), ErrSignature},
		{"signature in capitals", upper(sign(t, "key", good)), ErrSignature},

		{"header is no JSON", sign(t, "key", with(0, "{garbage")), ErrJSON},
		{"header is a list", sign(t, "key", with(0, "[]")), ErrJSON},
		{"header is null", sign(t, "key", with(0, "null")), ErrJSON},
		{"header is empty", sign(t, "key", with(0, "")), ErrJSON},
		{"no msg_type", sign(t, "key", with(0, "{}")), ErrJSON},
		{"msg_type is a number", sign(t, "key", with(0, `{"msg_type":1}`)), ErrJSON},
		{"subshell_id is a list", sign(t, "key", with(0, `{"msg_type":"x","subshell_id":[]}`)), ErrJSON},
		{"parent is a string", sign(t, "key", with(1, `"x"`)), ErrJSON},
		{"metadata is null", sign(t, "key", with(2, "null")), ErrJSON},
		{"content is a list", sign(t, "key", with(3, "[1]")), ErrJSON},
		{"content is cut", sign(t, "key", with(3, `{"a":`)), ErrJSON},
		{"content and more", sign(t, "key", with(3, `{} {}`)), ErrJSON},
		{"content is deep", sign(t, "key", with(3, strings.Repeat(`{"a":`, 100)+"}")), ErrJSON},
	} {
		t.Run(test.name, func(t *testing.T) {
			limits := DefaultLimits
			limits.JSON = 1000
			m, err := NewDecoder(signer(t, "key"), limits).Decode(test.frames)
			if !errors.Is(err, test.want) || (m == nil) != (test.want != nil) {
				t.Fatalf("got %v, %v; want the error %v", m, err, test.want)
			}
		})
	}
	if _, err := NewDecoder(signer(t, ""), DefaultLimits).Decode(unsigned); err != nil {
		t.Errorf("unsigned, without a key: %v", err)
	}
}

func upper(frames [][]byte) [][]byte {
	frames[2] = bytes.ToUpper(frames[2])
	return frames
}

func TestReplay(t *testing.T) {
	limits := DefaultLimits
	limits.Replays = 100
	d := NewDecoder(signer(t, "key"), limits)
	message := func(n int) [][]byte {
		return sign(t, "key", [4]string{fmt.Sprintf(`{"msg_type":"x","msg_id":"%d"}`, n), "", "", ""})
	}
	for n := range 1000 {
		if _, err := d.Decode(message(n)); err != nil {
			t.Fatal(err)
		}
		for back := range min(n+1, limits.Replays/2) {
			if _, err := d.Decode(message(n - back)); !errors.Is(err, ErrReplay) {
				t.Fatalf("message %d again after %d: %v", n-back, n, err)
			}
		}
		if kept := len(d.seen.new) + len(d.seen.old); kept > limits.Replays {
			t.Fatalf("%d signatures are kept, %d allowed", kept, limits.Replays)
		}
	}
	unsigned := NewDecoder(signer(t, ""), limits)
	for range 2 {
		if _, err := unsigned.Decode(message(1)); err != nil {
			t.Errorf("without signatures there is nothing to compare: %v", err)
		}
	}
}

// A forged message must not use up the memory of signatures.
func TestForgeriesAreNotRemembered(t *testing.T) {
	d := NewDecoder(signer(t, "key"), DefaultLimits)
	d.Decode(sign(t, "other", [4]string{`{"msg_type":"x"}`, "", "", ""}))
	if len(d.seen.new) > 0 {
		t.Error("a forged signature is remembered")
	}
}

func TestRoundTrip(t *testing.T) {
	client := NewSession("me")
	s := signer(t, "key")
	m, err := client.Request("execute_request", map[string]any{"code": "a < b && c", "n": 1})
	if err != nil {
		t.Fatal(err)
	}
	m.Buffers = bytesOf("one", "", "\x00\xff")
	m.Identities = bytesOf("peer", "another")
	frames, err := s.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := NewDecoder(s, DefaultLimits).Decode(frames)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Content) != `{"code":"a < b && c","n":1}` {
		t.Errorf("content %s: HTML escaped or lost", got.Content)
	}
	if string(got.Metadata) != "{}" || string(got.ParentHeader) != "{}" {
		t.Errorf("metadata %s, parent %s; want {}", got.Metadata, got.ParentHeader)
	}
	if !reflect.DeepEqual(got.Header, m.Header) || !reflect.DeepEqual(got.Buffers, m.Buffers) || !reflect.DeepEqual(got.Identities, m.Identities) {
		t.Errorf("got %+v, want %+v", got, m)
	}
	var content struct{ Code string }
	if err := got.Read(&content); err != nil || content.Code != "a < b && c" {
		t.Errorf("read %+v %v", content, err)
	}
	if err := got.Read(new([]int)); !errors.Is(err, ErrJSON) {
		t.Errorf("read an object into a list: %v", err)
	}
}

// A reply's parent_header is the request's header byte for byte, with what we do
// not know and the odd spacing in it.
func TestReplyKeepsTheHeader(t *testing.T) {
	const header = `{ "msg_type" : "execute_request", "msg_id":"7", "session":"theirs", "subshell_id":"s1","extra":[1.0, 1e3, "<\u00e9>"]  }`
	d := NewDecoder(signer(t, "key"), DefaultLimits)
	request, err := d.Decode(sign(t, "key", [4]string{header, "", "", ""}))
	if err != nil {
		t.Fatal(err)
	}
	if request.Header.SubshellID != "s1" || request.Header.MsgID != "7" {
		t.Errorf("header %+v", request.Header)
	}
	kernel := NewSession("kernel")
	reply, err := kernel.Reply(request, "execute_reply", map[string]any{"status": "ok"})
	if err != nil {
		t.Fatal(err)
	}
	status, err := kernel.IOPub(request, "status", map[string]any{"execution_state": "idle"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Message{reply, status} {
		frames, err := signer(t, "key").Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(frames[4]); got != header {
			t.Errorf("parent_header of %s is %s", m.Header.MsgType, got)
		}
		if m.Header.Session != kernel.ID() || m.Header.Session == "theirs" || m.Header.Version != "5.5" {
			t.Errorf("header %+v", m.Header)
		}
		if parent, ok := m.Parent(); !ok || parent.MsgID != "7" {
			t.Errorf("parent %+v %v", parent, ok)
		}
	}
	if string(reply.Identities[0]) != "peer" {
		t.Errorf("the reply goes to %q", reply.Identities)
	}
	if topic := string(status.Identities[0]); topic != "kernel."+kernel.ID()+".status" || len(status.Identities) != 1 {
		t.Errorf("topic %q", status.Identities)
	}
	if reply.Header.MsgID == status.Header.MsgID {
		t.Error("two messages have one id")
	}
	if starting, err := kernel.IOPub(nil, "status", nil); err != nil || starting.ParentHeader != nil {
		t.Errorf("a message without parent: %v %v", starting, err)
	} else if _, ok := starting.Parent(); ok {
		t.Error("no parent, yet Parent finds one")
	}
}

// Clients in Python recognise dates with one to six digits and a zone only.
func TestDate(t *testing.T) {
	form := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`)
	for _, at := range []time.Time{
		time.Now(),
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.FixedZone("east", 3600)),
	} {
		if got := Date(at); !form.MatchString(got) {
			t.Errorf("%v is written %s", at, got)
		}
	}
	if got := Date(time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.FixedZone("east", 3600))); got != "2026-01-02T02:04:05.123456Z" {
		t.Errorf("got %s", got)
	}
}

type loop struct{ Next *loop }

func TestMarshalNeverPanics(t *testing.T) {
	round := &loop{}
	round.Next = round
	for _, bad := range []any{math.NaN(), math.Inf(1), func() {}, make(chan int), round, map[string]any{"x": math.NaN()}, json.RawMessage("{")} {
		if got, err := Marshal(bad); err == nil {
			t.Errorf("%T became %s", bad, got)
		}
		if _, err := NewSession("").Request("x", bad); err == nil {
			t.Errorf("%T: a message", bad)
		}
	}
	got, err := Marshal("a\xffb")
	var back string
	if err != nil || json.Unmarshal(got, &back) != nil || back != "a\ufffdb" {
		t.Errorf("invalid UTF-8 became %q, %v", back, err)
	}
	if err := (&Message{}).SetMetadata(math.NaN()); err == nil {
		t.Error("metadata NaN: no error")
	}
}

func FuzzDecode(f *testing.F) {
	key := signer(f, "key")
	for _, parts := range [][4]string{
		{`{"msg_type":"x","msg_id":"1"}`, "{}", "{}", "{}"},
		{`{"msg_type":"x"}`, "", `{"a":[1,2]}`, `{"code":"1"}`},
		{"[]", "null", "1", `"`},
	} {
		f.Add(bytes.Join(sign(f, "key", parts, "buffer"), []byte("\n")), true)
		f.Add(bytes.Join(sign(f, "", parts), []byte("\n")), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, signed bool) {
		frames := bytes.Split(data, []byte("\n"))
		who := signer(t, "")
		if signed {
			who = key
			if at := len(frames) - 5; at > 0 { // sign it, else nothing gets past the signature
				frames[at] = key.Sign(frames[at+1:]...)
			}
		}
		m, err := NewDecoder(who, DefaultLimits).Decode(frames)
		if err != nil {
			known := false
			for _, kind := range []error{ErrNoDelimiter, ErrTooFewFrames, ErrTooLarge, ErrSignature, ErrReplay, ErrJSON} {
				known = known || errors.Is(err, kind)
			}
			if m != nil || !known {
				t.Fatalf("got %v with the error %v", m, err)
			}
			return
		}
		if m.Header.MsgType == "" || !json.Valid(m.Content) || !json.Valid(m.Metadata) || !json.Valid(m.ParentHeader) {
			t.Fatalf("a message that is none: %+v", m)
		}
		again, err := who.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := NewDecoder(who, DefaultLimits).Decode(again); err != nil || !reflect.DeepEqual(m, same) {
			t.Fatalf("%+v became %+v, %v", m, same, err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	s := signer(b, "key")
	session := NewSession("me")
	for b.Loop() {
		m, err := session.Request("execute_request", map[string]any{"code": "1+1", "silent": false})
		if err != nil {
			b.Fatal(err)
		}
		frames, err := s.Encode(m)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := NewDecoder(s, DefaultLimits).Decode(frames); err != nil {
			b.Fatal(err)
		}
	}
}

package display

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// recorder is a host that keeps what it is given.
type recorder struct {
	mu       sync.Mutex
	messages []Message
	comms    []CommMsg
	fail     bool
}

func (r *recorder) Publish(m Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail {
		return errors.New("no front end")
	}
	r.messages = append(r.messages, m)
	return nil
}

func (r *recorder) SendComm(m CommMsg) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.comms = append(r.comms, m)
	return nil
}

func (r *recorder) all() []Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Message(nil), r.messages...)
}

func (r *recorder) sentComms() []CommMsg {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]CommMsg(nil), r.comms...)
}

// connect makes a recorder the host until the test ends.
func connect(t *testing.T, r Renderers) *recorder {
	t.Helper()
	h := &recorder{}
	Connect(h, r)
	t.Cleanup(func() { Connect(nil, Renderers{}) })
	return h
}

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s\nwant:\n%s", name, got, want)
	}
}

func text(t *testing.T, b Bundle) string {
	t.Helper()
	s, ok := b.Data["text/plain"].(string)
	if !ok {
		t.Fatalf("no text/plain in %v", b.Data)
	}
	return s
}

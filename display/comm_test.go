package display

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestCommFromCell(t *testing.T) {
	host := connect(t, Renderers{})
	c, err := NewComm("jupyter.widget", map[string]any{"state": math.NaN()}, []byte{0, 1, 255})
	if err != nil {
		t.Fatal(err)
	}
	// A message that comes before the handler waits for it.
	if err := DeliverComm(CommMsg{Kind: "msg", ID: c.ID(), Data: map[string]any{"n": 1.0}}); err != nil {
		t.Fatal(err)
	}
	var got []CommMsg
	c.OnMsg(func(m CommMsg) { got = append(got, m) })
	if err := DeliverComm(CommMsg{Kind: "msg", ID: c.ID(), Buffers: [][]byte{{9}}}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Data["n"] != 1.0 || !bytes.Equal(got[1].Buffers[0], []byte{9}) {
		t.Errorf("the handler got %v", got)
	}
	if err := c.Send(struct {
		Method string `json:"method"`
	}{"update"}, []byte("buffer")); err != nil {
		t.Fatal(err)
	}
	if err := c.Send([]int{1}); err == nil {
		t.Error("a list was sent as data")
	}
	if Comms()[c.ID()] != "jupyter.widget" {
		t.Errorf("open comms are %v", Comms())
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(nil); !errors.Is(err, ErrCommClosed) {
		t.Errorf("Send after Close: %v", err)
	}
	if len(Comms()) != 0 {
		t.Errorf("open comms are %v", Comms())
	}
	sent := host.sentComms()
	if len(sent) != 3 || sent[0].Kind != "open" || sent[1].Kind != "msg" || sent[2].Kind != "close" {
		t.Fatalf("sent %v", sent)
	}
	if sent[0].Data["state"] != nil || !bytes.Equal(sent[0].Buffers[0], []byte{0, 1, 255}) || sent[0].Target != "jupyter.widget" {
		t.Errorf("opened with %v", sent[0])
	}
	if sent[1].Data["method"] != "update" || string(sent[1].Buffers[0]) != "buffer" || sent[1].ID != c.ID() {
		t.Errorf("sent %v", sent[1])
	}
}

func TestCommFromFrontEnd(t *testing.T) {
	host := connect(t, Renderers{})
	closed := false
	RegisterTarget("echo", func(c *Comm, open CommMsg) {
		c.OnMsg(func(m CommMsg) {
			if err := c.Send(m.Data, m.Buffers...); err != nil {
				t.Error(err)
			}
		})
		c.OnClose(func(CommMsg) { closed = true })
	})
	RegisterTarget("broken", func(*Comm, CommMsg) { panic("no") })
	data := map[string]any{"x": 1.0}
	for _, m := range []CommMsg{
		{Kind: "open", ID: "1", Target: "echo"},
		{Kind: "msg", ID: "1", Data: data, Buffers: [][]byte{{1}, {}}},
		{Kind: "msg", ID: "unknown"},
		{Kind: "close", ID: "unknown"},
		{Kind: "open", ID: "2", Target: "unknown"},
		{Kind: "close", ID: "1"},
	} {
		if err := DeliverComm(m); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
	if err := DeliverComm(CommMsg{Kind: "open", ID: "3", Target: "broken"}); err == nil || !strings.Contains(err.Error(), "panicked: no") {
		t.Errorf("a target that panics gives %v", err)
	}
	sent := host.sentComms()
	if len(sent) != 3 {
		t.Fatalf("sent %v", sent)
	}
	if sent[0].Data["x"] != 1.0 || len(sent[0].Buffers) != 2 {
		t.Errorf("the echo is %v", sent[0])
	}
	if sent[1].Kind != "close" || sent[1].ID != "2" || sent[2].Kind != "close" || sent[2].ID != "3" {
		t.Errorf("closes are %v", sent[1:])
	}
	if !closed || len(Comms()) != 0 {
		t.Errorf("closed %v, open %v", closed, Comms())
	}
}

func TestCommWithoutHost(t *testing.T) {
	if _, err := NewComm("t", nil); !errors.Is(err, ErrNoComms) {
		t.Errorf("NewComm: %v", err)
	}
	if len(Comms()) != 0 {
		t.Errorf("open comms are %v", Comms())
	}
}

package server_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/kernel/wire"
)

var update = flag.Bool("update", false, "write the conversations as they went")

// TestConversations plays testdata/conversations.txtar. Each file in it is a talk
// with a fresh kernel:
//
//	# a comment
//	> shell execute_request {"code": "print hi"}    is sent, and what came back follows
//	< iopub stream {"name":"stdout","text":"hi\n"}
//	< shell execute_reply {...}
//	? text                                          answers the next input_request
//	@ {"subshell_id": "x"}                          changes the next request's header
//	= {"version": "2.1.0"}                          is the next request's metadata
//	+ bytes                                         is a buffer of the next request
//
// For every request the test itself checks that busy comes first and idle last,
// that all parents are the request's header byte for byte, that session and dates
// are right, and that there is one reply or none; so those are not shown.
func TestConversations(t *testing.T) {
	const file = "testdata/conversations.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range archive.Files {
		f := &archive.Files[i]
		t.Run(f.Name, func(t *testing.T) {
			k := start(t, nil)
			got := play(t, dial(t, k.info), string(f.Data))
			if *update {
				f.Data = []byte(got)
			} else if got != string(f.Data) {
				t.Errorf("got\n%s\nwant\n%s", got, f.Data)
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func play(t *testing.T, c *client, script string) string {
	var out strings.Builder
	var answers []string
	var changes []func(*wire.Message)
	for line := range strings.Lines(script) {
		mark, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if mark == "<" {
			continue // what is expected; what comes is written anew
		}
		out.WriteString(line)
		switch mark {
		case "?":
			answers = append(answers, rest)
		case "@":
			changes = append(changes, func(m *wire.Message) { changeHeader(t, m, rest) })
		case "=":
			changes = append(changes, func(m *wire.Message) { m.Metadata = json.RawMessage(rest) })
		case "+":
			changes = append(changes, func(m *wire.Message) { m.Buffers = append(m.Buffers, []byte(rest)) })
		case ">":
			name, rest, _ := strings.Cut(rest, " ")
			msgType, body, _ := strings.Cut(rest, " ")
			ch := transport.Shell
			if name == "control" {
				ch = transport.Control
			}
			if body == "" {
				body = "{}"
			}
			req := c.send(ch, msgType, json.RawMessage(body), changes...)
			out.WriteString(exchange(t, c, ch, req, answers))
			answers, changes = nil, nil
		}
	}
	return out.String()
}

// joined makes one message of stream messages that follow each other: how many
// there are depends on time.
func joined(t *testing.T, messages []*wire.Message) []*wire.Message {
	var out []*wire.Message
	last := ""
	for _, m := range messages {
		name := ""
		if m.Header.MsgType == "stream" {
			name, _ = content(t, m)["name"].(string)
		}
		if name == "" || name != last {
			out, last = append(out, m), name
			continue
		}
		both := *m
		text := stream(t, name, []*wire.Message{out[len(out)-1], m})
		var err error
		if both.Content, err = wire.Marshal(map[string]string{"name": name, "text": text}); err != nil {
			t.Fatal(err)
		}
		out[len(out)-1] = &both
	}
	return out
}

func changeHeader(t *testing.T, m *wire.Message, change string) {
	t.Helper()
	header := map[string]any{}
	for _, raw := range [][]byte{m.Header.Raw, []byte(change)} {
		if err := json.Unmarshal(raw, &header); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	m.Header.Raw = raw
}

// exchange answers input requests and returns all that comes back for req.
func exchange(t *testing.T, c *client, ch transport.Channel, req *wire.Message, answers []string) string {
	var out strings.Builder
	var asked []*wire.Message
	for _, a := range answers {
		m := c.reply(transport.Stdin, req)
		asked = append(asked, m)
		c.send(transport.Stdin, "input_reply", map[string]string{"value": a})
	}
	iopub := c.outputs(req)
	if !strings.Contains(string(iopub[0].Content), `"busy"`) {
		t.Errorf("%s: the first message is %s, want busy", req.Header.MsgType, iopub[0].Content)
	}
	for _, m := range joined(t, iopub[1:len(iopub)-1]) {
		out.WriteString(show(t, "iopub", m))
	}
	for _, m := range iopub {
		if want := "kernel." + m.Header.Session + "." + m.Header.MsgType; string(m.Identities[0]) != want {
			t.Errorf("the topic is %s, want %s", m.Identities[0], want)
		}
	}
	for _, m := range asked {
		out.WriteString(show(t, "stdin", m))
	}
	replies := 0
	if strings.HasSuffix(req.Header.MsgType, "_request") && !strings.HasPrefix(req.Header.MsgType, "unknown") {
		m := c.reply(ch, req)
		if m.Header.Session != iopub[0].Header.Session {
			t.Errorf("session %s in the reply, %s on iopub", m.Header.Session, iopub[0].Header.Session)
		}
		out.WriteString(show(t, ch.String(), m))
		replies++
	}
	for _, m := range append(iopub, asked...) {
		if m.Header.Session == req.Header.Session || !date.MatchString(m.Header.Date) {
			t.Errorf("bad header %s", m.Header.Raw)
		}
	}
	return out.String()
}

// date is what Jupyter's Python side takes for a date.
var date = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`)

var volatile = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`"(\w+_port)":\d+`), `"$1":PORT`},
	{regexp.MustCompile(`"started":"\d{4}[^"]*\.\d{6}Z"`), `"started":DATE`},
	{regexp.MustCompile(`"engine":"[^"]*"`), `"engine":KERNEL`},
	{regexp.MustCompile(`"version":"1\.\d[^"]*"`), `"version":GO`},
	{regexp.MustCompile(`Go 1\.[0-9.a-z]+`), `Go VERSION`},
}

// show is a message as a line, its keys sorted.
func show(t *testing.T, channel string, m *wire.Message) string {
	line := "< " + channel + " " + m.Header.MsgType + " " + canonical(t, m.Content)
	if string(m.Metadata) != "{}" {
		line += " metadata " + canonical(t, m.Metadata)
	}
	for _, b := range m.Buffers {
		line += fmt.Sprintf(" buffer %q", b)
	}
	for _, v := range volatile {
		line = v.re.ReplaceAllString(line, v.to)
	}
	return line + "\n"
}

func canonical(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := wire.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

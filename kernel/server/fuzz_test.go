package server_test

import (
	"encoding/json"
	"testing"

	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/kernel/wire"
)

var requestTypes = []string{
	"kernel_info_request", "connect_request", "execute_request", "complete_request", "inspect_request",
	"is_complete_request", "history_request", "comm_info_request", "comm_open", "comm_msg", "comm_close",
	"interrupt_request", "debug_request", "create_subshell_request", "delete_subshell_request",
	"list_subshell_request", "input_reply", "", "nonsense",
}

// FuzzContents sends sound messages with any content and metadata to every
// handler, on both channels: the kernel says busy and idle for each, and goes on.
func FuzzContents(f *testing.F) {
	for _, content := range []string{
		`{}`, `{"code":null}`, `{"code":"print x","silent":1}`, `{"code":["x"]}`, `{"code":"x","cursor_pos":-1}`,
		`{"code":"x","cursor_pos":1e30}`, `{"code":"","user_expressions":{"a":{}}}`, `{"code":"\ud800"}`,
		`{"code":"panic"}`, `{"code":"","user_expressions":null,"store_history":null,"stop_on_error":null}`,
		`{"hist_access_type":"range","session":-9223372036854775808,"start":-5,"stop":-6}`,
		`{"hist_access_type":"search","pattern":"[","n":-1}`, `{"hist_access_type":"tail","n":9999999}`,
		`{"comm_id":"c","target_name":"echo","data":[]}`, `{"comm_id":"c","target_name":"echo","data":{"panic":1}}`,
		`{"comm_id":1}`, `{"seq":"x"}`, `{"arguments":null,"command":7}`,
	} {
		f.Add(content, `{}`, uint8(0))
		f.Add(content, `{"x":[1]}`, uint8(2))
	}
	k := start(f, nil)
	k.fake.tame = true
	cl := dial(f, k.info)
	f.Fuzz(func(t *testing.T, content, metadata string, which uint8) {
		for _, part := range []string{content, metadata} {
			var object map[string]any
			if json.Unmarshal([]byte(part), &object) != nil || object == nil {
				t.Skip("the decoder drops what is no object")
			}
		}
		cl.t = t
		types := requestTypes
		if which > 0 {
			types = types[int(which)%len(types):][:1]
		}
		for _, msgType := range types {
			if msgType == "" {
				continue // the decoder drops it
			}
			for _, ch := range []transport.Channel{transport.Shell, transport.Control} {
				req := cl.send(ch, msgType, json.RawMessage(content), func(m *wire.Message) { m.Metadata = json.RawMessage(metadata) })
				if out := cl.outputs(req); len(out) < 2 {
					t.Fatalf("%s on %s: %d messages on iopub", msgType, ch, len(out))
				}
			}
		}
		// What replies there were is read, so that nothing waits in the sockets.
		for _, ch := range []transport.Channel{transport.Shell, transport.Control} {
			last := cl.send(ch, "kernel_info_request", nil)
			cl.outputs(last)
			for string(cl.recv(ch).ParentHeader) != string(last.Header.Raw) {
			}
		}
	})
}

package server_test

import (
	"path/filepath"
	"testing"

	"github.com/warpbook/warpbook/kernel/server"
	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/kernel/wire"
)

// The kernel serves ipc as it serves TCP, and unsigned messages when the key is
// empty.
func TestTransports(t *testing.T) {
	tcp, err := wire.NewConnection("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	unsigned := tcp
	unsigned.Key = ""
	ipc := wire.ConnectionInfo{Transport: "ipc", IP: filepath.Join(t.TempDir(), "k"), Key: "secret", SignatureScheme: wire.Scheme,
		ShellPort: 1, IOPubPort: 2, StdinPort: 3, ControlPort: 4, HBPort: 5}
	for name, info := range map[string]wire.ConnectionInfo{"tcp": tcp, "unsigned": unsigned, "ipc": ipc} {
		t.Run(name, func(t *testing.T) {
			k := start(t, func(o *server.Options) { o.Connection = info })
			cl := dial(t, info)
			outputs, reply := cl.run("print hello")
			if got := stream(t, "stdout", outputs); got != "hello\n" || reply["status"] != "ok" {
				t.Errorf("printed %q, %v", got, reply)
			}
			cl.send(transport.Control, "shutdown_request", nil)
			k.wait()
		})
	}
}

// A scheme that we do not speak is an error before anything is opened.
func TestScheme(t *testing.T) {
	err := server.Run(t.Context(), server.Options{Connection: wire.ConnectionInfo{Key: "k", SignatureScheme: "hmac-md5"}})
	if err == nil {
		t.Error("a kernel with hmac-md5 started")
	}
}

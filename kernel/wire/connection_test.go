package wire

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const connection = `{"transport":"tcp","ip":"127.0.0.1","shell_port":1,"iopub_port":2,"stdin_port":3,
"control_port":4,"hb_port":5,"key":"k","signature_scheme":"hmac-sha256","kernel_name":"warpbook","jupyter_session":"x"}`

func TestParseConnection(t *testing.T) {
	for _, test := range []struct {
		name, old, new string // connection with old replaced by new
		want           string // in the error, "" for none
	}{
		{"as it is", "", "", ""},
		{"ipc", `"tcp"`, `"ipc"`, ""},
		{"ports over 65535 with ipc", `"tcp","ip":"127.0.0.1","shell_port":1`, `"ipc","ip":"k","shell_port":70000`, ""},
		{"no transport, no ip", `"transport":"tcp","ip":"127.0.0.1",`, "", ""},
		{"no scheme", `"signature_scheme":"hmac-sha256",`, "", ""},
		{"unsigned", `"key":"k","signature_scheme":"hmac-sha256"`, `"key":"","signature_scheme":""`, ""},

		{"no JSON", "{", "", "not a JSON object"},
		{"port is text", `"shell_port":1`, `"shell_port":"1"`, "shell_port"},
		{"no shell port", `"shell_port":1,`, "", "shell_port is 0"},
		{"port too high", `"hb_port":5`, `"hb_port":65536`, "hb_port is 65536"},
		{"negative port", `"hb_port":5`, `"hb_port":-5`, "hb_port is -5"},
		{"one port twice", `"hb_port":5`, `"hb_port":4`, "control_port and hb_port are both 4"},
		{"unknown transport", `"tcp"`, `"udp"`, `"udp" is not supported`},
		{"unknown scheme", "hmac-sha256", "hmac-md5", `"hmac-md5" is not supported`},
		{"ipc without path", `"tcp","ip":"127.0.0.1"`, `"ipc"`, "ip is missing"},
		{"handshake", `"hb_port":5`, `"registration_port":5`, "handshake"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(connection, test.old, test.new, 1)
			_, err := ParseConnection([]byte(text))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}

func TestEndpoint(t *testing.T) {
	for _, test := range []struct{ transport, ip, network, address string }{
		{"tcp", "127.0.0.1", "tcp", "127.0.0.1:7"},
		{"tcp", "::1", "tcp", "[::1]:7"},
		{"tcp", "[::1]", "tcp", "[::1]:7"},
		{"tcp", "*", "tcp", ":7"},
		{"tcp", "localhost", "tcp", "localhost:7"},
		{"ipc", "/run/kernel", "unix", "/run/kernel-7"},
	} {
		network, address := ConnectionInfo{Transport: test.transport, IP: test.ip}.Endpoint(7)
		if network != test.network || address != test.address {
			t.Errorf("%s %s: %s %s, want %s %s", test.transport, test.ip, network, address, test.network, test.address)
		}
	}
}

func TestConnectionFile(t *testing.T) {
	info, err := NewConnection("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	if info.Key == "" {
		t.Error("no key")
	}
	path := filepath.Join(t.TempDir(), "kernel.json")
	if err := info.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v, want 0600: the file holds the key", fi.Mode(), err)
	}
	if got, err := ReadConnectionFile(path); err != nil || got != info {
		t.Errorf("got %+v %v, want %+v", got, err, info)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("files left behind: %v", left)
	}
	if _, err := ReadConnectionFile(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := info.WriteFile(filepath.Join(path, "no", "folder")); err == nil {
		t.Error("no folder: no error")
	}
	if _, err := NewConnection("203.0.113.1"); err == nil {
		t.Error("an address that is not ours: no error")
	}
}

package wire

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ConnectionInfo is a connection file: where the five sockets are and which key
// signs their messages. With the transport "ipc", IP is a path and the socket
// of port 3 is the file path-3.
type ConnectionInfo struct {
	Transport       string `json:"transport"`
	IP              string `json:"ip"`
	ShellPort       int    `json:"shell_port"`
	IOPubPort       int    `json:"iopub_port"`
	StdinPort       int    `json:"stdin_port"`
	ControlPort     int    `json:"control_port"`
	HBPort          int    `json:"hb_port"`
	Key             string `json:"key"`
	SignatureScheme string `json:"signature_scheme"`
	KernelName      string `json:"kernel_name,omitempty"`
}

// ReadConnectionFile reads and checks the connection file at path.
func ReadConnectionFile(path string) (ConnectionInfo, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return ConnectionInfo{}, fmt.Errorf("read the connection file: %w", err)
	}
	info, err := ParseConnection(data)
	if err != nil {
		return ConnectionInfo{}, fmt.Errorf("connection file %s: %w", path, err)
	}
	return info, nil
}

// ParseConnection reads a connection file's JSON. Keys it does not know are
// ignored; absent transport, ip and scheme have Jupyter's defaults.
func ParseConnection(data []byte) (ConnectionInfo, error) {
	var file struct {
		ConnectionInfo
		Registration *int `json:"registration_port"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return ConnectionInfo{}, fmt.Errorf("not a JSON object of Jupyter's form: %w", err)
	}
	if file.Registration != nil {
		return ConnectionInfo{}, errors.New("it asks for a handshake (registration_port), which no released client does; start the kernel with a connection file that has the five ports")
	}
	info := file.ConnectionInfo
	if info.Transport == "" {
		info.Transport = "tcp"
	}
	if info.IP == "" && info.Transport == "tcp" {
		info.IP = "127.0.0.1"
	}
	if info.SignatureScheme == "" {
		info.SignatureScheme = Scheme
	}
	return info, info.check()
}

// check says what is wrong with info as a whole, and what to do about it.
func (info ConnectionInfo) check() error {
	if info.Transport != "tcp" && info.Transport != "ipc" {
		return fmt.Errorf("transport %q is not supported; use \"tcp\" or \"ipc\"", info.Transport)
	}
	if info.IP == "" {
		return errors.New("ip is missing; with ipc it is the path of the socket files")
	}
	if _, err := NewSigner(info.SignatureScheme, info.Key); err != nil {
		return err
	}
	used := map[int]string{}
	for _, p := range info.ports() {
		if p.port < 1 || info.Transport == "tcp" && p.port > 65535 {
			return fmt.Errorf("%s is %d; it must be a port number from 1 to 65535", p.name, p.port)
		}
		if other, dup := used[p.port]; dup {
			return fmt.Errorf("%s and %s are both %d; every socket needs a port of its own", other, p.name, p.port)
		}
		used[p.port] = p.name
	}
	return nil
}

type namedPort struct {
	name string
	port int
}

func (info ConnectionInfo) ports() []namedPort {
	return []namedPort{
		{"shell_port", info.ShellPort}, {"iopub_port", info.IOPubPort}, {"stdin_port", info.StdinPort},
		{"control_port", info.ControlPort}, {"hb_port", info.HBPort},
	}
}

// Endpoint returns the network and address, as package net takes them, of the
// socket at port. The ip "*" means every interface.
func (info ConnectionInfo) Endpoint(port int) (network, address string) {
	if info.Transport == "ipc" {
		return "unix", info.IP + "-" + strconv.Itoa(port)
	}
	host := strings.TrimSuffix(strings.TrimPrefix(info.IP, "["), "]")
	if host == "*" {
		host = ""
	}
	return "tcp", net.JoinHostPort(host, strconv.Itoa(port))
}

// Signer returns the signer for info's key.
func (info ConnectionInfo) Signer() (*Signer, error) {
	return NewSigner(info.SignatureScheme, info.Key)
}

// NewConnection returns a connection on ip with a random key and five ports that
// are free now. Another program can take one before the kernel does; the kernel
// then says so and ends.
func NewConnection(ip string) (ConnectionInfo, error) {
	info := ConnectionInfo{Transport: "tcp", IP: ip, Key: rand.Text(), SignatureScheme: Scheme}
	for _, port := range []*int{&info.ShellPort, &info.IOPubPort, &info.StdinPort, &info.ControlPort, &info.HBPort} {
		network, address := info.Endpoint(0)
		l, err := net.Listen(network, address)
		if err != nil {
			return ConnectionInfo{}, fmt.Errorf("find a free port on %s: %w", ip, err)
		}
		defer l.Close() // all five stay open until all are chosen, so they differ
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return ConnectionInfo{}, fmt.Errorf("find a free port on %s: got the address %s", ip, l.Addr())
		}
		*port = addr.Port
	}
	return info, nil
}

// WriteFile writes info to path, readable by its owner only: it holds the key.
// The file appears whole or not at all.
func (info ConnectionInfo) WriteFile(path string) error {
	data, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the connection file: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".connection-*") // CreateTemp's mode is 0600
	if err != nil {
		return fmt.Errorf("write the connection file: %w", err)
	}
	defer os.Remove(tmp.Name()) // fails, as it should, once renamed
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write the connection file: %w", err)
	}
	return nil
}

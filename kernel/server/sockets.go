package server

import (
	"fmt"

	"github.com/warpbook/warpbook/kernel/transport"
)

type channel = transport.Channel

const (
	shell        = transport.Shell
	control      = transport.Control
	stdinChannel = transport.Stdin
)

// open opens the sockets.
func (k *kernel) open() (err error) {
	k.sockets, err = transport.Listen(k.ctx, transport.Config{Info: k.opts.Connection, Log: k.log, Welcome: k.welcome})
	if err != nil {
		return fmt.Errorf("cannot open the kernel's sockets; is another kernel using this connection file? %w", err)
	}
	return nil
}

// welcome is the message that tells a subscriber that its subscription is in
// force, so that it can be sure to miss nothing.
func (k *kernel) welcome(topic string) [][]byte {
	m, err := k.wire.IOPub(nil, "iopub_welcome", map[string]string{"subscription": topic})
	if err != nil {
		k.log.Error("cannot encode a welcome", "err", err)
		return nil
	}
	m.Identities = [][]byte{[]byte(topic)} // a subscriber takes only what begins with its topic
	frames, err := k.signer.Encode(m)
	if err != nil {
		k.log.Error("cannot encode a welcome", "err", err)
		return nil
	}
	return frames
}

package server_test

import (
	"testing"

	"github.com/warpbook/warpbook/kernel/transport"
)

// BenchmarkExecute is a trivial cell's round trip over real sockets: request to
// reply and idle. The fake session does nothing, so all of it is ours.
func BenchmarkExecute(b *testing.B) {
	for _, c := range []struct{ name, code string }{{"nothing", ""}, {"print", "print hello"}} {
		b.Run(c.name, func(b *testing.B) {
			k := start(b, nil)
			cl := dial(b, k.info)
			cl.run("")
			for b.Loop() {
				req := cl.execute(c.code)
				cl.outputs(req)
				cl.reply(transport.Shell, req)
			}
		})
	}
}

// BenchmarkLines is a cell that prints 100,000 lines of 100 bytes to a client that
// reads as fast as it can.
func BenchmarkLines(b *testing.B) {
	k := start(b, nil)
	cl := dial(b, k.info)
	b.SetBytes(100_000 * 106) // "99999", the padding, and the newline
	for b.Loop() {
		req := cl.execute("lines 100000 100")
		cl.outputs(req)
		cl.reply(transport.Shell, req)
	}
}

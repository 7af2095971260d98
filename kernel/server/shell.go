package server

import "time"

// How long a failed cell's reply waits for requests that were sent together with
// it and are still on their way, and the most it waits for a stream of them.
const (
	abortQuiet = 10 * time.Millisecond
	abortLimit = 5 * time.Second
)

// queueBytes bounds what is read ahead of the queue behind a failed cell; what
// is beyond it waits in the sockets.
const queueBytes = 64 << 20

// serveShell answers requests one after the other until the kernel ends.
func (k *kernel) serveShell() {
	incoming := k.sockets.Recv(shell)
	for k.ctx.Err() == nil {
		if len(k.queued) > 0 {
			r := k.queued[0]
			k.queued[0] = nil
			k.queued = k.queued[1:]
			k.serve(r)
			continue
		}
		select {
		case frames, ok := <-incoming:
			if !ok {
				return
			}
			if r := k.receive(shell, frames); r != nil {
				k.serve(r)
				k.session.warm(k.ctx) // the first reply is out: time to get ready for a cell
			}
		case <-k.ctx.Done():
		}
	}
}

// receive decodes a message, or logs why it is dropped.
func (k *kernel) receive(ch channel, frames [][]byte) *request {
	m, err := k.decoder.Decode(frames)
	if err != nil {
		k.log.Warn("a message was dropped", "channel", ch, "err", err)
		return nil
	}
	return &request{msg: m, ch: ch}
}

// abortQueue marks every execute request that is already queued as aborted. It
// runs before the failed cell's reply is sent: what a front end sends after it
// has seen that reply is not behind the error. An aborted request keeps only
// what its reply needs, so a long queue costs little memory.
func (k *kernel) abortQueue() {
	size := 0
	abort := func(r *request) {
		if r.msg.Header.MsgType == "execute_request" {
			r.aborted = true
			r.msg = r.parent()
		}
		size += 512 + len(r.msg.Header.Raw) + len(r.msg.Content)
		for _, b := range r.msg.Buffers {
			size += len(b)
		}
	}
	for _, r := range k.queued {
		abort(r)
	}
	end := time.After(abortLimit)
	for size < queueBytes {
		select {
		case frames, ok := <-k.sockets.Recv(shell):
			if !ok {
				return
			}
			if r := k.receive(shell, frames); r != nil {
				abort(r)
				k.queued = append(k.queued, r)
			}
		case <-time.After(abortQuiet):
			return
		case <-end:
			return
		case <-k.ctx.Done():
			return
		}
	}
}

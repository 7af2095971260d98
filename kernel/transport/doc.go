// Package transport is the kernel's five sockets, and a client's ends of them.
//
// The sockets speak ZMTP 3.x, ZeroMQ's protocol, with the NULL mechanism, over
// TCP or ipc. The package is built around one rule: nothing that a peer sends
// or does not send hurts another peer or the process.
//
// From the bottom up:
//
//   - a reader (reader.go) reads greeting, READY and frames from one connection.
//     It follows the lengths with a cap, lets memory grow only with the bytes
//     that have arrived, and answers PING. Whatever is malformed ends that one
//     connection.
//   - a queue (queue.go) holds what one peer has yet to be sent. A goroutine of
//     its own writes it, many messages at once when there are many. A peer over
//     its byte limit that reads nothing for a while is disconnected and logged;
//     nothing is ever dropped from the middle.
//   - a peer (peer.go) is a connection with both, past its handshake. A guard
//     (guard.go) listens and makes peers; handshakes run beside each other with a
//     deadline, and the number of unfinished ones is bounded.
//   - shell, control, stdin and heartbeat are go-zeromq ROUTER sockets on a
//     transport of ours (router.go) that hands them guarded peers only: go-zeromq
//     sees connections that are past a sound handshake, and whole messages.
//   - iopub is a PUB socket of our own on guarded peers (publisher.go).
//     go-zeromq's PUB either lets one stalled subscriber stop all or drops
//     messages silently, and it never reports a subscription.
//   - [Sockets] is the kernel's end of it all, [Client] a front end's.
//
// What bounds memory: MaxFrame for one incoming message, four times that for all
// large incoming messages of a process together, QueueLimit for what waits for
// one peer, and fixed numbers of peers and handshakes for each socket.
// When a socket is full, the oldest unfinished handshake or the newest peer that
// has said nothing gives way.
//
// When a subscriber is over QueueLimit, Publish waits as long as that
// subscriber reads: a slow client slows the cell down but gets every line. A
// subscriber that reads nothing for StallTimeout is disconnected. A peer of a
// ROUTER that is over QueueLimit is not read from until it has caught up, so
// that Send never waits.
package transport

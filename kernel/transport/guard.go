package transport

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

const (
	maxHalfOpen = 128 // handshakes at once on a socket; the oldest gives way to a new one
	maxPeers    = 256 // peers at once on a socket, and as many more as shake hands just then; one that has said nothing gives way
)

// guard listens on one address and turns connections into peers.
type guard struct {
	kind   string
	limits limits
	log    *slog.Logger
	admit  func(*peer) // takes a new peer; must not block for long

	ln     net.Listener
	mu     sync.Mutex
	half   list.List        // of net.Conn, oldest first
	peers  map[*peer]uint64 // numbered in the order they came
	count  uint64
	closed bool
	work   sync.WaitGroup
}

// newGuard listens; accepting begins with start.
func newGuard(network, address, kind string, l limits, log *slog.Logger) (*guard, error) {
	ln, err := listen(network, address)
	if err != nil {
		return nil, err
	}
	return &guard{kind: kind, limits: l, log: log, ln: ln, peers: map[*peer]uint64{}}, nil
}

func (g *guard) start() { g.work.Go(g.accept) }

// accept runs until the listener is closed. When the process has no descriptor
// left it frees the oldest unfinished handshake and waits a little.
func (g *guard) accept() {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		conn, err := g.ln.Accept()
		if err == nil {
			pause = shortest
			if elem := g.begin(conn); elem != nil {
				g.work.Go(func() { g.open(conn, elem) })
			}
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		g.log.Warn("cannot accept a connection, will try again", "after", pause, "reason", err.Error())
		g.dropOldest()
		time.Sleep(pause)
		pause = min(2*pause, longest)
	}
}

// begin notes a handshake, nil when there can be no more peers.
func (g *guard) begin(conn net.Conn) *list.Element {
	g.makeRoom()
	g.mu.Lock()
	full := g.closed || len(g.peers) >= maxPeers
	crowded := g.half.Len() >= maxHalfOpen
	var elem *list.Element
	if !full {
		elem = g.half.PushBack(conn)
	}
	g.mu.Unlock()
	if full {
		g.log.Warn("connection refused", "peer", conn.RemoteAddr().String(), "reason", "too many peers")
		conn.Close()
	} else if crowded {
		g.dropOldest()
	}
	return elem
}

// makeRoom closes, when there are as many peers as may be, the newest of those
// that have said nothing. Idle connections of one attacker so replace each
// other, not a front end's stdin, which is silent but older.
func (g *guard) makeRoom() {
	var newest *peer
	g.mu.Lock()
	if len(g.peers) >= maxPeers {
		for p, n := range g.peers {
			if !p.heard.Load() && (newest == nil || n > g.peers[newest]) {
				newest = p
			}
		}
	}
	g.mu.Unlock()
	if newest != nil {
		newest.close(errIdle)
	}
}

var errIdle = errors.New("too many peers, and this one has said nothing")

// dropOldest closes the connection whose handshake has taken longest.
func (g *guard) dropOldest() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if front := g.half.Front(); front != nil {
		if conn, ok := g.half.Remove(front).(net.Conn); ok {
			conn.Close()
		}
	}
}

// open shakes hands and admits the peer.
func (g *guard) open(conn net.Conn, elem *list.Element) {
	p, err := newPeer(conn, g.kind, "", g.limits, g.log)
	g.mu.Lock()
	g.half.Remove(elem) // no-op when it was dropped already
	if err == nil && !g.closed {
		g.count++
		g.peers[p] = g.count
		p.start(g.forget)
	}
	closed := g.closed
	g.mu.Unlock()
	switch {
	case err != nil:
		g.log.Info("handshake failed, connection closed", "peer", conn.RemoteAddr().String(), "reason", err.Error())
	case closed:
		p.close(nil)
	default:
		g.admit(p)
	}
}

func (g *guard) forget(p *peer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.peers, p)
}

// shut stops listening and ends the unfinished handshakes. The peers stay.
func (g *guard) shut() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.ln.Close()
	for g.halfOpen() > 0 {
		g.dropOldest()
	}
}

func (g *guard) halfOpen() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.half.Len()
}

// all returns the peers of now.
func (g *guard) all() []*peer {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]*peer, 0, len(g.peers))
	for p := range g.peers {
		out = append(out, p)
	}
	return out
}

// finish sends to every peer what is queued for it, beside each other, and ends
// them all.
func (g *guard) finish(ctx context.Context) error {
	var (
		work sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for _, p := range g.all() {
		work.Go(func() {
			if err := p.finish(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	work.Wait()
	g.work.Wait()
	return errors.Join(errs...)
}

// listen is net.Listen that gets a stale ipc file out of the way. The file that
// it makes is for its owner only.
func listen(network, address string) (net.Listener, error) {
	if network != "unix" {
		return net.Listen(network, address)
	}
	if info, err := os.Lstat(address); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("%s exists and is not a socket; remove it or choose another path", address)
		}
		if conn, err := net.DialTimeout("unix", address, time.Second); err == nil {
			conn.Close()
			return nil, fmt.Errorf("%s is in use by another process; choose another path", address)
		}
		if err := os.Remove(address); err != nil {
			return nil, fmt.Errorf("remove a stale socket file: %w", err)
		}
	}
	ln, err := net.Listen("unix", address)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(address, 0o600); err != nil {
		ln.Close()
		return nil, err
	}
	return ln, nil
}

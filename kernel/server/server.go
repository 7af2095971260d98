package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/warpbook/warpbook/kernel/history"
	"github.com/warpbook/warpbook/kernel/session"
	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/kernel/wire"
)

// Options says what to serve and where.
type Options struct {
	Connection wire.ConnectionInfo
	// Session starts the notebook's session. Run calls it after the sockets are
	// open, so it may be slow; when it fails, it is called again for the next
	// request that needs a session. Its context ends when the kernel ends.
	Session func(context.Context) (session.Session, error)
	History *history.Store // nil keeps none; Run closes it
	Log     *slog.Logger   // nil logs nothing
	Version string         // of the kernel
	Banner  string         // shown by consoles; a default is made from Version
}

// How long the end of the kernel may take, step by step.
const (
	cellGrace  = time.Second     // for an interrupted cell to send its reply
	closeGrace = 2 * time.Second // for the child to end, and again for the sockets to flush
	warmDelay  = 300 * time.Millisecond
)

// kernel is one run of the server.
type kernel struct {
	opts    Options
	log     *slog.Logger
	wire    *wire.Session
	signer  *wire.Signer
	decoder *wire.Decoder
	sockets *transport.Sockets
	session *starter
	stdin   stdin
	ctx     context.Context // ends with the kernel
	stop    context.CancelFunc

	queued []*request    // shell requests read ahead; the shell goroutine's own
	count  int           // the n of the last In [n]; the shell goroutine's own
	slots  chan struct{} // a place for each slow request on control

	mu      sync.Mutex
	running *output // the cell that runs, if any
}

// Run serves a notebook until it is shut down by a request, by SIGTERM, by the
// end of ctx, or by the death of the process that started it; all these return
// nil. An error means that the kernel could not start.
func Run(ctx context.Context, opts Options) error {
	k, err := newKernel(ctx, opts)
	if err != nil {
		return err
	}
	defer k.stop()
	signals := make(chan os.Signal, 4)
	// SIGPIPE is taken so that a log line to a front end that has gone, and has
	// taken its end of our standard error along, does not end us before we end
	// the session.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer signal.Stop(signals)
	if err := k.open(); err != nil {
		return err
	}
	k.status(nil, starting)

	var shell, others sync.WaitGroup
	shell.Go(k.serveShell)
	others.Go(k.serveControl)
	others.Go(k.serveStdin)
	others.Go(func() { k.serveSignals(signals) })
	others.Go(func() { watchParent(k.ctx, os.Getenv("JPY_PARENT_PID"), k.log, k.stop) })
	warm := time.AfterFunc(warmDelay, func() { k.session.warm(k.ctx) })
	<-k.ctx.Done()
	warm.Stop()
	k.end(&shell)
	others.Wait()
	return nil
}

func newKernel(ctx context.Context, opts Options) (*kernel, error) {
	signer, err := opts.Connection.Signer()
	if err != nil {
		return nil, fmt.Errorf("cannot sign messages; correct the connection file: %w", err)
	}
	if opts.Session == nil {
		return nil, errors.New("the kernel has no session to run cells in; set Options.Session")
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	k := &kernel{
		opts:    opts,
		log:     opts.Log,
		wire:    wire.NewSession(username()),
		signer:  signer,
		decoder: wire.NewDecoder(signer, wire.DefaultLimits),
		session: &starter{open: opts.Session, log: opts.Log},
		slots:   make(chan struct{}, 16),
	}
	k.stdin.turn = make(chan struct{}, 1)
	k.ctx, k.stop = context.WithCancel(ctx)
	return k, nil
}

func username() string {
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return "kernel"
}

func (k *kernel) serveSignals(signals <-chan os.Signal) {
	for {
		select {
		case s := <-signals:
			switch s {
			case os.Interrupt:
				k.interrupt()
			case syscall.SIGPIPE:
			default:
				k.log.Info("ending because of a signal", "signal", s)
				k.stop()
				return
			}
		case <-k.ctx.Done():
			return
		}
	}
}

// end gives the running cell a moment to send its reply, ends the session with
// everything it started, and flushes what is still to be written.
func (k *kernel) end(shell *sync.WaitGroup) {
	done := make(chan struct{})
	go func() { shell.Wait(); close(done) }()
	k.interrupt()
	waitFor(done, cellGrace)
	if !within(closeGrace, func() { k.session.close() }) {
		k.log.Warn("the session did not end in time and is left behind")
	}
	waitFor(done, closeGrace)
	if k.opts.History != nil && !within(closeGrace, func() { k.opts.History.Close() }) {
		k.log.Warn("the history was not written in time")
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := k.sockets.Close(ctx); err != nil {
		k.log.Warn("the sockets were closed before everything was sent", "err", err)
	}
}

func waitFor(done <-chan struct{}, limit time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

func within(limit time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	return waitFor(done, limit)
}

// interrupt stops the running cell, wherever it waits: for the session, for its
// own code, or for input.
func (k *kernel) interrupt() {
	if s := k.session.peek(); s != nil {
		guard(k.log, "interrupt", s.Interrupt)
	}
	k.mu.Lock()
	running := k.running
	k.mu.Unlock()
	if running != nil {
		running.interrupt()
	}
}

func (k *kernel) setRunning(o *output) {
	k.mu.Lock()
	k.running = o
	k.mu.Unlock()
}

// guard calls f and turns a panic into a log line and false.
func guard(log *slog.Logger, what string, f func()) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("a panic in the kernel; please report it", "in", what, "panic", p, "stack", string(debug.Stack()))
			ok = false
		}
	}()
	f()
	return true
}

package execute

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/server"
	"github.com/warpbook/warpbook/kernel/session"
	"github.com/warpbook/warpbook/kernel/wire"
)

// The tests run real kernels: this test's own program, started again, serves the
// protocol over real sockets with a session that obeys a few words, one a line.
const asKernel = "WARPBOOK_EXECUTE_TEST_KERNEL"

func TestMain(m *testing.M) {
	if os.Getenv(asKernel) == "" {
		os.Exit(m.Run())
	}
	info, err := wire.ReadConnectionFile(os.Args[1])
	if err == nil {
		err = server.Run(context.Background(), server.Options{Connection: info, Version: "test",
			Session: func(context.Context) (session.Session, error) {
				return &words{interrupt: make(chan struct{}, 1)}, nil
			}})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func testCommand(t *testing.T) Command {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{Argv: []string{exe, "{connection_file}"}, Env: map[string]string{asKernel: "1"}}
}

func startKernel(t *testing.T) *Kernel {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	k, err := Start(ctx, testCommand(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// words is a session whose language is:
//
//	print TEXT, warn TEXT   to stdout or stderr; \n, \r are escapes
//	result TEXT             what the cell shows as its result
//	show ID TEXT            a display; ID "-" is none
//	update ID TEXT          an update of it
//	clear, clear wait       clear_output
//	fail NAME               an error
//	hang                    until interrupted
//	die                     the whole kernel, at once
type words struct {
	session.Session // what is not defined here is not asked for
	interrupt       chan struct{}
}

func (w *words) Execute(ctx context.Context, c session.Cell, ev session.Events) session.Outcome {
	for line := range strings.Lines(c.Code) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(rest)
		id, text, _ := strings.Cut(rest, " ")
		id = strings.TrimPrefix(id, "-")
		bundle := func(s string) display.Bundle { return display.Bundle{Data: map[string]any{"text/plain": s}} }
		var err error
		switch word {
		case "print":
			ev.Stream("stdout", rest)
		case "warn":
			ev.Stream("stderr", rest)
		case "result":
			ev.Publish(display.Message{Kind: display.Result, Bundle: bundle(rest)})
		case "show":
			ev.Publish(display.Message{Kind: display.Data, ID: id, Bundle: bundle(text)})
		case "update":
			ev.Publish(display.Message{Kind: display.Update, ID: id, Bundle: bundle(text)})
		case "clear":
			ev.Publish(display.Message{Kind: display.Clear, Wait: rest == "wait"})
		case "fail":
			err = fmt.Errorf("%s", rest)
		case "hang":
			select {
			case <-w.interrupt:
				err = fmt.Errorf("interrupted")
			case <-ctx.Done():
				err = ctx.Err()
			}
		case "die":
			os.Exit(3)
		}
		if err != nil {
			return session.Outcome{Err: &session.Error{Name: err.Error(), Value: "on purpose", Traceback: []string{"line"}}}
		}
	}
	return session.Outcome{}
}

func (w *words) Interrupt() {
	select {
	case w.interrupt <- struct{}{}:
	default:
	}
}

func (w *words) Comms() map[string]string { return nil }
func (w *words) Close() error             { return nil }

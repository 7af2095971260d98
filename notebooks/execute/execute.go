package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/warpbook/warpbook/kernel/transport"
	"github.com/warpbook/warpbook/notebooks/nbformat"
)

// interruptGrace is what a cell gets to end after an interrupt.
const interruptGrace = 10 * time.Second

// Tags of cells that execution honours.
const (
	raisesException = "raises-exception" // an error of this cell does not end the run
	skipExecution   = "skip-execution"   // the cell is not run
)

// Options says how a notebook is run.
type Options struct {
	Timeout     time.Duration         // for each cell; 0 is no limit
	AllowErrors bool                  // go on after a cell that failed
	Progress    func(done, total int) // called before each cell and at the end; may be nil
}

// CellError is the error of a cell that failed.
type CellError struct {
	Cell      int      `json:"-"` // position in the notebook, from 1
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

func (e *CellError) Error() string {
	return fmt.Sprintf("cell %d failed: %s: %s", e.Cell, e.Name, e.Value)
}

// TimeoutError says that a cell ran for longer than it may.
type TimeoutError struct {
	Cell  int // position in the notebook, from 1
	Limit time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("cell %d ran for longer than %s and was interrupted; --timeout gives it more", e.Cell, e.Limit)
}

// Notebook runs the code cells of nb in order and records in nb what they show.
// It ends at the first cell that fails, unless the options or the cell's tags
// allow that, with a *CellError. Whatever ends it, nb then holds all outputs so
// far, and cells that did not run have none.
func Notebook(ctx context.Context, k *Kernel, nb *nbformat.Notebook, o Options) (err error) {
	if info, ok := k.Info["language_info"]; ok {
		if err := nb.Metadata.Set("language_info", info); err != nil {
			return err
		}
	}
	var code []int
	for i := range nb.Cells {
		c := &nb.Cells[i]
		if c.Type != nbformat.Code {
			continue
		}
		c.Outputs, c.ExecutionCount = nil, nil
		delete(c.Metadata, "execution")
		if strings.TrimSpace(c.Source) != "" && !slices.Contains(c.Tags(), skipExecution) {
			code = append(code, i)
		}
	}
	r := &run{kernel: k, options: o, outputs: newOutputs()}
	defer func() { err = errors.Join(err, r.outputs.finish()) }()
	for done, i := range code {
		if o.Progress != nil {
			o.Progress(done, len(code))
		}
		if err := r.cell(ctx, i+1, &nb.Cells[i]); err != nil {
			return err
		}
	}
	if o.Progress != nil {
		o.Progress(len(code), len(code))
	}
	return nil
}

// run is one run of a notebook.
type run struct {
	kernel  *Kernel
	options Options
	outputs *outputs
}

// cell runs one cell; n is its position.
func (r *run) cell(ctx context.Context, n int, cell *nbformat.Cell) error {
	goOn := r.options.AllowErrors || slices.Contains(cell.Tags(), raisesException)
	id, err := r.kernel.send(transport.Shell, "execute_request", map[string]any{
		"code": cell.Source, "silent": false, "store_history": true,
		"user_expressions": map[string]string{}, "allow_stdin": false, "stop_on_error": !goOn,
	})
	if err != nil {
		return r.kernel.cause(err)
	}
	seen := r.outputs.begin(id, cell)
	limit := ctx
	if r.options.Timeout > 0 {
		var cancel context.CancelFunc
		limit, cancel = context.WithTimeout(ctx, r.options.Timeout)
		defer cancel()
	}
	err = r.wait(limit, id, seen)
	if limit.Err() != nil && err != nil {
		return r.interrupt(ctx, n, id, seen)
	}
	if err != nil {
		return fmt.Errorf("cell %d: %w", n, err)
	}
	if seen.failure != nil && !goOn {
		seen.failure.Cell = n
		return seen.failure
	}
	return nil
}

// wait takes messages until the cell has both its reply and its idle.
func (r *run) wait(ctx context.Context, id string, seen *cellOutputs) error {
	for replied := seen.status != ""; !replied || !seen.idle; {
		m, ch, err := r.kernel.receive(ctx)
		if err != nil {
			return err
		}
		if ch == transport.IOPub {
			if err := r.outputs.take(m); err != nil {
				return err
			}
			continue
		}
		if parent, ok := m.Parent(); ok && parent.MsgID == id && m.Header.MsgType == "execute_reply" {
			if err := seen.replied(m); err != nil {
				return err
			}
			replied = true
		}
	}
	return nil
}

// interrupt stops a cell whose time is over, or whose run was cancelled, and
// collects what it still shows.
func (r *run) interrupt(ctx context.Context, n int, id string, seen *cellOutputs) error {
	if err := r.kernel.Interrupt(); err != nil {
		return r.kernel.cause(err)
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruptGrace)
	defer cancel()
	if err := r.wait(grace, id, seen); errors.Is(err, ErrDied) {
		return fmt.Errorf("cell %d: %w", n, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("cell %d was interrupted: %w", n, ctx.Err())
	}
	return &TimeoutError{Cell: n, Limit: r.options.Timeout}
}

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/warpbook/warpbook/display"
)

// patience is how long an interrupted child may take to answer before it is
// killed: its own patience with waits is shorter (see grace).
const patience = 6 * time.Second

// Run runs a program and returns how it ended, after all that it has written
// until then has reached the sink. Cancelling ctx interrupts the program. Runs
// of several goroutines follow one another.
func (p *Process) Run(ctx context.Context, prog Program, sink Sink) Outcome {
	p.running.Lock()
	defer p.running.Unlock()
	p.drain() // late output of earlier programs
	p.words.reset()
	p.begin(prog.ID, sink)
	defer p.end()

	if err := p.link.send(message{Op: opRun, Program: &prog}); err != nil {
		return p.unsent(prog, err)
	}
	stop := context.AfterFunc(ctx, func() { p.interrupt(prog.ID) })
	defer stop()
	select {
	case out := <-p.done:
		p.drain()
		p.flush()
		return out
	case <-p.dead:
		return Outcome{Died: p.obituary()}
	}
}

func (p *Process) begin(id int, sink Sink) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop.Clear()
	p.sinks.begin(id, sink)
	p.active = true
	p.serial++
}

func (p *Process) end() {
	p.mu.Lock()
	p.active = false
	p.mu.Unlock()
	p.endInput()
}

// unsent is the outcome of a program that could not be sent: the child is dead,
// or the program is not fit to be sent.
func (p *Process) unsent(prog Program, err error) Outcome {
	select {
	case <-p.dead:
		return Outcome{Died: p.obituary()}
	case <-time.After(time.Second):
		return Outcome{Panic: &Panic{Kind: Unsupported, Text: err.Error()}}
	}
}

// Interrupt stops the program that runs, if any. Its Run then returns within
// seconds, most often within milliseconds.
func (p *Process) Interrupt() {
	p.mu.Lock()
	id := p.sinks.current
	p.mu.Unlock()
	p.interrupt(id)
}

func (p *Process) interrupt(id int) {
	p.mu.Lock()
	serial, active := p.serial, p.active && p.sinks.current == id
	p.mu.Unlock()
	if !active {
		return
	}
	p.stop.Request(id)
	// An error means that the child is dead, which Run sees.
	_ = p.link.send(message{Op: opInterrupt, Cell: id})
	p.endInput()
	time.AfterFunc(patience, func() {
		p.mu.Lock()
		same := p.active && p.serial == serial
		p.mu.Unlock()
		if same {
			p.kill()
		}
	})
}

// endInput ends the input request that waits, if any.
func (p *Process) endInput() {
	p.mu.Lock()
	cancel := p.input
	p.input = nil
	p.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// receive serves the child's messages until the connection ends.
func (p *Process) receive() {
	for {
		m, err := p.link.receive()
		if err != nil {
			p.kill() // a child that cannot be understood is of no use; most often it is dead
			return
		}
		p.handle(m)
	}
}

func (p *Process) handle(m message) {
	switch m.Op {
	case opReady:
		close(p.ready)
	case opDone:
		p.done <- received(m.Outcome)
	case opStdin:
		go p.ask(m.Cell)
	case opPublish, opStream, opComm:
		p.emit(m)
		// An error means that the child is dead.
		_ = p.link.send(message{Op: opAck, Seq: m.Seq})
	}
}

// received is an outcome whose bundle has its type again, numbers in it as they
// were written.
func received(o *Outcome) Outcome {
	if o == nil {
		return Outcome{}
	}
	if o.Bundle != nil {
		var b display.Bundle
		data, err := json.Marshal(o.Bundle)
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(data))
			d.UseNumber()
			err = d.Decode(&b)
		}
		if err != nil { // it has just been decoded from JSON
			b = display.Bundle{Data: map[string]any{"text/plain": err.Error()}}
		}
		o.Bundle = b
	}
	return *o
}

// emit hands a message to the sink of its program.
func (p *Process) emit(m message) {
	if m.Op != opStream {
		p.drain()
	}
	sink := p.sink(m.Cell)
	if sink == nil {
		return
	}
	switch {
	case m.Op == opStream:
		sink.Stream(m.Name, m.Text)
	case m.Op == opPublish && m.Message != nil:
		sink.Publish(*m.Message)
	case m.Op == opComm && m.Comm != nil:
		sink.Comm(*m.Comm)
	}
}

// errNoSink is what a program is told that asks for input when nobody listens.
var errNoSink = errors.New("nobody is there to give input")

// ask answers a read of standard input.
func (p *Process) ask(cell int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.mu.Lock()
	p.input = cancel
	p.mu.Unlock()
	p.drain()
	text, err := "", errNoSink
	if sink := p.sink(cell); sink != nil {
		text, err = sink.Input(ctx, "", false)
	}
	if ctx.Err() != nil {
		return // interrupted; the child knows
	}
	p.endInput()
	m := message{Op: opInput, Cell: cell, Text: text + "\n"}
	if err != nil {
		m.Text, m.Error = "", err.Error()
	}
	_ = p.link.send(m) // an error means that the child is dead
}

func (p *Process) sink(cell int) Sink {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sinks.of(cell)
}

// stream hands text from a pipe to the current program's sink.
func (p *Process) stream(name, text string) {
	if sink := p.sink(0); sink != nil && text != "" {
		sink.Stream(name, text)
	}
}

// drain reads what the child has written so far.
func (p *Process) drain() {
	p.out.drain()
	p.err.drain()
}

// flush ends the output of a program: nothing is held back any more.
func (p *Process) flush() {
	p.out.flush()
	p.err.flush()
	p.words.release()
}

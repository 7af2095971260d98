package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// Schedules runs a launch n times, each time from the memory that it found and under
// another order of blocks and warps: the device's seed and those that follow. The
// report is that of the first run, whose results stay in memory, with what only other
// orders found. Results that differ are a finding of the kind ScheduleDependent. What
// the kernel prints is printed in the first run only, and only that one is watched.
func (d *Device) Schedules(ctx context.Context, k *Kernel, spec Launch, n int, watch ...Checker) (*Report, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d schedules; at least one is needed", n)
	}
	before := d.snapshot()
	seed := d.cfg.Seed
	first, err := d.Launch(ctx, k, spec, watch...)
	if err != nil || n == 1 {
		return first, err
	}
	result := before.now()
	all := &findings{report: first}
	all.note(seed)
	defer func() {
		result.restore()
		d.SetSeed(seed)
	}()
	print := d.out.redirect(io.Discard)
	defer d.out.redirect(print)
	for i := 1; i < n; i++ {
		before.restore()
		d.SetSeed(seed + uint64(i))
		r, err := d.Launch(ctx, k, spec)
		if err != nil {
			return first, err
		}
		all.merge(r, seed+uint64(i))
		if fatal(first) || fatal(r) {
			continue // such a run has no result
		}
		if f, differs := result.differs(k, seed, seed+uint64(i)); differs {
			all.add(f)
		}
	}
	return first, nil
}

func fatal(r *Report) bool {
	for i := range r.Findings {
		if r.Findings[i].Fatal {
			return true
		}
	}
	return false
}

// redirect makes the output go elsewhere, and returns where it went.
func (o *output) redirect(w io.Writer) io.Writer {
	o.mu.Lock()
	defer o.mu.Unlock()
	old := o.w
	o.w = w
	return old
}

// findings merges those of several runs.
type findings struct {
	report *Report
	seen   map[findingKey]bool
}

func mergeKey(f *Finding) findingKey {
	key := findingKey{kind: f.Kind, line: f.At.Line, label: f.Label}
	if f.At.Line == 0 {
		key.inst = f.At.PTX
	}
	if f.Kind != ScheduleDependent {
		key.verb, _, _ = strings.Cut(f.Message, " ")
	}
	return key
}

// note remembers the findings of the first run.
func (l *findings) note(seed uint64) {
	l.seen = map[findingKey]bool{}
	for i := range l.report.Findings {
		f := &l.report.Findings[i]
		f.Seed = seed
		l.seen[mergeKey(f)] = true
	}
}

func (l *findings) merge(r *Report, seed uint64) {
	for _, f := range r.Findings {
		f.Seed = seed
		l.add(f)
	}
}

func (l *findings) add(f Finding) {
	if key := mergeKey(&f); !l.seen[key] {
		l.seen[key] = true
		l.report.Findings = append(l.report.Findings, f)
	}
}

// memory is the contents of allocations at some time.
type memory []contents

type contents struct {
	a    *Allocation
	data []byte
	init []uint64 // nil when all of it was written
}

func save(a *Allocation) contents {
	c := contents{a: a, data: bytes.Clone(a.Data)}
	if !a.ready.Load() {
		c.init = make([]uint64, len(a.init))
		for i := range c.init {
			c.init[i] = a.init[i].Load()
		}
	}
	return c
}

// snapshot copies what a launch can change.
func (d *Device) snapshot() (m memory) {
	for _, a := range d.allocs {
		if !a.freed && !a.ReadOnly {
			m = append(m, save(a))
		}
	}
	return m
}

// now copies what the allocations hold by now; those that have not changed share
// their contents with m.
func (m memory) now() (after memory) {
	for _, c := range m {
		if c.init != nil || !bytes.Equal(c.data, c.a.Data) {
			c = save(c.a)
		}
		after = append(after, c)
	}
	return after
}

// restore puts the contents back.
func (m memory) restore() {
	for i := range m {
		c := &m[i]
		copy(c.a.Data, c.data)
		for k, v := range c.init {
			c.a.init[k].Store(v)
		}
		c.a.ready.Store(c.init == nil)
	}
}

// differs looks for what the allocations hold otherwise than m, the result under
// another seed, and tells about the first one.
func (m memory) differs(k *Kernel, seed, now uint64) (f Finding, differs bool) {
	for i := range m {
		c := &m[i]
		if bytes.Equal(c.data, c.a.Data) {
			continue
		}
		label, size := c.a.Label, max(c.a.Label.Item, 1)
		first, count, rounding := -1, 0, true
		for at := 0; at < len(c.data); at += size {
			end := min(at+size, len(c.data))
			x, y := c.data[at:end], c.a.Data[at:end]
			if bytes.Equal(x, y) {
				continue
			}
			if count++; first < 0 {
				first = at
			}
			rounding = rounding && label.near(x, y)
		}
		end := min(first+size, len(c.data))
		addr := c.a.Addr + uint64(first)
		f = Finding{Kind: ScheduleDependent, Space: ptx.Global, Address: addr, Bytes: size, Label: label.Name, Offset: int64(first),
			At: Place{Kernel: k.Name()}, Count: 1, Seed: now}
		f.Message = fmt.Sprintf("%s is %s under seed %d and %s under seed %d", c.a.describe(addr), label.value(c.data[first:end]), seed, label.value(c.a.Data[first:end]), now)
		if count > 1 {
			f.Message += fmt.Sprintf("; %d elements of %s differ", count, c.a.name())
		}
		if rounding {
			f.Message += "; it is rounding, as of sums in another order"
		}
		return f, true
	}
	return f, false
}

// number reads an element; ok is false for what is no floating-point number.
func (l Label) number(b []byte) (v, eps float64, ok bool) {
	var w [8]byte
	copy(w[:], b)
	n := binary.LittleEndian.Uint64(w[:])
	switch l.Type {
	case "f16":
		return half.F16(n).Float64(), 1.0 / (1 << 10), true
	case "bf16":
		return half.BF16(n).Float64(), 1.0 / (1 << 7), true
	case "f32":
		return float64(math.Float32frombits(uint32(n))), 1.0 / (1 << 23), true
	case "f64":
		return math.Float64frombits(n), 1.0 / (1 << 52), true
	}
	return 0, 0, false
}

// near reports whether two elements differ by no more than a few roundings.
func (l Label) near(x, y []byte) bool {
	a, eps, ok := l.number(x)
	b, _, _ := l.number(y)
	return ok && math.Abs(a-b) <= 64*eps*max(math.Abs(a), math.Abs(b))
}

// value is an element as text.
func (l Label) value(b []byte) string {
	if v, eps, ok := l.number(b); ok {
		bits := 32
		if eps < 1e-10 {
			bits = 64
		}
		return strconv.FormatFloat(v, 'g', -1, bits)
	}
	var w [8]byte
	copy(w[:], b)
	n := binary.LittleEndian.Uint64(w[:])
	switch l.Type {
	case "i8", "s8":
		return fmt.Sprint(int8(n))
	case "i16", "s16":
		return fmt.Sprint(int16(n))
	case "i32", "s32":
		return fmt.Sprint(int32(n))
	case "i64", "s64":
		return fmt.Sprint(int64(n))
	case "u8", "u16", "u32", "u64":
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%#x", n)
}

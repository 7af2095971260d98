package sim

import (
	"fmt"
	"math/bits"
	"path"
	"strconv"
	"strings"

	"github.com/warpbook/warpbook/cuda/ptx"
)

func itoa(n int) string { return strconv.Itoa(n) }

// opText is an instruction's opcode with its modifiers.
func opText(in *Inst) string {
	text := in.PTX.Text
	if strings.HasPrefix(text, "@") {
		_, text, _ = strings.Cut(text, " ")
	}
	op, _, _ := strings.Cut(text, " ")
	switch {
	case strings.HasPrefix(op, "bar.sync"), strings.HasPrefix(op, "barrier.sync"):
		return "__syncthreads"
	case strings.HasPrefix(op, "bar.warp.sync"):
		return "__syncwarp"
	}
	return strings.TrimSuffix(op, ";")
}

// maskText lists lanes: "0-3,7".
func maskText(m Mask) string {
	var parts []string
	for i := 0; i < WarpSize; i++ {
		if m>>i&1 == 0 {
			continue
		}
		j := i
		for j+1 < WarpSize && m>>(j+1)&1 != 0 {
			j++
		}
		if i == j {
			parts = append(parts, itoa(i))
		} else {
			parts = append(parts, itoa(i)+"-"+itoa(j))
		}
		i = j
	}
	return strings.Join(parts, ",")
}

// Place tells where a lane of w is when it executes in.
func (w *Warp) Place(in *Inst, lane int) Place {
	p := w.block.launch.kernel.Place(in)
	p.Block, p.Thread = w.block.Index, w.Thread(lane)
	return p
}

// Place tells where an instruction is in the source.
func (k *Kernel) Place(in *Inst) Place {
	m := k.module
	pos := &in.PTX.Pos
	// What our own header wrote is shown where the learner's code calls it.
	for pos.InlinedAt != nil && ours(m.ptx.Files[pos.File]) {
		pos = pos.InlinedAt
	}
	p := Place{Kernel: k.Name(), File: path.Base(m.ptx.Files[pos.File]), Line: pos.Line, Column: pos.Col, PTX: in.PTX.Pos.PTX, Text: in.PTX.Text}
	if p.File == "." {
		p.File = ""
	}
	if m.source.Text != "" && pos.Line > 0 && !ours(m.ptx.Files[pos.File]) {
		if m.source.Name != "" {
			p.File = m.source.Name
		}
		p.Source = m.source.line(pos.Line)
	}
	return p
}

func ours(file string) bool { return path.Base(file) == "warpbook.cuh" }

// find reports a finding of the lanes m that is about no address.
func (b *Block) find(w *Warp, in *Inst, m Mask, kind Kind, msg string) {
	lane := bits.TrailingZeros32(m | 1<<31)
	b.Report(in, Finding{Kind: kind, Message: msg, At: w.Place(in, lane), Count: bits.OnesCount32(m)})
}

// fatal reports a finding that ends the launch.
func (b *Block) fatal(w *Warp, in *Inst, m Mask, kind Kind, msg string) {
	lane := bits.TrailingZeros32(m | 1<<31)
	b.Report(in, Finding{Kind: kind, Message: msg, At: w.Place(in, lane), Count: bits.OnesCount32(m), Fatal: true})
	b.stopped = true
	b.launch.stop.Store(true)
}

// Report adds a finding at an instruction to the launch's.
func (b *Block) Report(in *Inst, f Finding) {
	b.launch.add(findingKey{kind: f.Kind, inst: in.Index}, f)
}

// add keeps the first finding of each kind and instruction, and counts the others.
func (l *launch) add(key findingKey, f Finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.At.Line > 0 && key.inst >= 0 {
		key.inst, key.line, key.label = 0, f.At.Line, f.Label
		key.verb, _, _ = strings.Cut(f.Message, " ")
	}
	if old := l.findings[key]; old != nil {
		old.Count += f.Count
		return
	}
	if len(l.order) >= maxFindings {
		return
	}
	l.findings[key] = &f
	l.order = append(l.order, key)
}

// merge adds a finding of a block's checker: the same kind at the same instruction
// is the same finding.
func (l *launch) merge(f Finding) {
	l.add(findingKey{kind: f.Kind, inst: 1_000_000 + f.At.PTX}, f)
}

// describe names an address in global memory: the allocation, and the index of
// the element.
func (a *Allocation) describe(addr uint64) string {
	at := int64(addr - a.Addr)
	label := a.Label
	name := a.name()
	if label.Item <= 0 || len(label.Shape) == 0 {
		return fmt.Sprintf("byte %d of %s", at, name)
	}
	return fmt.Sprintf("%s%s", name, label.index(at))
}

// index turns an offset into the index of an element: "[3,5]".
func (l Label) index(at int64) string {
	n := at / int64(l.Item)
	if at < 0 {
		n = -((-at + int64(l.Item) - 1) / int64(l.Item))
	}
	elements := int64(1)
	for _, d := range l.Shape {
		elements *= int64(d)
	}
	if n < 0 || n >= elements || len(l.Shape) == 1 {
		return fmt.Sprintf("[%d]", n)
	}
	parts := make([]string, len(l.Shape))
	for i := len(l.Shape) - 1; i >= 0; i-- {
		d := int64(max(l.Shape[i], 1))
		parts[i] = strconv.FormatInt(n%d, 10)
		n /= d
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// sharedName names an offset in shared memory.
func (k *Kernel) sharedName(at int) string {
	best := ""
	for _, v := range k.named {
		if at >= v.at && (at < v.at+v.size || best == "" || at < v.at+v.size+128) {
			best = fmt.Sprintf("byte %d of %s", at-v.at, cppName(v.name))
		}
	}
	if at >= k.dynamic && best == "" || at >= k.dynamic && k.dynamic >= k.shared.size {
		return fmt.Sprintf("byte %d of the dynamic shared memory", at-k.dynamic)
	}
	if best == "" {
		return fmt.Sprintf("byte %d of shared memory", at)
	}
	return best
}

// cppName takes the variable's name out of a mangled one: _ZZ6kernelE4tile is tile.
func cppName(name string) string {
	if !strings.HasPrefix(name, "_ZZ") {
		return name
	}
	i := strings.LastIndexByte(name, 'E')
	if i < 0 {
		return name
	}
	rest := strings.TrimLeft(name[i+1:], "0123456789")
	digits := name[i+1 : len(name)-len(rest)]
	if n, err := strconv.Atoi(digits); err == nil && n <= len(rest) {
		return rest[:n]
	}
	return rest
}

// access builds the finding of a lane's bad access.
func (w *Warp) fault(in *Inst, m Mask, lane int, kind Kind, space ptx.Space, addr uint64, n int, what string) Finding {
	f := Finding{Kind: kind, Space: space, Address: addr, Bytes: n, At: w.Place(in, lane), Count: bits.OnesCount32(m)}
	f.Message = what
	return f
}

// Text tells a finding in a few lines: what, where, who, and the other side.
func (f *Finding) Text() string {
	var b strings.Builder
	at := &f.At
	fmt.Fprintf(&b, "%s", f.Kind)
	if at.Line > 0 {
		fmt.Fprintf(&b, " at %s, line %d", orElse(at.File, "the source"), at.Line)
	}
	switch f.Kind {
	case OutOfBounds, Misaligned, UseAfterFree, ReadOnly, Uninitialized, SharedRace, GlobalRace, AsyncWait:
		fmt.Fprintf(&b, ": thread %v of block %v %s", at.Thread, at.Block, f.Message)
	case ScheduleDependent:
		fmt.Fprintf(&b, ": %s", f.Message)
	default:
		fmt.Fprintf(&b, ": %s; thread %v of block %v", f.Message, at.Thread, at.Block)
	}
	if f.Count > 1 {
		fmt.Fprintf(&b, "; %d times in all", f.Count)
	}
	b.WriteString(at.excerpt())
	if o := f.Other; o != nil {
		fmt.Fprintf(&b, "\n  the other: thread %v of block %v at line %d", o.Thread, o.Block, o.Line)
		b.WriteString(o.excerpt())
	}
	if at.Line == 0 && at.Text != "" {
		fmt.Fprintf(&b, "\n  instruction: %s", at.Text)
	}
	return b.String()
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// excerpt is the source line with a caret.
func (p *Place) excerpt() string {
	if p.Source == "" {
		return ""
	}
	text := fmt.Sprintf("\n%5d | %s", p.Line, strings.ReplaceAll(p.Source, "\t", "    "))
	if p.Column > 0 && p.Column <= len(p.Source) {
		pad := strings.ReplaceAll(p.Source[:p.Column-1], "\t", "    ")
		text += "\n      | " + strings.Repeat(" ", len(pad)) + "^"
	}
	return text
}

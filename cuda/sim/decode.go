package sim

import (
	"fmt"

	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim/arith"
)

// decoder turns the instructions of one function into Insts.
type decoder struct {
	k  *Kernel
	m  *Module
	fn *Func
}

// builders has the decoder of each opcode that package arith does not know. It is
// filled once and never changed. A builder fills in and sets in.run.
var builders map[string]func(d *decoder, in *Inst) error

func init() {
	builders = map[string]func(d *decoder, in *Inst) error{
		"ld": (*decoder).load, "ldu": (*decoder).load, "st": (*decoder).store,
		"atom": (*decoder).atom, "red": (*decoder).red,
		"cvta": (*decoder).cvta, "isspacep": (*decoder).isspacep,
		"bra": (*decoder).bra, "brx": (*decoder).brx, "call": (*decoder).call, "ret": (*decoder).ret, "exit": (*decoder).exit,
		"trap": (*decoder).trap, "brkpt": (*decoder).trap,
		"bar": (*decoder).bar, "barrier": (*decoder).bar,
		"membar": (*decoder).fence, "fence": (*decoder).fence,
		"shfl": (*decoder).shfl, "vote": (*decoder).vote, "match": (*decoder).match, "redux": (*decoder).redux,
		"activemask": (*decoder).activemask, "elect": (*decoder).elect,
		"nanosleep": nothing, "prefetch": nothing, "prefetchu": nothing, "discard": nothing, "applypriority": nothing,
		"pmevent": nothing, "griddepcontrol": nothing, "setmaxnreg": nothing, "createpolicy": (*decoder).createpolicy,
	}
	for op, build := range asyncBuilders() {
		builders[op] = build
	}
}

// decode fills fn's code. An instruction that is not known runs into a finding
// when it is reached, not before: a kernel may carry code that it never runs.
func (k *Kernel) decode(fn *Func) {
	d := &decoder{k, k.module, fn}
	fn.code = make([]Inst, len(fn.ptx.Body), len(fn.ptx.Body)+1)
	for i := range fn.code {
		in := &fn.code[i]
		*in = Inst{PTX: &fn.ptx.Body[i], Index: k.insts, Func: fn, guard: -1, vec: 1}
		k.insts++
		k.all = append(k.all, in)
		if g := in.PTX.Guard; g >= 0 {
			in.guard, in.guardNot = int32(fn.index[g]), in.PTX.GuardNot
		}
		in.strong = in.PTX.Volatile || in.PTX.Has("relaxed") || in.PTX.Has("acquire") || in.PTX.Has("release")
		if err := d.instruction(in); err != nil {
			in.extra, in.run = err, unknown
		}
	}
	// Behind the last instruction a function returns.
	fn.code = append(fn.code, Inst{PTX: &ptx.Instruction{Op: "ret", Text: "ret", Guard: -1, Target: -1}, Index: k.insts, Func: fn, guard: -1, control: true, run: execReturn})
	k.insts++
	k.all = append(k.all, &fn.code[len(fn.code)-1])
}

func (d *decoder) instruction(in *Inst) error {
	if build := builders[in.PTX.Op]; build != nil {
		return build(d, in)
	}
	if in.PTX.Op == "mov" && len(in.PTX.Operands) == 2 && in.PTX.Operands[1].Kind == ptx.Symbol {
		return d.movSymbol(in)
	}
	if !arith.Known(in.PTX.Op) {
		return fmt.Errorf("the instruction %s is not known", in.PTX.Op)
	}
	return d.alu(in)
}

func unknown(w *Warp, s *split, in *Inst, m Mask) {
	w.block.fatal(w, in, m, Unsupported, fmt.Sprintf("the simulator does not know %q: %v", in.PTX.Text, in.extra))
}

func nothing(_ *decoder, in *Inst) error {
	in.run = func(*Warp, *split, *Inst, Mask) {}
	return nil
}

func (d *decoder) regType(r int) ptx.Type { return d.fn.ptx.Regs[r].Type }

// alu decodes what package arith computes.
func (d *decoder) alu(in *Inst) (err error) {
	if in.op, err = arith.Compile(in.PTX, d.regType); err != nil {
		return err
	}
	var flat []ptx.Operand // the elements of vectors one by one
	for i, o := range in.PTX.Operands {
		switch {
		case o.Kind == ptx.Vector:
			flat = append(flat, o.Elems...)
		case i == 0 && len(in.op.Dst) == 2 && in.op.Dst[1] == ptx.Pred: // p|q
			second := ptx.Operand{Kind: ptx.Sink, Reg: -1, Reg2: -1}
			if o.Reg2 >= 0 {
				second = ptx.Operand{Kind: ptx.Reg, Reg: o.Reg2, Reg2: -1}
			}
			flat = append(flat, o, second)
		default:
			flat = append(flat, o)
		}
	}
	if len(flat) != len(in.op.Dst)+len(in.op.Src) {
		return fmt.Errorf("%d operands instead of %d", len(flat), len(in.op.Dst)+len(in.op.Src))
	}
	for i, t := range in.op.Dst {
		p, err := d.place(flat[i])
		if err != nil {
			return err
		}
		if p.reg >= 0 && p.pred != (t == ptx.Pred) {
			return fmt.Errorf("a register of the wrong type")
		}
		in.dst = append(in.dst, p)
	}
	for i, t := range in.op.Src {
		s, err := d.source(flat[len(in.op.Dst)+i], t)
		if err != nil {
			return err
		}
		if s.pred != (t == ptx.Pred) {
			return fmt.Errorf("an operand of the wrong type")
		}
		in.src = append(in.src, s)
	}
	switch op := &in.op; {
	case op.Fn1 != nil:
		in.run = execFn1
	case op.Fn2 != nil:
		in.run = execFn2
	case op.Fn3 != nil:
		in.run = execFn3
	case op.Cmp != nil:
		in.run = execCmp
	case op.Sel != nil:
		in.run = execSel
	case op.Logic != nil:
		in.run = execLogic
	default:
		in.run = execAny
	}
	return nil
}

// place decodes a destination.
func (d *decoder) place(o ptx.Operand) (place, error) {
	switch o.Kind {
	case ptx.Sink:
		return place{reg: -1}, nil
	case ptx.Reg:
		if o.Part != "" {
			return place{}, fmt.Errorf("part .%s of a register", o.Part)
		}
		return place{reg: int32(d.fn.index[o.Reg]), pred: d.regType(o.Reg) == ptx.Pred}, nil
	}
	return place{}, fmt.Errorf("a destination that is no register")
}

// second decodes the q of p|q.
func (d *decoder) second(o ptx.Operand) place {
	if o.Reg2 < 0 {
		return place{reg: -1, pred: true}
	}
	return place{reg: int32(d.fn.index[o.Reg2]), pred: d.regType(o.Reg2) == ptx.Pred}
}

// source decodes an operand that is read as a value of type t.
func (d *decoder) source(o ptx.Operand, t ptx.Type) (source, error) {
	if o.Part != "" || o.Neg {
		return source{}, fmt.Errorf("an operand with a sign or a part")
	}
	switch o.Kind {
	case ptx.Reg:
		pred := d.regType(o.Reg) == ptx.Pred
		return source{reg: int32(d.fn.index[o.Reg]), pred: pred, not: o.Not}, nil
	case ptx.Imm:
		if t == ptx.Pred {
			s := source{reg: -1, pred: true, not: o.Not}
			if o.Bits != 0 {
				s.mask = Full
			}
			return s, nil
		}
		return constant(arith.Immediate(t, o)), nil
	case ptx.Special:
		f, err := special(o.Special)
		return source{reg: -1, special: f}, err
	case ptx.Symbol:
		v, err := d.symbol(o.Symbol)
		return constant(v + uint64(o.Offset)), err
	}
	return source{}, fmt.Errorf("an operand of a kind that is not known")
}

func constant(v uint64) source {
	var l Lanes
	broadcast(&l, v)
	return source{reg: -1, konst: &l}
}

// broadcast gives all lanes the same value.
func broadcast(d *Lanes, v uint64) {
	for i := range d {
		d[i] = v
	}
}

// sources decodes operands of the same type.
func (d *decoder) sources(in *Inst, t ptx.Type, list ...ptx.Operand) error {
	for _, o := range list {
		s, err := d.source(o, t)
		if err != nil {
			return err
		}
		in.src = append(in.src, s)
	}
	return nil
}

// operands checks that an instruction has n operands.
func operands(in *Inst, least, most int) error {
	if n := len(in.PTX.Operands); n < least || n > most {
		return fmt.Errorf("%d operands", n)
	}
	return nil
}

// result checks that an instruction has from least to most operands, and decodes the
// first, p or p|q, as what it writes.
func (d *decoder) result(in *Inst, least, most int) error {
	if err := operands(in, least, most); err != nil {
		return err
	}
	o := in.PTX.Operands[0]
	dst, err := d.place(o)
	in.dst = []place{dst, d.second(o)}
	return err
}

// symbol is the address of a variable in its own space, or of a function.
func (d *decoder) symbol(name string) (uint64, error) {
	for _, vars := range []*variables{&d.fn.local, &d.fn.passed, &d.k.shared} {
		if at, ok := vars.at[name]; ok {
			return uint64(at), nil
		}
	}
	for i, p := range d.fn.ptx.Params {
		if p.Name == name && d.fn.ptx.Entry {
			return uint64(d.k.Offsets[i]), nil
		}
	}
	if v := d.m.shared[name]; v != nil {
		return uint64(d.k.dynamic), nil
	}
	if a := d.m.globals[d.fn.Name+"/"+name]; a != nil {
		return a.Addr, nil
	}
	if v, ok := d.m.address(name); ok {
		return v, nil
	}
	return 0, fmt.Errorf("there is no variable %s", name)
}

// movSymbol decodes mov of an address.
func (d *decoder) movSymbol(in *Inst) error {
	p, err := d.place(in.PTX.Operands[0])
	if err != nil {
		return err
	}
	o := in.PTX.Operands[1]
	v, err := d.symbol(o.Symbol)
	if err != nil {
		return err
	}
	in.copies(p, constant(v+uint64(o.Offset)))
	return nil
}

// copies makes the instruction one that copies a source.
func (in *Inst) copies(to place, from source) {
	in.dst, in.src = []place{to}, []source{from}
	in.op.Fn1 = func(d, a *Lanes) { *d = *a }
	in.run = execFn1
}

func (d *decoder) createpolicy(in *Inst) error {
	p, err := d.place(in.PTX.Operands[0])
	in.copies(p, constant(0))
	return err
}

package sim

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// load decodes ld. The address is [register + offset], [variable + offset] or
// [offset].
func (d *decoder) load(in *Inst) error {
	if err := operands(in, 2, 3); err != nil { // the third is a cache policy
		return err
	}
	p := in.PTX
	if err := d.memory(in, p.Operands[1]); err != nil {
		return err
	}
	list := []ptx.Operand{p.Operands[0]}
	if p.Operands[0].Kind == ptx.Vector {
		list = p.Operands[0].Elems
	}
	if len(list) != in.vec {
		return fmt.Errorf("%d registers for %d elements", len(list), in.vec)
	}
	for _, o := range list {
		dst, err := d.place(o)
		if err != nil {
			return err
		}
		if dst.pred {
			return fmt.Errorf("a load into a predicate")
		}
		in.dst = append(in.dst, dst)
		if o.Kind == ptx.Reg {
			in.width = d.regType(o.Reg).Bits()
		}
	}
	if t := p.Type(); t.Signed() && in.width > t.Bits() {
		in.signed = t.Bits()
	}
	in.run = execLoad
	if in.space == ptx.Param {
		in.run = execLoadParam
	}
	return nil
}

// store decodes st.
func (d *decoder) store(in *Inst) error {
	if err := operands(in, 2, 3); err != nil {
		return err
	}
	p := in.PTX
	if p.Has("async") {
		return storeAsync(d, in)
	}
	if err := d.memory(in, p.Operands[0]); err != nil {
		return err
	}
	list := []ptx.Operand{p.Operands[1]}
	if p.Operands[1].Kind == ptx.Vector {
		list = p.Operands[1].Elems
	}
	if len(list) != in.vec {
		return fmt.Errorf("%d values for %d elements", len(list), in.vec)
	}
	in.run = execStore
	if in.space == ptx.Param {
		in.run = execStoreParam
	}
	return d.sources(in, p.Type(), list...)
}

// memory decodes space, size and address.
func (d *decoder) memory(in *Inst, o ptx.Operand) error {
	p := in.PTX
	in.space, in.bytes, in.vec = p.Space, p.Type().Bytes(), max(p.Vec, 1)
	if in.bytes == 0 || in.bytes > 8 {
		return fmt.Errorf("elements of type %v", p.Type())
	}
	if in.space == ptx.Shared || in.space == ptx.Generic {
		d.k.granule = min(d.k.granule, in.bytes*in.vec)
	}
	return d.address(in, o)
}

func (d *decoder) address(in *Inst, o ptx.Operand) (err error) {
	if o.Kind != ptx.Address {
		return fmt.Errorf("an operand that is no address")
	}
	in.addr, in.offset, err = d.base(o)
	_, in.passes = d.fn.passed.at[o.Symbol]
	return err
}

// base decodes the parts of an address.
func (d *decoder) base(o ptx.Operand) (source, uint64, error) {
	switch {
	case o.Symbol != "":
		v, err := d.symbol(o.Symbol)
		return constant(v), uint64(o.Offset), err
	case o.Reg < 0:
		return constant(0), uint64(o.Offset), nil
	}
	s, err := d.source(ptx.Operand{Kind: ptx.Reg, Reg: o.Reg, Reg2: -1}, ptx.B64)
	s.narrow = d.regType(o.Reg).Bytes() == 4
	return s, uint64(o.Offset), err
}

// addresses computes the lanes' addresses into w.addr. A 32-bit register holds an
// address of a small space.
func (w *Warp) addresses(s *split, base *source, offset uint64) *Lanes {
	a := s.get(w, base)
	d := &w.addr
	for i := range d {
		d[i] = a[i] + offset
	}
	if base.narrow {
		for i := range d {
			d[i] &= 0xffffffff
		}
	}
	return d
}

// resolve finds which space generic addresses are in, and makes them offsets
// there. All lanes of m that are in the same space as the first are in same.
func (w *Warp) resolve(addr *Lanes, m Mask) (space ptx.Space, same Mask) {
	first := addr[bits.TrailingZeros32(m)]
	base := uint64(0)
	switch {
	case first-sharedWindow < windowSize:
		space, base = ptx.Shared, sharedWindow
	case first-localWindow < windowSize:
		space, base = ptx.Local, localWindow
	case first-paramWindow < windowSize:
		space, base = ptx.Param, paramWindow
	default:
		for i := range addr {
			if a := addr[i]; m>>i&1 != 0 && a-sharedWindow >= windowSize && a-localWindow >= windowSize && a-paramWindow >= windowSize {
				same |= 1 << i
			}
		}
		return ptx.Global, same
	}
	for i := range addr {
		if m>>i&1 != 0 && addr[i]-base < windowSize {
			same |= 1 << i
			addr[i] -= base
		}
	}
	if space == ptx.Shared {
		for i := range addr {
			if same>>i&1 != 0 && addr[i] >= sharedStride {
				return ptx.SharedCluster, same
			}
		}
	}
	return space, same
}

func execLoad(w *Warp, s *split, in *Inst, m Mask) {
	addr := w.addresses(s, &in.addr, in.offset)
	if in.space == ptx.Generic {
		for m != 0 {
			space, same := w.resolve(addr, m)
			w.loadFrom(s, in, space, addr, same)
			m &^= same
		}
		return
	}
	w.loadFrom(s, in, in.space, addr, m)
}

func (w *Warp) loadFrom(s *split, in *Inst, space ptx.Space, addr *Lanes, m Mask) {
	good := w.touch(s, in, space, addr, m, Load, in.bytes*in.vec)
	p := &w.ptrs
	for e, dst := range in.dst {
		if dst.reg < 0 {
			continue
		}
		d := s.into(w, dst, m, &w.scratch[e])
		off := uintptr(e * in.bytes)
		if good == Full {
			switch in.bytes {
			case 1:
				for i := range d {
					d[i] = uint64(*(*uint8)(unsafe.Add(p[i], off)))
				}
			case 2:
				for i := range d {
					d[i] = uint64(*(*uint16)(unsafe.Add(p[i], off)))
				}
			case 4:
				for i := range d {
					d[i] = uint64(*(*uint32)(unsafe.Add(p[i], off)))
				}
			case 8:
				for i := range d {
					d[i] = *(*uint64)(unsafe.Add(p[i], off))
				}
			}
		} else {
			for i := range d {
				if good>>i&1 != 0 {
					d[i] = peek(unsafe.Add(p[i], off), in.bytes)
				} else if m>>i&1 != 0 {
					d[i] = 0 // what a faulty lane reads
				}
			}
		}
		if in.signed > 0 {
			extend(d, in.signed, in.width)
		}
		s.keep(w, dst, m, d)
	}
}

func peek(p unsafe.Pointer, n int) uint64 {
	switch n {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func poke(p unsafe.Pointer, n int, v uint64) {
	switch n {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}

func extend(d *Lanes, from, to int) {
	keep := ^uint64(0) >> (64 - to)
	for i := range d {
		d[i] = uint64(int64(d[i]<<(64-from))>>(64-from)) & keep
	}
}

func execStore(w *Warp, s *split, in *Inst, m Mask) {
	addr := w.addresses(s, &in.addr, in.offset)
	if in.space == ptx.Generic {
		for m != 0 {
			space, same := w.resolve(addr, m)
			w.storeTo(s, in, space, addr, same)
			m &^= same
		}
		return
	}
	w.storeTo(s, in, in.space, addr, m)
}

func (w *Warp) storeTo(s *split, in *Inst, space ptx.Space, addr *Lanes, m Mask) {
	if in.vec == 1 && len(w.block.checkers) > 0 {
		w.storing = s.get(w, &in.src[0])
	}
	good := w.touch(s, in, space, addr, m, Store, in.bytes*in.vec)
	w.storing = nil
	p := &w.ptrs
	for e := range in.src {
		v := s.get(w, &in.src[e])
		off := uintptr(e * in.bytes)
		if good == Full {
			switch in.bytes {
			case 1:
				for i := range v {
					*(*uint8)(unsafe.Add(p[i], off)) = uint8(v[i])
				}
			case 2:
				for i := range v {
					*(*uint16)(unsafe.Add(p[i], off)) = uint16(v[i])
				}
			case 4:
				for i := range v {
					*(*uint32)(unsafe.Add(p[i], off)) = uint32(v[i])
				}
			case 8:
				for i := range v {
					*(*uint64)(unsafe.Add(p[i], off)) = v[i]
				}
			}
			continue
		}
		for i := range v {
			if good>>i&1 != 0 {
				poke(unsafe.Add(p[i], off), in.bytes, v[i])
			}
		}
	}
}

// touch checks the access of n bytes that each lane of m makes, tells the
// checkers, and puts pointers into w.ptrs. It returns the lanes whose access is
// allowed; the others have a finding.
func (w *Warp) touch(s *split, in *Inst, space ptx.Space, addr *Lanes, m Mask, kind AccessKind, n int) (good Mask) {
	var alloc *Allocation
	switch space {
	case ptx.Global, ptx.Const:
		good, alloc = w.touchGlobal(in, space, addr, m, kind, n)
	case ptx.Shared:
		good = w.touchShared(in, w.block, addr, m, kind, n)
	case ptx.SharedCluster:
		good = w.touchCluster(in, addr, m, kind, n)
	case ptx.Local:
		good = w.touchLocal(s, in, addr, m, kind, n)
	case ptx.Param:
		good = w.touchParam(s, in, addr, m, kind, n)
	default:
		w.block.fatal(w, in, m, Unsupported, fmt.Sprintf("an access to the %v space", space))
		return 0
	}
	if len(w.block.checkers) > 0 && good != 0 && space != ptx.Local && space != ptx.Param {
		a := &w.access
		*a = Access{Kind: kind, Space: space, Bytes: n, Mask: good, Addr: addr, Alloc: alloc, Inst: in, Warp: w, Values: w.storing}
		for _, c := range w.block.checkers {
			c.Access(a)
		}
	}
	return good
}

// touchGlobal checks accesses to global memory. Most often all lanes hit the
// allocation that the instruction hit before.
func (w *Warp) touchGlobal(in *Inst, space ptx.Space, addr *Lanes, m Mask, kind AccessKind, n int) (good Mask, all *Allocation) {
	b := w.block
	a := b.cache[in.Index]
	p := &w.ptrs
	align := uint64(n - 1)
	if a != nil && m == Full && len(a.Data) >= n && !(a.ReadOnly && kind != Load) {
		base, most := a.Addr, uint64(len(a.Data)-n)
		data := unsafe.Pointer(unsafe.SliceData(a.Data))
		bad := uint64(0)
		for i := range addr {
			o := addr[i] - base
			if o > most {
				bad = 1
				break
			}
			bad |= o & align
			p[i] = unsafe.Add(data, o)
		}
		if bad == 0 {
			if a.ready.Load() || w.initialized(in, a, addr, m, kind, n) {
				return Full, a
			}
		}
	}
	for i := range addr {
		if m>>i&1 == 0 {
			continue
		}
		if a == nil || addr[i]-a.Addr >= uint64(len(a.Data)) {
			a = b.launch.dev.find(addr[i])
		}
		if f, bad := w.checkGlobal(in, a, addr[i], i, kind, n); bad {
			b.Report(in, f)
			continue
		}
		b.cache[in.Index] = a
		if good == 0 {
			all = a
		} else if all != a {
			all = nil
		}
		o := addr[i] - a.Addr
		p[i] = unsafe.Pointer(&a.Data[o])
		good |= 1 << i
		switch kind {
		case Load, AsyncRead:
			if !a.written(int(o), n) {
				w.uninitialized(in, i, space, addr[i], n, a.Label.Name, a.describe(addr[i]), int64(o))
			}
		case Atomic:
			if !a.written(int(o), n) {
				w.uninitialized(in, i, space, addr[i], n, a.Label.Name, a.describe(addr[i]), int64(o))
			}
			a.mark(int(o), n)
		default:
			a.mark(int(o), n)
		}
	}
	return good, all
}

// initialized marks what a full warp writes, and reports whether what it reads was
// written. Neighbouring lanes usually make one range.
func (w *Warp) initialized(in *Inst, a *Allocation, addr *Lanes, m Mask, kind AccessKind, n int) bool {
	first := int(addr[0] - a.Addr)
	row := true
	for i := range addr {
		row = row && int(addr[i]-a.Addr) == first+i*n
	}
	if kind == Store || kind == AsyncWrite {
		if row {
			a.mark(first, n*WarpSize)
		} else {
			for i := range addr {
				a.mark(int(addr[i]-a.Addr), n)
			}
		}
		return true
	}
	if kind == Atomic {
		return false // one by one
	}
	if row {
		return a.written(first, n*WarpSize)
	}
	for i := range addr {
		if !a.written(int(addr[i]-a.Addr), n) {
			return false
		}
	}
	return true
}

func (w *Warp) uninitialized(in *Inst, lane int, space ptx.Space, addr uint64, n int, label, what string, offset int64) {
	f := w.fault(in, 1<<lane, lane, Uninitialized, space, addr, n, fmt.Sprintf("reads %d bytes at %s that nothing has written", n, what))
	f.Label, f.Offset = label, offset
	w.block.Report(in, f)
}

var verbs = map[AccessKind]string{Load: "reads", Store: "writes", Atomic: "updates", AsyncRead: "copies from", AsyncWrite: "copies to"}

// checkGlobal says what is wrong with one lane's access.
func (w *Warp) checkGlobal(in *Inst, a *Allocation, addr uint64, lane int, kind AccessKind, n int) (f Finding, bad bool) {
	fault := func(k Kind, format string, args ...any) (Finding, bool) {
		f := w.fault(in, 1<<lane, lane, k, ptx.Global, addr, n, fmt.Sprintf(format, args...))
		if a != nil {
			f.Label, f.Offset = a.Label.Name, int64(addr-a.Addr)
		}
		return f, true
	}
	verb := verbs[kind]
	switch {
	case addr < 4096:
		a = nil
		return fault(OutOfBounds, "%s %d bytes through a null pointer (address %#x)", verb, n, addr)
	case a == nil || addr-a.Addr >= uint64(a.size)+1<<30:
		a = nil
		return fault(OutOfBounds, "%s %d bytes at %#x, where no device memory is", verb, n, addr)
	case a.freed:
		return fault(UseAfterFree, "%s %d bytes of %s, which was freed", verb, n, a.name())
	case addr-a.Addr+uint64(n) > uint64(len(a.Data)):
		// Between two allocations: the nearer one is meant.
		if next := w.block.launch.dev.find(addr + redZone); next != nil && next != a && next.Addr-addr < addr-a.Addr-uint64(len(a.Data)) {
			return fault(OutOfBounds, "%s %d bytes at %s, %d bytes before its start", verb, n, next.describe(addr), next.Addr-addr)
		}
		return fault(OutOfBounds, "%s %d bytes at %s, behind its end (it has %d bytes)", verb, n, a.describe(addr), len(a.Data))
	case (addr-a.Addr)&uint64(n-1) != 0:
		return fault(Misaligned, "%s %d bytes at %#x (%s), which is no multiple of %d", verb, n, addr, a.describe(addr), n)
	case a.ReadOnly && kind != Load && kind != AsyncRead:
		return fault(ReadOnly, "%s %s, which is in constant memory", verb, a.describe(addr))
	}
	return f, false
}

// touchShared checks accesses to the shared memory of block b.
func (w *Warp) touchShared(in *Inst, b *Block, addr *Lanes, m Mask, kind AccessKind, n int) (good Mask) {
	p := &w.ptrs
	size := len(b.shared)
	data := unsafe.Pointer(unsafe.SliceData(b.shared))
	plain := len(b.launch.kernel.named) == 0 // only dynamic: no gaps
	for i := range addr {
		if m>>i&1 == 0 {
			continue
		}
		o := addr[i]
		if o > uint64(size) || int(o)+n > size || o&uint64(n-1) != 0 || !plain && b.gap(int(o), n) {
			w.sharedFault(in, b, i, o, kind, n)
			continue
		}
		p[i] = unsafe.Add(data, o)
		good |= 1 << i
		bit, word := o%64, o/64
		mask := (uint64(1)<<n - 1) << bit
		switch kind {
		case Load, AsyncRead:
			if b.init[word]&mask != mask {
				w.uninitialized(in, i, ptx.Shared, o, n, "", b.launch.kernel.sharedName(int(o)), int64(o))
			}
		case Atomic:
			if b.init[word]&mask != mask {
				w.uninitialized(in, i, ptx.Shared, o, n, "", b.launch.kernel.sharedName(int(o)), int64(o))
			}
			b.init[word] |= mask
		default:
			b.init[word] |= mask
		}
	}
	return good
}

// gap reports whether an access touches what lies between the static variables.
func (b *Block) gap(at, n int) bool {
	k := b.launch.kernel
	if at >= k.dynamic && b.launch.Shared > 0 {
		return false
	}
	for i := range k.named {
		v := &k.named[i]
		if at >= v.at && at+n <= v.at+v.size {
			return false
		}
	}
	return true
}

func (w *Warp) sharedFault(in *Inst, b *Block, lane int, o uint64, kind AccessKind, n int) {
	k := b.launch.kernel
	if o&uint64(n-1) != 0 && o+uint64(n) <= uint64(len(b.shared)) {
		f := w.fault(in, 1<<lane, lane, Misaligned, ptx.Shared, o, n, fmt.Sprintf("%s %d bytes at %s, an address that is no multiple of %d", verbs[kind], n, k.sharedName(int(o)), n))
		b.Report(in, f)
		return
	}
	what := "shared memory address " + fmt.Sprint(int64(o))
	if o < 1<<31 {
		what = k.sharedName(int(o))
	}
	f := w.fault(in, 1<<lane, lane, OutOfBounds, ptx.Shared, o, n, fmt.Sprintf("%s %d bytes at %s, outside of it; the block has %d bytes of shared memory", verbs[kind], n, what, k.static+b.launch.Shared))
	b.Report(in, f)
}

// touchCluster checks accesses to the shared memory of any block of the cluster.
func (w *Warp) touchCluster(in *Inst, addr *Lanes, m Mask, kind AccessKind, n int) (good Mask) {
	for i := range addr {
		if m>>i&1 == 0 {
			continue
		}
		b := w.block
		o := addr[i]
		if o >= sharedStride {
			b = b.ClusterBlock(int(o/sharedStride) - 1)
			o %= sharedStride
		}
		if b == nil || b.live == 0 {
			f := w.fault(in, 1<<i, i, OutOfBounds, ptx.SharedCluster, addr[i], n, verbs[kind]+" shared memory of a block that is not in the cluster, or has ended")
			w.block.Report(in, f)
			continue
		}
		one := *addr
		one[i] = o
		good |= w.touchShared(in, b, &one, 1<<i, kind, n)
	}
	return good
}

// touchLocal checks accesses to the threads' local memory.
func (w *Warp) touchLocal(s *split, in *Inst, addr *Lanes, m Mask, kind AccessKind, n int) (good Mask) {
	size := s.frame.local + s.frame.fn.local.size
	for i := range addr {
		if m>>i&1 == 0 {
			continue
		}
		o, l := addr[i], &w.lane[i]
		if o > uint64(size) || int(o)+n > size {
			f := w.fault(in, 1<<i, i, OutOfBounds, ptx.Local, o, n, fmt.Sprintf("%s %d bytes at byte %d of the thread's local variables, which have %d bytes", verbs[kind], n, int64(o), size))
			w.block.Report(in, f)
			continue
		}
		if o&uint64(n-1) != 0 {
			f := w.fault(in, 1<<i, i, Misaligned, ptx.Local, o, n, fmt.Sprintf("%s %d bytes at byte %d of the thread's local variables, which is no multiple of %d", verbs[kind], n, o, n))
			w.block.Report(in, f)
			continue
		}
		w.ptrs[i] = unsafe.Pointer(&l.data[o])
		good |= 1 << i
		mask := (uint64(1)<<n - 1) << (o % 64)
		if kind == Store {
			l.init[o/64] |= mask
		} else if l.init[o/64]&mask != mask {
			w.uninitialized(in, i, ptx.Local, o, n, "", "a local variable", int64(o))
		}
	}
	return good
}

// touchParam checks accesses to parameters through a pointer.
func (w *Warp) touchParam(s *split, in *Inst, addr *Lanes, m Mask, kind AccessKind, n int) (good Mask) {
	for i := range addr {
		if m>>i&1 == 0 {
			continue
		}
		mem := w.block.launch.params
		if s.frame.caller != nil {
			mem = s.frame.bytes(i)
		}
		if o := addr[i]; o > uint64(len(mem)) || int(o)+n > len(mem) || kind != Load && s.frame.caller == nil {
			f := w.fault(in, 1<<i, i, OutOfBounds, ptx.Param, o, n, verbs[kind]+" outside the kernel's parameters")
			w.block.Report(in, f)
			continue
		}
		w.ptrs[i] = unsafe.Pointer(&mem[addr[i]])
		good |= 1 << i
	}
	return good
}

// execLoadParam loads a kernel's parameter, the same for all lanes, or what a call
// passes.
func execLoadParam(w *Warp, s *split, in *Inst, m Mask) {
	// The kernel's own parameters are named by symbols that are not call arguments.
	if s.frame.caller == nil && in.addr.konst != nil && !in.passes {
		o := in.addr.konst[0] + in.offset
		for e, dst := range in.dst {
			at := int(o) + e*in.bytes
			if dst.reg < 0 || at+in.bytes > len(w.block.launch.params) {
				continue
			}
			v := peekBytes(w.block.launch.params[at:], in.bytes)
			d := s.into(w, dst, m, &w.scratch[0])
			for i := range d {
				d[i] = v
			}
			if in.signed > 0 {
				extend(d, in.signed, in.width)
			}
			s.keep(w, dst, m, d)
		}
		return
	}
	addr := w.addresses(s, &in.addr, in.offset)
	own := s.frame.caller == nil && !in.passes
	for e, dst := range in.dst {
		if dst.reg < 0 {
			continue
		}
		d := &w.scratch[e]
		for i := range d {
			if m>>i&1 == 0 {
				continue
			}
			mem := w.block.launch.params
			if !own {
				mem = s.frame.bytes(i)
			}
			at := addr[i] + uint64(e*in.bytes)
			if at+uint64(in.bytes) > uint64(len(mem)) {
				f := w.fault(in, 1<<i, i, OutOfBounds, ptx.Param, at, in.bytes, "reads outside the parameters")
				w.block.Report(in, f)
				d[i] = 0
				continue
			}
			d[i] = peekBytes(mem[at:], in.bytes)
		}
		if in.signed > 0 {
			extend(d, in.signed, in.width)
		}
		s.set(dst, m, d)
	}
}

func peekBytes(b []byte, n int) uint64 {
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func execStoreParam(w *Warp, s *split, in *Inst, m Mask) {
	addr := w.addresses(s, &in.addr, in.offset)
	for e := range in.src {
		v := s.get(w, &in.src[e])
		for i := range v {
			if m>>i&1 == 0 {
				continue
			}
			mem, at := s.frame.bytes(i), addr[i]+uint64(e*in.bytes)
			if at+uint64(in.bytes) > uint64(len(mem)) {
				w.block.fatal(w, in, 1<<i, OutOfBounds, "writes outside the arguments of a call")
				return
			}
			poke(unsafe.Pointer(&mem[at]), in.bytes, v[i])
		}
	}
}

// cvta turns an address of a space into a generic one, or back with .to.
func (d *decoder) cvta(in *Inst) error {
	if err := d.result(in, 2, 2); err != nil {
		return err
	}
	p := in.PTX
	window := uint64(0)
	switch p.Space {
	case ptx.Shared, ptx.SharedCluster:
		window = sharedWindow
	case ptx.Local:
		window = localWindow
	case ptx.Param:
		window = paramWindow
	}
	if p.Has("to") {
		window = -window
	}
	narrow := p.Type().Bytes() == 4
	in.op.Fn1 = func(d, a *Lanes) {
		for i := range d {
			d[i] = a[i] + window
			if narrow {
				d[i] &= 0xffffffff
			}
		}
	}
	in.run = execFn1
	return d.sources(in, ptx.U64, p.Operands[1])
}

// constant reports whether an address lies in a .const variable.
func (d *decoder) constant(addr uint64) bool {
	a := d.m.dev.find(addr)
	return a != nil && a.ReadOnly && addr-a.Addr < uint64(a.size)
}

// isspacep tells whether a generic address lies in a space.
func (d *decoder) isspacep(in *Inst) error {
	if err := d.result(in, 2, 2); err != nil {
		return err
	}
	base := map[ptx.Space]uint64{ptx.Shared: sharedWindow, ptx.SharedCluster: sharedWindow, ptx.Local: localWindow, ptx.Param: paramWindow}[in.PTX.Space]
	size := uint64(windowSize)
	device := in.PTX.Space == ptx.Global || in.PTX.Space == ptx.Const
	if device {
		base, size = globalBase, 1<<46
	}
	if in.PTX.Space == ptx.Shared {
		size = sharedStride
	}
	in.run = func(w *Warp, s *split, in *Inst, m Mask) {
		a, v := s.get(w, &in.src[0]), Mask(0)
		for i := range a {
			if a[i]-base < size && (!device || d.constant(a[i]) == (in.PTX.Space == ptx.Const)) {
				v |= 1 << i
			}
		}
		s.setPred(in.dst[0], m, v)
	}
	return d.sources(in, ptx.U64, in.PTX.Operands[1])
}

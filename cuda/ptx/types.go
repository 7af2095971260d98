package ptx

import "strings"

var typeNames = [...]string{
	Untyped: "", B8: "b8", B16: "b16", B32: "b32", B64: "b64", B128: "b128",
	U8: "u8", U16: "u16", U32: "u32", U64: "u64", S8: "s8", S16: "s16", S32: "s32", S64: "s64",
	F16: "f16", F16x2: "f16x2", BF16: "bf16", BF16x2: "bf16x2", TF32: "tf32", F32: "f32", F32x2: "f32x2", F64: "f64",
	E4M3: "e4m3", E5M2: "e5m2", E4M3x2: "e4m3x2", E5M2x2: "e5m2x2", U16x2: "u16x2", S16x2: "s16x2", Pred: "pred", B1: "b1", U4: "u4", S4: "s4",
}

var typesByName = byName(typeNames[:])

func byName(names []string) map[string]Type {
	m := map[string]Type{}
	for i, name := range names {
		if name != "" {
			m[name] = Type(i)
		}
	}
	return m
}

// String is the type as PTX spells it, without the dot.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "?"
}

// Bytes is the size of a value in memory; a predicate has none, nor have the types
// of less than a byte that only packed operands of mma have.
func (t Type) Bytes() int {
	switch t {
	case B8, U8, S8, E4M3, E5M2:
		return 1
	case B16, U16, S16, F16, BF16, E4M3x2, E5M2x2:
		return 2
	case B32, U32, S32, F32, TF32, F16x2, BF16x2, U16x2, S16x2:
		return 4
	case B64, U64, S64, F64, F32x2:
		return 8
	case B128:
		return 16
	}
	return 0
}

// Bits is the width of a value.
func (t Type) Bits() int { return 8 * t.Bytes() }

// Signed reports whether the type is a signed integer.
func (t Type) Signed() bool { return t >= S8 && t <= S64 }

// Float reports whether the type is a floating-point number, packed ones included.
func (t Type) Float() bool { return t >= F16 && t <= E5M2x2 }

var spaceNames = map[string]Space{
	"global": Global, "shared": Shared, "shared::cta": Shared, "shared::cluster": SharedCluster,
	"local": Local, "const": Const, "param": Param, "param::entry": Param, "param::func": Param, "reg": RegSpace,
}

// String is the space as PTX spells it, without the dot.
func (s Space) String() string {
	switch s {
	case Generic:
		return "generic"
	case SharedCluster:
		return "shared::cluster"
	case RegSpace:
		return "reg"
	}
	for name, v := range spaceNames {
		if v == s && !strings.Contains(name, "::") {
			return name
		}
	}
	return "?"
}

var rounds = set("rn rz rm rp rna rni rzi rmi rpi rs")

var comparisons = set("eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// silent are opcodes that write no register; an opcode with a modifier says so
// for that modifier only.
var silent = set(`st red bra brx ret exit bar barrier membar fence prefetch prefetchu cp call trap brkpt nanosleep
	discard applypriority pmevent griddepcontrol setmaxnreg stmatrix stackrestore wgmma tcgen05 multimem.red
	mbarrier.init mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx tensormap wmma.store sust sured`)

// destinations is how many operands an instruction writes.
func destinations(in *Instruction) int {
	if len(in.Operands) == 0 {
		return 0
	}
	first := ""
	if len(in.Mods) > 0 {
		first = in.Mods[0]
	}
	switch {
	case (in.Op == "bar" || in.Op == "barrier") && has(in.Mods, "red"):
		return 1
	case in.Op == "cp" || in.Op == "red":
		return 0
	case silent[in.Op] || silent[in.Op+"."+first]:
		return 0
	}
	return 1
}

func has(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// Has reports whether the instruction has the modifier.
func (in *Instruction) Has(modifier string) bool { return has(in.Mods, modifier) }

// Type is the instruction's type: its first, or its only one.
func (in *Instruction) Type() Type {
	if len(in.Types) == 0 {
		return Untyped
	}
	return in.Types[0]
}

// modifiers takes the opcode word apart.
func (in *Instruction) modifiers(word string) {
	in.Vec = 1
	parts := strings.Split(word, ".")
	in.Op = parts[0]
	compares := in.Op == "setp" || in.Op == "set"
	for _, m := range parts[1:] {
		if t, ok := typesByName[m]; ok {
			in.Types = append(in.Types, t)
			continue
		}
		in.Mods = append(in.Mods, m)
		if s, ok := spaceNames[m]; ok {
			in.Spaces = append(in.Spaces, s)
			if !in.HasSpace {
				in.Space, in.HasSpace = s, true
			}
			continue
		}
		switch {
		case compares && in.Cmp == "" && comparisons[m]:
			in.Cmp = m
		case rounds[m]:
			in.Round = m
		}
		switch m {
		case "and", "or", "xor":
			if compares {
				in.Bool = m
			}
		case "ftz":
			in.Ftz = true
		case "sat":
			in.Sat = true
		case "approx":
			in.Approx = true
		case "full":
			in.Full = true
		case "hi":
			in.Hi = !compares
		case "lo":
			in.Lo = !compares
		case "wide":
			in.Wide = true
		case "cc":
			in.CC = true
		case "uni":
			in.Uni = true
		case "volatile":
			in.Volatile = true
		case "v2":
			in.Vec = 2
		case "v4":
			in.Vec = 4
		case "v8":
			in.Vec = 8
		}
	}
}

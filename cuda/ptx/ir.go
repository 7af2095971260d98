// Package ptx reads PTX, the assembly that CUDA compilers write for NVIDIA's
// virtual machine, into typed instructions.
//
// A Module holds variables and functions. A function's body is one flat slice of
// instructions: labels are indices into it, scopes are gone, and registers are
// numbered, so that who executes it needs no names. Every instruction knows its
// place in the PTX and, through .loc, in the CUDA source. What the parser does
// not know is an error with its line, never a guess. The reference is NVIDIA's
// PTX ISA manual, version 9.0.
package ptx

// Module is one translation unit.
type Module struct {
	Version   string         // of the ISA, "9.0"
	Target    string         // "sm_80"
	Files     map[int]string // of .file: what Pos.File means
	Variables []*Variable    // at module scope: .global, .const, .shared
	Functions []*Function    // in source order, declarations (without Body) included
}

// Type is a fundamental type of the ISA.
type Type uint8

// The fundamental types. Untyped is the zero value.
const (
	Untyped Type = iota
	B8
	B16
	B32
	B64
	B128
	U8
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	F16x2
	BF16
	BF16x2
	TF32
	F32
	F32x2
	F64
	E4M3
	E5M2
	E4M3x2
	E5M2x2
	U16x2
	S16x2
	Pred
	B1
	U4
	S4
)

// Space is a state space.
type Space uint8

// The state spaces. Generic is the zero value: the address says which.
const (
	Generic Space = iota
	Global
	Shared        // .shared and .shared::cta
	SharedCluster // .shared::cluster
	Local
	Const
	Param
	RegSpace
)

// Variable is a named piece of memory, or a parameter.
type Variable struct {
	Name  string
	Space Space
	Type  Type // of one element
	Vec   int  // elements of a .v2 or .v4 vector type; 1 otherwise
	Count int  // elements in all dimensions together; 1 for a scalar, 0 for [] (dynamic shared memory)
	Align int  // bytes
	Bytes int  // size, 0 for []
	Init  []Initial
	// Pointee says what a pointer parameter points to, from .ptr; Generic when absent.
	Pointee Space
	Extern  bool
}

// Initial is a run of bytes of an initializer, or one address: that of Symbol plus Offset.
// What lies between the runs is zero.
type Initial struct {
	At      int // byte offset in the variable
	Bytes   []byte
	Symbol  string
	Offset  int64
	Generic bool // generic(Symbol)
	Size    int  // bytes of an address
}

// Function is a kernel or a device function.
type Function struct {
	Name     string
	Entry    bool // a kernel
	Params   []*Variable
	Returns  []*Variable
	Locals   []*Variable // .shared, .local and .param variables of the body, names made unique
	Regs     []Register
	Body     []Instruction // empty in a declaration
	Labels   map[string]int
	NoReturn bool

	MaxThreads [3]int           // .maxntid, zero where absent
	ReqThreads [3]int           // .reqntid
	MinBlocks  int              // .minnctapersm
	MaxRegs    int              // .maxnreg
	Cluster    [3]int           // .reqnctapercluster
	Tables     map[string][]int // .branchtargets: label indices; .calltargets by name are in CallTargets
	Targets    map[string][]string
	Protos     map[string]*Function // .callprototype
	Pos        Pos
}

// Register is a virtual register.
type Register struct {
	Name string
	Type Type
}

// Pos is a place: in the PTX, and in the source that it was compiled from.
type Pos struct {
	PTX       int    // line in the PTX, from 1
	File      int    // of .file; 0 when there is no .loc
	Line, Col int    // in the source; Line 0 when the compiler names none
	Function  string // the inlined function's name, "" in code that is not inlined
	InlinedAt *Pos   // where it was inlined; nil in code that is not inlined
}

// Instruction is one instruction with its modifiers taken apart.
//
// What applies to many opcodes has a field; what is peculiar to an opcode is in
// Mods, in source order and without dots: "shfl.sync.bfly.b32" is Op "shfl", Mods
// ["sync","bfly"], Types [B32].
type Instruction struct {
	Op    string   // "add", "ld", "setp", "mma", ...
	Mods  []string // every modifier but types, in order, those with a field below included
	Types []Type   // in source order: cvt has destination and source type, mma has d, a, b, c

	Space                                                   Space   // of ld, st, atom, cvta (and source of cp.async)
	Spaces                                                  []Space // all of them in order, for cvta and cp.async
	HasSpace                                                bool
	Round                                                   string // "rn","rz","rm","rp","rna","rni","rzi","rmi","rpi",""
	Cmp                                                     string // "eq","lt","ltu","nan",... of setp, set, slct
	Bool                                                    string // "and","or","xor" of setp with a third operand
	Ftz, Sat, Approx, Full, Hi, Lo, Wide, CC, Uni, Volatile bool
	Vec                                                     int // 1, 2, 4 or 8 for .v2 .v4 .v8 of ld, st

	Guard    int       // register of @p, -1 without
	GuardNot bool      // @!p
	Operands []Operand // destinations first, as written
	Dsts     int       // how many of Operands are written
	Target   int       // of bra: the index of an instruction; -1 elsewhere
	Callee   string    // of a direct call
	Returns  []Operand // of call
	Args     []Operand // of call
	Pos      Pos
	Text     string // as written, for messages
}

// OperandKind says which fields of an Operand count.
type OperandKind uint8

// The kinds of operands.
const (
	Reg     OperandKind = iota // Reg
	Imm                        // Bits: integer, or the bits of a float of the instruction's type
	Vector                     // Elems
	Address                    // [Reg + Offset] or [Symbol + Offset]; Base is -1 for a symbol or a bare offset
	Symbol                     // Symbol + Offset as a value: the address of a variable or function
	Special                    // Special: %tid.x and its like
	Sink                       // _
	Label                      // Symbol
)

// Operand is one operand.
type Operand struct {
	Kind    OperandKind
	Reg     int
	Reg2    int    // second destination of p|q, -1 without (setp, shfl, match)
	Not     bool   // !p
	Neg     bool   // -a
	Bits    uint64 // Imm
	Float   bool   // Imm was written as a floating-point literal; Bits are an f64's for 0d, decimal, and an f32's for 0f
	F32     bool   // Imm was written 0f
	Symbol  string
	Offset  int64
	Special string // "tid.x", "laneid", "clock64", "lanemask_lt", "envreg3", ...
	Elems   []Operand
	Part    string // ".x" ".y" ".b0" selectors of video and vector operands, without the dot
}

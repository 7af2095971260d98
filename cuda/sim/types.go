package sim

import (
	"fmt"

	"github.com/warpbook/warpbook/cuda/ptx"
)

// WarpSize is the number of lanes of a warp.
const WarpSize = 32

// Full is the mask of all lanes.
const Full Mask = 0xffffffff

// Dim is an extent or an index in three dimensions.
type Dim struct{ X, Y, Z int }

// Count is the number of points in the extent.
func (d Dim) Count() int { return d.X * d.Y * d.Z }

func (d Dim) String() string { return fmt.Sprintf("(%d,%d,%d)", d.X, d.Y, d.Z) }

// Launch is how a kernel is started.
type Launch struct {
	Grid, Block, Cluster Dim    // a zero Cluster is one block
	Shared               int    // bytes of dynamic shared memory
	Params               []byte // laid out as the kernel's parameters are
	Cooperative          bool
}

// Kind is what a finding is about. Its text is what a learner reads first.
type Kind string

// The kinds of findings.
const (
	OutOfBounds   Kind = "out-of-bounds access"
	Misaligned    Kind = "misaligned address"
	UseAfterFree  Kind = "use after free"
	ReadOnly      Kind = "write to read-only memory"
	Uninitialized Kind = "read of memory that nothing wrote"
	SharedRace    Kind = "shared-memory race"
	GlobalRace    Kind = "global-memory race between blocks"
	Divergent     Kind = "barrier in divergent code"
	AsyncWait     Kind = "asynchronous copy not waited for"
	Deadlock      Kind = "deadlock"
	Endless       Kind = "endless loop"
	Trap          Kind = "trap"
	Assert        Kind = "assertion failed"
	BadLaunch     Kind = "launch refused"
	Unsupported   Kind = "unsupported instruction"
	Misuse        Kind = "mbarrier used wrongly"

	ScheduleDependent Kind = "result depends on the schedule"
)

// Place is where in a kernel something happened.
type Place struct {
	Kernel string
	File   string // of the CUDA source
	Line   int    // 0 when the compiler named none
	Column int
	Source string // the source line, when the caller gave the source
	PTX    int    // line of the PTX
	Text   string // the instruction
	Block  Dim
	Thread Dim
}

// Finding is one thing that a kernel did wrong. A launch reports the first
// finding of each kind and instruction, with the number of times.
type Finding struct {
	Kind    Kind
	Message string // one sentence: what, how many bytes, of which tensor and index
	Space   ptx.Space
	Address uint64
	Bytes   int
	Label   string // of the allocation, or the shared variable
	Offset  int64  // in it, in bytes
	At      Place
	Other   *Place // the access that it races with, the allocation that was freed
	Count   int    // of lanes
	Fatal   bool   // the launch ended here: nothing after it was executed
	Seed    uint64 // of the order of blocks and warps, where several were tried
}

// AccessKind is what a memory instruction does.
type AccessKind uint8

// The kinds of accesses.
const (
	Load AccessKind = iota
	Store
	Atomic
	AsyncRead  // source of an asynchronous copy
	AsyncWrite // its destination, at the time of the issue
)

// Access is one warp's memory instruction. It is valid during the call only.
type Access struct {
	Kind  AccessKind
	Space ptx.Space   // resolved: Global, Shared, Local, Const, Param, SharedCluster; never Generic
	Bytes int         // a lane
	Mask  Mask        // the lanes that take part
	Addr  *Lanes      // a lane's address: in Global a device address, elsewhere an offset in the block's space
	Alloc *Allocation // the allocation that all lanes hit, in Global; nil when they hit several
	Inst  *Inst
	Warp  *Warp

	// Of asynchronous copies:
	Bulk     bool   // cp.async.bulk, whose groups are counted apart
	Signals  bool   // the end is signalled to an mbarrier, not waited for by group
	Barrier  uint64 // that mbarrier's address in the shared memory of Receiver
	Receiver *Block // the block that is written to, when it is another one of the cluster
	// Values is what a store of one element writes; nil otherwise.
	Values *Lanes
}

// A Checker watches launches. Methods of a BlockChecker are called by the
// goroutine that runs the block, Done when the block has ended.
type Checker interface {
	// Block starts watching a block. It may return nil.
	Block(b *Block) BlockChecker
	// Done is called once all blocks have ended and returns what the checker
	// found across them.
	Done() []Finding
}

// BlockChecker watches one block. Accesses have passed the bounds check.
type BlockChecker interface {
	Access(a *Access)
	// Sync is called when warps have met: at a block barrier (mask Full for each
	// warp in warps), at a warp barrier (one warp and the mask of its lanes), at a
	// fence. Kind tells them apart.
	Sync(s Sync)
	// Done returns the block's findings.
	Done() []Finding
}

// SyncKind is the kind of a synchronization.
type SyncKind uint8

// The kinds of synchronization.
const (
	BlockBarrier   SyncKind = iota // all warps of Warps have arrived at barrier ID
	WarpBarrier                    // lanes Mask of Warps[0]
	FenceBlock                     // membar.cta
	FenceDevice                    // membar.gl, fence.acq_rel.gpu
	AsyncCommit                    // cp.async.commit_group
	AsyncWaitGroup                 // cp.async.wait_group: at most Pending groups are still under way
	MBarrier                       // lanes Mask of Warps[0] have passed a wait on the mbarrier at Addr
	ClusterBarrier
)

// Sync is one synchronization.
type Sync struct {
	Kind    SyncKind
	ID      int
	Warps   []*Warp
	Mask    Mask
	Pending int
	Bulk    bool // AsyncCommit and AsyncWaitGroup: of bulk copies
	Addr    uint64
	Inst    *Inst
}

#include "textflag.h"

// func stackTop() uintptr
// The stack's bounds are the first two words of the runtime's g.
TEXT ·stackTop(SB), NOSPLIT, $0-8
	MOVD 8(g), R0
	MOVD R0, ret+0(FP)
	RET

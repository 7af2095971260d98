#include "textflag.h"

// func stackTop() uintptr
// The stack's bounds are the first two words of the runtime's g.
TEXT ·stackTop(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ 8(AX), BX
	MOVQ BX, ret+0(FP)
	RET

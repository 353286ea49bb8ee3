//go:build gc && !go1.28 && !dewpond_portable

#include "textflag.h"

// func Callers(pcs []uintptr) int
TEXT ·Callers(SB), NOSPLIT|NOFRAME, $0-32
	MOVD pcs_base+0(FP), R0
	MOVD pcs_len+8(FP), R1
	MOVD 8(g), R2    // the stack's end
	SUB  $16, R2     // a frame pointer and a return address lie below it
	MOVD RSP, R3     // the last frame
	SUB  $16, R3     // a caller's frame pointer is saved right below its stack pointer
	MOVD R29, R4     // the frame
	MOVD $0, R5      // frames found

next:
	CMP  R1, R5
	BGE  done
	CMP  R3, R4
	BLS  done
	CMP  R2, R4
	BHI  done
	MOVD 8(R4), R6
	MOVD R6, (R0)
	ADD  $8, R0
	ADD  $1, R5
	MOVD R4, R3
	MOVD (R4), R4
	B    next

done:
	MOVD R5, ret+24(FP)
	RET

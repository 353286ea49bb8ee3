//go:build gc && !go1.28 && !dewpond_portable

#include "textflag.h"

// func Callers(pcs []uintptr) int
TEXT ·Callers(SB), NOSPLIT, $0-32
	MOVQ pcs_base+0(FP), DI
	MOVQ pcs_len+8(FP), CX
	MOVQ (TLS), R8
	MOVQ 8(R8), R9   // the stack's end
	SUBQ $16, R9     // a frame pointer and a return address lie below it
	MOVQ SP, DX      // the last frame
	MOVQ BP, BX      // the frame
	XORQ AX, AX      // frames found

next:
	CMPQ AX, CX
	JGE  done
	CMPQ BX, DX
	JLS  done
	CMPQ BX, R9
	JHI  done
	MOVQ 8(BX), SI
	MOVQ SI, (DI)(AX*8)
	INCQ AX
	MOVQ BX, DX
	MOVQ (BX), BX
	JMP  next

done:
	MOVQ AX, ret+24(FP)
	RET

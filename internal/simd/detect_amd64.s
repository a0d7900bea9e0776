#include "textflag.h"

// func detect() vectors
//
// CPUID's leaf 1 has FMA in bit 12 of ECX, OSXSAVE in bit 27 and AVX in bit 28; leaf 7 has
// AVX2 in bit 5 of EBX, AVX512F in bit 16 and AVX512DQ in bit 17. XGETBV says whether the
// system saves XMM and YMM registers, in bits 1 and 2, and those of AVX-512, in bits 5 to 7.
TEXT ·detect(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	XORL AX, AX
	CPUID
	CMPL AX, $7
	JLT  done
	MOVL $1, AX
	XORL CX, CX
	CPUID
	ANDL $0x18001000, CX
	CMPL CX, $0x18001000
	JNE  done
	XORL CX, CX
	XGETBV
	MOVL AX, R8
	ANDL $6, AX
	CMPL AX, $6
	JNE  done
	MOVL $7, AX
	XORL CX, CX
	CPUID
	TESTL $0x20, BX
	JEQ  done
	MOVB $1, ret+0(FP)
	ANDL $0x30000, BX
	CMPL BX, $0x30000
	JNE  done
	ANDL $0xe0, R8
	CMPL R8, $0xe0
	JNE  done
	MOVB $2, ret+0(FP)

done:
	RET

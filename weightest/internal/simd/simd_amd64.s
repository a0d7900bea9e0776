#include "textflag.h"

// func hasAVX2AndFMA() bool
//
// CPUID's leaf 1 has FMA in bit 12 of ECX, OSXSAVE in bit 27 and AVX in bit 28; leaf 7 has
// AVX2 in bit 5 of EBX. XGETBV says whether the system saves XMM and YMM registers.
TEXT ·hasAVX2AndFMA(SB), NOSPLIT, $0-1
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
	ANDL $6, AX
	CMPL AX, $6
	JNE  done
	MOVL $7, AX
	XORL CX, CX
	CPUID
	ANDL $0x20, BX
	JEQ  done
	MOVB $1, ret+0(FP)

done:
	RET

// HORNER makes sum = sum·r + the i-th coefficient.
#define HORNER(i, r, sum) VFMADD213PD ((5+i)*32)(SI), r, sum

// CONSTANTS reads the table at SI: log₂ e into Y15, -log 2 into Y14 and Y13, the smallest
// x into Y12, the exponent's bias into Y11 and the first coefficient into Y10.
#define CONSTANTS \
	VMOVUPD 0(SI), Y15   \
	VMOVUPD 32(SI), Y14  \
	VMOVUPD 64(SI), Y13  \
	VMOVUPD 96(SI), Y12  \
	VMOVUPD 128(SI), Y11 \
	VMOVUPD 160(SI), Y10

// EXP sets Y3 to the exponentials of Y0: n, rounded to the nearest integer and to even
// between two, is in Y1, r = x - n log 2 in Y2 and 2ⁿ in Y4. Where x is below the smallest,
// Y5 clears the result.
#define EXP \
	VMULPD      Y15, Y0, Y1     \
	VROUNDPD    $8, Y1, Y1      \
	VMOVAPD     Y0, Y2          \
	VFMADD231PD Y14, Y1, Y2     \
	VFMADD231PD Y13, Y1, Y2     \
	VMOVAPD     Y10, Y3         \
	HORNER(1, Y2, Y3)           \
	HORNER(2, Y2, Y3)           \
	HORNER(3, Y2, Y3)           \
	HORNER(4, Y2, Y3)           \
	HORNER(5, Y2, Y3)           \
	HORNER(6, Y2, Y3)           \
	HORNER(7, Y2, Y3)           \
	HORNER(8, Y2, Y3)           \
	HORNER(9, Y2, Y3)           \
	HORNER(10, Y2, Y3)          \
	HORNER(11, Y2, Y3)          \
	HORNER(12, Y2, Y3)          \
	HORNER(13, Y2, Y3)          \
	VCVTPD2DQY  Y1, X4          \
	VPMOVSXDQ   X4, Y4          \
	VPADDQ      Y11, Y4, Y4     \
	VPSLLQ      $52, Y4, Y4     \
	VMULPD      Y4, Y3, Y3      \
	VCMPPD      $1, Y12, Y0, Y5 \
	VANDNPD     Y3, Y5, Y3

// func expAVX2(table *expTable, x *float64, n int)
TEXT ·expAVX2(SB), NOSPLIT, $0-24
	MOVQ table+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ n+16(FP), CX
	CONSTANTS

four:
	VMOVUPD (DI), Y0
	EXP
	VMOVUPD Y3, (DI)
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     four
	VZEROUPPER
	RET

// func addExpAVX2(table *expTable, x, shift, sum *float64, n int)
TEXT ·addExpAVX2(SB), NOSPLIT, $0-40
	MOVQ table+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ shift+16(FP), DX
	MOVQ sum+24(FP), BX
	MOVQ n+32(FP), CX
	CONSTANTS

four:
	VMOVUPD (DI), Y0
	VSUBPD  (DX), Y0, Y0
	EXP
	VMOVUPD Y3, (DI)
	VADDPD  (BX), Y3, Y3
	VMOVUPD Y3, (BX)
	ADDQ    $32, DI
	ADDQ    $32, DX
	ADDQ    $32, BX
	SUBQ    $4, CX
	JNE     four
	VZEROUPPER
	RET

// func normaliseAVX2(sums *momentLanes, p, factor, z, scaled, mean *float64, n int)
TEXT ·normaliseAVX2(SB), NOSPLIT, $0-56
	MOVQ   sums+0(FP), DI
	MOVQ   p+8(FP), R8
	MOVQ   factor+16(FP), R9
	MOVQ   z+24(FP), R10
	MOVQ   scaled+32(FP), R11
	MOVQ   mean+40(FP), R12
	MOVQ   n+48(FP), CX
	XORQ   BX, BX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2

four:
	VMOVUPD     (R8)(BX*8), Y3
	VMULPD      (R9)(BX*8), Y3, Y3
	VMOVUPD     Y3, (R8)(BX*8)
	VMOVUPD     (R10)(BX*8), Y4
	VMULPD      Y4, Y3, Y5
	VMOVUPD     Y5, (R11)(BX*8)
	VADDPD      (R12)(BX*8), Y5, Y6
	VMOVUPD     Y6, (R12)(BX*8)
	VADDPD      Y3, Y0, Y0
	VADDPD      Y5, Y1, Y1
	VFMADD231PD Y4, Y5, Y2
	ADDQ        $4, BX
	CMPQ        BX, CX
	JNE         four
	VMOVUPD     Y0, (DI)
	VMOVUPD     Y1, 32(DI)
	VMOVUPD     Y2, 64(DI)
	VZEROUPPER
	RET

// func scaleShiftAVX2(t, z, largest *float64, n int, s, b float64)
TEXT ·scaleShiftAVX2(SB), NOSPLIT, $0-48
	MOVQ         t+0(FP), DI
	MOVQ         z+8(FP), SI
	MOVQ         largest+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD s+32(FP), Y14
	VBROADCASTSD b+40(FP), Y15

four:
	VMOVUPD     (SI), Y0
	VFMADD213PD Y15, Y14, Y0 // s·z + b
	VMOVUPD     Y0, (DI)
	VMAXPD      (DX), Y0, Y1 // the former one where t is NaN
	VMOVUPD     Y1, (DX)
	ADDQ        $32, SI
	ADDQ        $32, DI
	ADDQ        $32, DX
	SUBQ        $4, CX
	JNE         four
	VZEROUPPER
	RET

// LANES adds the lanes of a register: ((0 + 2) + (1 + 3)), and stores the sum.
#define LANES(y, x, to) \
	VEXTRACTF128 $1, y, X14    \
	VADDPD       X14, x, X14   \
	VPERMILPD    $1, X14, X15  \
	VADDSD       X15, X14, X14 \
	VMOVSD       X14, to(DI)

// CLEAR8 clears eight registers of lanes, STORE8 stores what LANES makes of each at DI.
#define CLEAR8 \
	VXORPD Y0, Y0, Y0 \
	VXORPD Y1, Y1, Y1 \
	VXORPD Y2, Y2, Y2 \
	VXORPD Y3, Y3, Y3 \
	VXORPD Y4, Y4, Y4 \
	VXORPD Y5, Y5, Y5 \
	VXORPD Y6, Y6, Y6 \
	VXORPD Y7, Y7, Y7

#define STORE8 \
	LANES(Y0, X0, 0) \
	LANES(Y1, X1, 8) \
	LANES(Y2, X2, 16) \
	LANES(Y3, X3, 24) \
	LANES(Y4, X4, 32) \
	LANES(Y5, X5, 40) \
	LANES(Y6, X6, 48) \
	LANES(Y7, X7, 56)

// func dotTileAVX2(tile *[2][4]float64, x0, x1, y0, y1, y2, y3 *float64, n int)
TEXT ·dotTileAVX2(SB), NOSPLIT, $0-64
	MOVQ   tile+0(FP), DI
	MOVQ   x0+8(FP), R8
	MOVQ   x1+16(FP), R9
	MOVQ   y0+24(FP), R10
	MOVQ   y1+32(FP), R11
	MOVQ   y2+40(FP), R12
	MOVQ   y3+48(FP), R13
	MOVQ   n+56(FP), CX
	XORQ   BX, BX
	CLEAR8

four:
	VMOVUPD     (R8)(BX*8), Y8
	VMOVUPD     (R9)(BX*8), Y9
	VMOVUPD     (R10)(BX*8), Y10
	VMOVUPD     (R11)(BX*8), Y11
	VMOVUPD     (R12)(BX*8), Y12
	VMOVUPD     (R13)(BX*8), Y13
	VFMADD231PD Y8, Y10, Y0
	VFMADD231PD Y8, Y11, Y1
	VFMADD231PD Y8, Y12, Y2
	VFMADD231PD Y8, Y13, Y3
	VFMADD231PD Y9, Y10, Y4
	VFMADD231PD Y9, Y11, Y5
	VFMADD231PD Y9, Y12, Y6
	VFMADD231PD Y9, Y13, Y7
	ADDQ        $4, BX
	CMPQ        BX, CX
	JNE         four
	STORE8
	VZEROUPPER
	RET

// func combineAVX2(out, columns, weights *float64, n, stride, count int)
//
// Sixteen rows at a time while there are as many, then four.
TEXT ·combineAVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ columns+8(FP), SI
	MOVQ n+24(FP), CX
	MOVQ stride+32(FP), R8
	SHLQ $3, R8

sixteen:
	CMPQ   CX, $16
	JLT    four
	MOVQ   SI, DX
	MOVQ   weights+16(FP), BX
	MOVQ   count+40(FP), AX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3

column16:
	VBROADCASTSD (BX), Y4
	VFMADD231PD  (DX), Y4, Y0
	VFMADD231PD  32(DX), Y4, Y1
	VFMADD231PD  64(DX), Y4, Y2
	VFMADD231PD  96(DX), Y4, Y3
	ADDQ         $8, BX
	ADDQ         R8, DX
	DECQ         AX
	JNE          column16
	VMOVUPD      Y0, (DI)
	VMOVUPD      Y1, 32(DI)
	VMOVUPD      Y2, 64(DI)
	VMOVUPD      Y3, 96(DI)
	ADDQ         $128, DI
	ADDQ         $128, SI
	SUBQ         $16, CX
	JMP          sixteen

four:
	TESTQ  CX, CX
	JEQ    done
	MOVQ   SI, DX
	MOVQ   weights+16(FP), BX
	MOVQ   count+40(FP), AX
	VXORPD Y0, Y0, Y0

column4:
	VBROADCASTSD (BX), Y4
	VFMADD231PD  (DX), Y4, Y0
	ADDQ         $8, BX
	ADDQ         R8, DX
	DECQ         AX
	JNE          column4
	VMOVUPD      Y0, (DI)
	ADDQ         $32, DI
	ADDQ         $32, SI
	SUBQ         $4, CX
	JMP          four

done:
	VZEROUPPER
	RET

// func projectAVX2(products *[8]float64, columns *[8]*float64, factors *float64, n int)
TEXT ·projectAVX2(SB), NOSPLIT, $0-32
	MOVQ   products+0(FP), DI
	MOVQ   columns+8(FP), SI
	MOVQ   factors+16(FP), DX
	MOVQ   n+24(FP), CX
	MOVQ   0(SI), R8
	MOVQ   8(SI), R9
	MOVQ   16(SI), R10
	MOVQ   24(SI), R11
	MOVQ   32(SI), R12
	MOVQ   40(SI), R13
	MOVQ   48(SI), AX
	MOVQ   56(SI), SI
	XORQ   BX, BX
	CLEAR8

four:
	VMOVUPD     (DX)(BX*8), Y8
	VFMADD231PD (R8)(BX*8), Y8, Y0
	VFMADD231PD (R9)(BX*8), Y8, Y1
	VFMADD231PD (R10)(BX*8), Y8, Y2
	VFMADD231PD (R11)(BX*8), Y8, Y3
	VFMADD231PD (R12)(BX*8), Y8, Y4
	VFMADD231PD (R13)(BX*8), Y8, Y5
	VFMADD231PD (AX)(BX*8), Y8, Y6
	VFMADD231PD (SI)(BX*8), Y8, Y7
	ADDQ        $4, BX
	CMPQ        BX, CX
	JNE         four
	STORE8
	VZEROUPPER
	RET

// func multiplyAVX2(out, a, b *float64, n int)
TEXT ·multiplyAVX2(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ n+24(FP), CX
	XORQ BX, BX

four:
	VMOVUPD (R8)(BX*8), Y0
	VMULPD  (R9)(BX*8), Y0, Y0
	VMOVUPD Y0, (DI)(BX*8)
	ADDQ    $4, BX
	CMPQ    BX, CX
	JNE     four
	VZEROUPPER
	RET

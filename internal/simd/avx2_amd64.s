#include "textflag.h"

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

// func addExpAVX2(table *expTable, x, z, largest, sum *float64, n int, of Affine)
TEXT ·addExpAVX2(SB), NOSPLIT, $0-64
	MOVQ         table+0(FP), SI
	MOVQ         x+8(FP), DI
	MOVQ         z+16(FP), R8
	MOVQ         largest+24(FP), R9
	MOVQ         sum+32(FP), R10
	MOVQ         n+40(FP), CX
	VBROADCASTSD of_Scale+48(FP), Y8
	VBROADCASTSD of_Shift+56(FP), Y9
	XORQ         BX, BX
	CONSTANTS

four:
	VMOVUPD     (R8)(BX*8), Y0
	VFMADD213PD Y9, Y8, Y0         // s·z + b
	VSUBPD      (R9)(BX*8), Y0, Y0
	EXP
	VADDPD      (R10)(BX*8), Y3, Y6
	VMOVUPD     Y3, (DI)(BX*8)
	VMOVUPD     Y6, (R10)(BX*8)
	ADDQ        $4, BX
	CMPQ        BX, CX
	JNE         four
	VZEROUPPER
	RET

// func normaliseAVX2(sums *momentLanes, p, factor, z, mean *float64, n int)
TEXT ·normaliseAVX2(SB), NOSPLIT, $0-48
	MOVQ   sums+0(FP), DI
	MOVQ   p+8(FP), R8
	MOVQ   factor+16(FP), R9
	MOVQ   z+24(FP), R10
	MOVQ   mean+32(FP), R11
	MOVQ   n+40(FP), CX
	XORQ   BX, BX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2

four:
	VMOVUPD     (R8)(BX*8), Y3
	VMULPD      (R9)(BX*8), Y3, Y3
	VMOVUPD     (R10)(BX*8), Y4
	VMULPD      Y4, Y3, Y5
	VADDPD      (R11)(BX*8), Y5, Y6
	VMOVUPD     Y3, (R8)(BX*8)
	VMOVUPD     Y6, (R11)(BX*8)
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

// func raiseAVX2(largest, z *float64, n int, of Affine)
TEXT ·raiseAVX2(SB), NOSPLIT, $0-40
	MOVQ         largest+0(FP), DI
	MOVQ         z+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD of_Scale+24(FP), Y14
	VBROADCASTSD of_Shift+32(FP), Y15
	XORQ         BX, BX

four:
	VMOVUPD     (SI)(BX*8), Y0
	VFMADD213PD Y15, Y14, Y0
	VMAXPD      (DI)(BX*8), Y0, Y1 // the former one where s·z + b is NaN
	VMOVUPD     Y1, (DI)(BX*8)
	ADDQ        $4, BX
	CMPQ        BX, CX
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
	LANES(Y0, X0, 0)  \
	LANES(Y1, X1, 8)  \
	LANES(Y2, X2, 16) \
	LANES(Y3, X3, 24) \
	LANES(Y4, X4, 32) \
	LANES(Y5, X5, 40) \
	LANES(Y6, X6, 48) \
	LANES(Y7, X7, 56)

// ADD4 adds the sums over the lanes of four registers to four values at the address, in the
// order of LANES.
#define ADD4(a, b, c, d, at) \
	VPERM2F128 $0x20, b, a, Y8  \
	VPERM2F128 $0x31, b, a, Y9  \
	VADDPD     Y9, Y8, Y8       \
	VPERM2F128 $0x20, d, c, Y10 \
	VPERM2F128 $0x31, d, c, Y11 \
	VADDPD     Y11, Y10, Y10    \
	VHADDPD    Y10, Y8, Y8      \
	VPERMPD    $0xd8, Y8, Y8    \
	VADDPD     (at), Y8, Y8     \
	VMOVUPD    Y8, (at)

// func addTileAVX2(sums *float64, stride int, x *[2]*float64, y *[4]*float64, n int)
TEXT ·addTileAVX2(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ stride+8(FP), AX
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DX
	MOVQ n+32(FP), CX
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 0(DX), R10
	MOVQ 8(DX), R11
	MOVQ 16(DX), R12
	MOVQ 24(DX), R13
	XORQ BX, BX
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
	ADD4(Y0, Y1, Y2, Y3, DI)
	LEAQ        (DI)(AX*8), DI
	ADD4(Y4, Y5, Y6, Y7, DI)
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

// func combinePairAVX2(out, columns, weights *float64, n, stride, count int)
//
// Sixteen rows at a time while there are as many, then four.
TEXT ·combinePairAVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ columns+8(FP), SI
	MOVQ n+24(FP), CX
	MOVQ stride+32(FP), R8
	MOVQ count+40(FP), R9
	SHLQ $3, R8
	SHLQ $3, R9

sixteen:
	CMPQ CX, $16
	JLT  four
	MOVQ SI, DX
	MOVQ weights+16(FP), BX
	MOVQ count+40(FP), AX
	CLEAR8

column16:
	VMOVUPD      (DX), Y8
	VMOVUPD      32(DX), Y9
	VMOVUPD      64(DX), Y10
	VMOVUPD      96(DX), Y11
	VBROADCASTSD (BX), Y12
	VBROADCASTSD (BX)(R9*1), Y13
	VFMADD231PD  Y8, Y12, Y0
	VFMADD231PD  Y9, Y12, Y1
	VFMADD231PD  Y10, Y12, Y2
	VFMADD231PD  Y11, Y12, Y3
	VFMADD231PD  Y8, Y13, Y4
	VFMADD231PD  Y9, Y13, Y5
	VFMADD231PD  Y10, Y13, Y6
	VFMADD231PD  Y11, Y13, Y7
	ADDQ         $8, BX
	ADDQ         R8, DX
	DECQ         AX
	JNE          column16
	VMOVUPD      Y0, (DI)
	VMOVUPD      Y1, 32(DI)
	VMOVUPD      Y2, 64(DI)
	VMOVUPD      Y3, 96(DI)
	VMOVUPD      Y4, (DI)(R8*1)
	VMOVUPD      Y5, 32(DI)(R8*1)
	VMOVUPD      Y6, 64(DI)(R8*1)
	VMOVUPD      Y7, 96(DI)(R8*1)
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
	VXORPD Y1, Y1, Y1

column4:
	VMOVUPD      (DX), Y8
	VBROADCASTSD (BX), Y12
	VBROADCASTSD (BX)(R9*1), Y13
	VFMADD231PD  Y8, Y12, Y0
	VFMADD231PD  Y8, Y13, Y1
	ADDQ         $8, BX
	ADDQ         R8, DX
	DECQ         AX
	JNE          column4
	VMOVUPD      Y0, (DI)
	VMOVUPD      Y1, (DI)(R8*1)
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

// func transposeAVX2(dst, src *float64, rows, columns, dstStride, srcStride int)
//
// Four columns of src at a time, and of these four rows.
TEXT ·transposeAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ columns+24(FP), CX
	MOVQ dstStride+32(FP), R8
	MOVQ srcStride+40(FP), R9
	SHLQ $3, R8
	SHLQ $3, R9
	LEAQ (R8)(R8*2), R10
	LEAQ (R9)(R9*2), R11

columns:
	MOVQ DI, DX
	MOVQ SI, BX
	MOVQ rows+16(FP), AX

block:
	VMOVUPD    (BX), Y0
	VMOVUPD    (BX)(R9*1), Y1
	VMOVUPD    (BX)(R9*2), Y2
	VMOVUPD    (BX)(R11*1), Y3
	VUNPCKLPD  Y1, Y0, Y4
	VUNPCKHPD  Y1, Y0, Y5
	VUNPCKLPD  Y3, Y2, Y6
	VUNPCKHPD  Y3, Y2, Y7
	VPERM2F128 $0x20, Y6, Y4, Y0
	VPERM2F128 $0x20, Y7, Y5, Y1
	VPERM2F128 $0x31, Y6, Y4, Y2
	VPERM2F128 $0x31, Y7, Y5, Y3
	VMOVUPD    Y0, (DX)
	VMOVUPD    Y1, (DX)(R8*1)
	VMOVUPD    Y2, (DX)(R8*2)
	VMOVUPD    Y3, (DX)(R10*1)
	ADDQ       $32, DX
	LEAQ       (BX)(R9*4), BX
	SUBQ       $4, AX
	JNE        block
	ADDQ       $32, SI
	LEAQ       (DI)(R8*4), DI
	SUBQ       $4, CX
	JNE        columns
	VZEROUPPER
	RET

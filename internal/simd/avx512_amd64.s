#include "textflag.h"

// CONSTANTS512 reads the table at SI: log₂ e into Z31, -log 2 into Z30 and Z29, the smallest
// x into Z28 and the coefficients into Z13 to Z26.
#define CONSTANTS512 \
	VBROADCASTSD 0(SI), Z31   \
	VBROADCASTSD 32(SI), Z30  \
	VBROADCASTSD 64(SI), Z29  \
	VBROADCASTSD 96(SI), Z28  \
	VBROADCASTSD 160(SI), Z13 \
	VBROADCASTSD 192(SI), Z14 \
	VBROADCASTSD 224(SI), Z15 \
	VBROADCASTSD 256(SI), Z16 \
	VBROADCASTSD 288(SI), Z17 \
	VBROADCASTSD 320(SI), Z18 \
	VBROADCASTSD 352(SI), Z19 \
	VBROADCASTSD 384(SI), Z20 \
	VBROADCASTSD 416(SI), Z21 \
	VBROADCASTSD 448(SI), Z22 \
	VBROADCASTSD 480(SI), Z23 \
	VBROADCASTSD 512(SI), Z24 \
	VBROADCASTSD 544(SI), Z25 \
	VBROADCASTSD 576(SI), Z26

// EXP512 sets Z3 to the exponentials of Z0 by the operations of EXP, in the same order. The
// product with 2ⁿ is exact either way, and K1 clears it where x is below the smallest.
#define EXP512 \
	VMULPD      Z31, Z0, Z1     \
	VRNDSCALEPD $8, Z1, Z1      \
	VMOVAPD     Z0, Z2          \
	VFMADD231PD Z30, Z1, Z2     \
	VFMADD231PD Z29, Z1, Z2     \
	VMOVAPD     Z13, Z3         \
	VFMADD213PD Z14, Z2, Z3     \
	VFMADD213PD Z15, Z2, Z3     \
	VFMADD213PD Z16, Z2, Z3     \
	VFMADD213PD Z17, Z2, Z3     \
	VFMADD213PD Z18, Z2, Z3     \
	VFMADD213PD Z19, Z2, Z3     \
	VFMADD213PD Z20, Z2, Z3     \
	VFMADD213PD Z21, Z2, Z3     \
	VFMADD213PD Z22, Z2, Z3     \
	VFMADD213PD Z23, Z2, Z3     \
	VFMADD213PD Z24, Z2, Z3     \
	VFMADD213PD Z25, Z2, Z3     \
	VFMADD213PD Z26, Z2, Z3     \
	VCMPPD      $5, Z28, Z0, K1 \
	VSCALEFPD.Z Z1, Z3, K1, Z3

// func addExpAVX512(table *expTable, x, z, largest, sum *float64, n int, of Affine)
TEXT ·addExpAVX512(SB), NOSPLIT, $0-64
	MOVQ         table+0(FP), SI
	MOVQ         x+8(FP), DI
	MOVQ         z+16(FP), R8
	MOVQ         largest+24(FP), R9
	MOVQ         sum+32(FP), R10
	MOVQ         n+40(FP), CX
	VBROADCASTSD of_Scale+48(FP), Z8
	VBROADCASTSD of_Shift+56(FP), Z9
	XORQ         BX, BX
	CONSTANTS512

eight:
	VMOVUPD     (R8)(BX*8), Z0
	VFMADD213PD Z9, Z8, Z0
	VSUBPD      (R9)(BX*8), Z0, Z0
	EXP512
	VADDPD      (R10)(BX*8), Z3, Z6
	VMOVUPD     Z3, (DI)(BX*8)
	VMOVUPD     Z6, (R10)(BX*8)
	ADDQ        $8, BX
	CMPQ        BX, CX
	JNE         eight
	VZEROUPPER
	RET

// PRODUCTS adds the products of four rows of a column of x with those of y's four columns.
#define PRODUCTS(x, first, second) \
	VBROADCASTF64X4 (x)(BX*8), Z2 \
	VFMADD231PD     Z0, Z2, first \
	VFMADD231PD     Z1, Z2, second

// LANES02AND13 adds lanes 0 and 2 and lanes 1 and 3 of the four columns in two registers.
#define LANES02AND13(first, second, sum) \
	VSHUFF64X2 $0x88, second, first, sum \
	VSHUFF64X2 $0xdd, second, first, Z6  \
	VADDPD     Z6, sum, sum

// ADDROWS adds the sums over the lanes of two columns of x with y's four to two rows of
// values, at DI and AX bytes after, and moves DI beyond them.
#define ADDROWS(a, b, c, d) \
	LANES02AND13(a, b, Z4)           \
	LANES02AND13(c, d, Z5)           \
	VUNPCKLPD     Z5, Z4, Z0         \
	VUNPCKHPD     Z5, Z4, Z1         \
	VADDPD        Z1, Z0, Z0         \
	VPERMPD       Z0, Z3, Z0         \
	VEXTRACTF64X4 $1, Z0, Y1         \
	VADDPD        (DI), Y0, Y0       \
	VMOVUPD       Y0, (DI)           \
	VADDPD        (DI)(AX*1), Y1, Y1 \
	VMOVUPD       Y1, (DI)(AX*1)     \
	LEAQ          (DI)(AX*2), DI

// byRow puts the values of two rows, one of each after the other, row by row.
DATA byRow<>+0(SB)/8, $0
DATA byRow<>+8(SB)/8, $2
DATA byRow<>+16(SB)/8, $4
DATA byRow<>+24(SB)/8, $6
DATA byRow<>+32(SB)/8, $1
DATA byRow<>+40(SB)/8, $3
DATA byRow<>+48(SB)/8, $5
DATA byRow<>+56(SB)/8, $7
GLOBL byRow<>(SB), RODATA|NOPTR, $64

// func addTileAVX512(sums *float64, stride int, x *[8]*float64, y *[4]*float64, n int)
//
// A register has the lanes of two columns of y.
TEXT ·addTileAVX512(SB), NOSPLIT, $0-40
	MOVQ      x+16(FP), SI
	MOVQ      y+24(FP), DX
	MOVQ      n+32(FP), CX
	MOVQ      0(SI), R8
	MOVQ      8(SI), R9
	MOVQ      16(SI), R10
	MOVQ      24(SI), R11
	MOVQ      32(SI), R12
	MOVQ      40(SI), R13
	MOVQ      48(SI), R14
	MOVQ      56(SI), R15
	MOVQ      0(DX), SI
	MOVQ      8(DX), DI
	MOVQ      16(DX), AX
	MOVQ      24(DX), DX
	XORQ      BX, BX
	VMOVDQU64 byRow<>(SB), Z3
	VPXORQ    Z16, Z16, Z16
	VPXORQ    Z17, Z17, Z17
	VPXORQ    Z18, Z18, Z18
	VPXORQ    Z19, Z19, Z19
	VPXORQ    Z20, Z20, Z20
	VPXORQ    Z21, Z21, Z21
	VPXORQ    Z22, Z22, Z22
	VPXORQ    Z23, Z23, Z23
	VPXORQ    Z24, Z24, Z24
	VPXORQ    Z25, Z25, Z25
	VPXORQ    Z26, Z26, Z26
	VPXORQ    Z27, Z27, Z27
	VPXORQ    Z28, Z28, Z28
	VPXORQ    Z29, Z29, Z29
	VPXORQ    Z30, Z30, Z30
	VPXORQ    Z31, Z31, Z31

four:
	VMOVUPD      (SI)(BX*8), Y0
	VINSERTF64X4 $1, (DI)(BX*8), Z0, Z0
	VMOVUPD      (AX)(BX*8), Y1
	VINSERTF64X4 $1, (DX)(BX*8), Z1, Z1
	PRODUCTS(R8, Z16, Z17)
	PRODUCTS(R9, Z18, Z19)
	PRODUCTS(R10, Z20, Z21)
	PRODUCTS(R11, Z22, Z23)
	PRODUCTS(R12, Z24, Z25)
	PRODUCTS(R13, Z26, Z27)
	PRODUCTS(R14, Z28, Z29)
	PRODUCTS(R15, Z30, Z31)
	ADDQ         $4, BX
	CMPQ         BX, CX
	JNE          four
	MOVQ         sums+0(FP), DI
	MOVQ         stride+8(FP), AX
	SHLQ         $3, AX
	ADDROWS(Z16, Z17, Z18, Z19)
	ADDROWS(Z20, Z21, Z22, Z23)
	ADDROWS(Z24, Z25, Z26, Z27)
	ADDROWS(Z28, Z29, Z30, Z31)
	VZEROUPPER
	RET

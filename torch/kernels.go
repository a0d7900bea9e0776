package torch

// #include "iwtorch.h"
import "C"

import (
	"slices"

	"golang.org/x/sys/cpu"
)

// BLASKernels returns the name of the processors for which OpenBLAS has chosen its kernels,
// such as SkylakeX, and nothing where libtorch uses another BLAS.
func BLASKernels() string { return goString(C.iwt_blas_kernels()) }

// BetterBLASKernels returns the name of kernels that this processor can take in the place of
// those that OpenBLAS has chosen, and nothing where these will do. OpenBLAS chooses as it is
// loaded, by the variable OPENBLAS_CORETYPE where that has a value.
func BetterBLASKernels() string { return betterKernels(BLASKernels()) }

// oldKernels are those of processors without AVX2. OpenBLAS takes Prescott's, of 2004, for
// processors that are newer than itself: version 0.3.21 does on Intel's Emerald Rapids, where
// matrix products then take five times as long.
var oldKernels = []string{
	"Prescott", "Katmai", "Coppermine", "Northwood", "Banias", "Atom", "Core2", "Penryn", "Dunnington", "Nehalem", "Sandybridge",
	"Athlon", "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat", "Bulldozer", "Piledriver", "Steamroller", "Nano",
}

func betterKernels(kernels string) string {
	x := cpu.X86
	switch {
	case !slices.Contains(oldKernels, kernels):
		return ""
	case x.HasAVX512F && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL:
		return "SkylakeX"
	case x.HasAVX2 && x.HasFMA:
		return "Haswell"
	}
	return ""
}

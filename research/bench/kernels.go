package main

import (
	"slices"

	"golang.org/x/sys/cpu"
)

// oldKernels are OpenBLAS's for processors without AVX2. It takes Prescott's, of 2004, for
// processors that are newer than itself: version 0.3.21 does on Intel's Emerald Rapids, where
// matrix products then take five times as long.
var oldKernels = []string{
	"Prescott", "Katmai", "Coppermine", "Northwood", "Banias", "Atom", "Core2", "Penryn", "Dunnington", "Nehalem", "Sandybridge",
	"Athlon", "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat", "Bulldozer", "Piledriver", "Steamroller", "Nano",
}

// betterKernels returns the value of OPENBLAS_CORETYPE that names kernels which this processor
// can take in the place of older ones, and nothing where these will do: a comparison with the
// kernels of 2004 is none with PyTorch.
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

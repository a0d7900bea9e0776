package schedule

import (
	"os"
	"strconv"

	"golang.org/x/sys/cpu"
)

// threadVariables limit the threads of the libraries below libtorch.
var threadVariables = []string{"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}

// kernelsVariable chooses OpenBLAS's kernels.
const kernelsVariable = "OPENBLAS_CORETYPE"

// Environment returns this process's environment with what the libraries below libtorch
// are to read when they are loaded into a worker of that many threads.
func Environment(threads int) []string {
	environment := os.Environ()
	for _, name := range threadVariables {
		environment = append(environment, name+"="+strconv.Itoa(threads))
	}
	if _, chosen := os.LookupEnv(kernelsVariable); !chosen {
		if kernels := openBLASKernels(hasAVX512(), cpu.X86.HasAVX512BF16); kernels != "" {
			environment = append(environment, kernelsVariable+"="+kernels)
		}
	}
	return environment
}

func hasAVX512() bool {
	x := cpu.X86
	return x.HasAVX512F && x.HasAVX512CD && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL
}

// openBLASKernels names the kernels for a processor with AVX-512, "" for others.
// OpenBLAS chooses by the maker first, and up to 0.3.21 takes those for AVX2 on AMD's,
// which are half as fast. One that was built without these kernels chooses by itself.
func openBLASKernels(avx512, bfloat16 bool) string {
	switch {
	case avx512 && bfloat16:
		return "Cooperlake"
	case avx512:
		return "SkylakeX"
	}
	return ""
}

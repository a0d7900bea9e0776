package torch

// #include "iwtorch.h"
import "C"

import "strings"

// Version returns libtorch's version.
func Version() string { return goString(C.iwt_version()) }

// ParallelInfo describes libtorch's threads and the libraries behind its linear
// algebra, for people to read.
func ParallelInfo() string { return goString(C.iwt_parallel_info()) }

// ProductsByOneDNN reports whether matrices of float32 on the CPU are multiplied by oneDNN,
// which this package prefers where it is a library of its own on x86-64, and not by BLAS.
func ProductsByOneDNN() bool { return bool(C.iwt_products_by_onednn()) }

// InstructionSet names the instructions that libtorch's own loops use on this processor, such
// as AVX512, or fewer where the environment's ATEN_CPU_CAPABILITY says so; sums round by it.
// It is empty where libtorch does not tell.
func InstructionSet() string {
	_, rest, _ := strings.Cut(ParallelInfo(), "CPU capability usage: ")
	name, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(name)
}

// ConvolutionInstructions names the instructions that [Tensor.ConvMaxPoolReLU] uses for blocks
// on this processor, AVX512 or AVX2, by which its sums round; it is empty for those that every
// processor has. libtorch's own may be others.
func ConvolutionInstructions() string { return C.GoString(C.iwt_convolution_instructions()) }

func goString(text *C.char) string {
	defer C.iwt_free(text)
	return C.GoString(text)
}

// SetThreads sets the number of threads that one operation on the CPU may use. With
// one, results do not depend on the machine's number of cores. (gotorch sets half of
// the cores when a program starts.)
func SetThreads(n int) { check("SetThreads", C.iwt_set_threads(C.int(n))) }

// Threads returns what SetThreads set.
func Threads() int {
	var threads C.int
	check("Threads", C.iwt_threads(&threads))
	return int(threads)
}

// TuneAllocator tells the C library to keep freed memory for the next step instead
// of giving it back to the kernel, for the whole process and for good. A training
// program calls it once at its start; on other C libraries than glibc it does
// nothing.
func TuneAllocator() { C.iwt_tune_allocator() }

// Seed seeds libtorch's generators, those of every device, from which all draws that have no
// [Random].
func Seed(seed uint64) { check("Seed", C.iwt_seed(C.uint64_t(seed))) }

package torch

// #include "iwtorch.h"
import "C"

import (
	"fmt"
	"strconv"
	"strings"
)

// Device is where tensors lie and are computed. The zero Device is the CPU.
type Device struct {
	cuda int // 1 + the index of a CUDA device, 0 for the CPU
}

// CPU is the processor.
var CPU = Device{}

// CUDA returns the CUDA device of that index.
func CUDA(index int) Device { return Device{cuda: 1 + index} }

// ParseDevice reads "cpu", "cuda", "cuda:1", or "auto": the first CUDA device where
// there is one, else the CPU. A CUDA device that is not there is an error.
func ParseDevice(name string) (Device, error) {
	available := CUDADevices()
	switch {
	case name == "cpu":
		return CPU, nil
	case name == "auto" && available == 0:
		return CPU, nil
	case name == "auto" || name == "cuda":
		name = "cuda:0"
	}
	digits, isCUDA := strings.CutPrefix(name, "cuda:")
	index, err := strconv.Atoi(digits)
	if !isCUDA || err != nil || index < 0 {
		return Device{}, fmt.Errorf("device %q: want auto, cpu, cuda or cuda:N", name)
	}
	if index >= available {
		return Device{}, fmt.Errorf("device %q: this libtorch (%s) sees %d CUDA devices", name, Version(), available)
	}
	return CUDA(index), nil
}

func (d Device) index() C.int { return C.int(d.cuda) - 1 }

func deviceOf(index C.int) Device { return Device{cuda: int(index) + 1} }

// IsCUDA reports whether d is a CUDA device.
func (d Device) IsCUDA() bool { return d.cuda > 0 }

func (d Device) String() string {
	if d.cuda == 0 {
		return "cpu"
	}
	return "cuda:" + strconv.Itoa(d.cuda-1)
}

// CUDADevices returns the number of CUDA devices that libtorch can use, 0 where its
// driver fails.
func CUDADevices() int {
	var count C.int
	_ = Try(func() { check("CUDADevices", C.iwt_cuda_devices(&count)) })
	return int(count)
}

// Version returns libtorch's version.
func Version() string { return goString(C.iwt_version()) }

// ParallelInfo describes libtorch's threads and the libraries behind its linear
// algebra, for people to read.
func ParallelInfo() string { return goString(C.iwt_parallel_info()) }

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

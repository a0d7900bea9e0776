package torch

// #include "iwtorch.h"
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"
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

// ParseDevices reads names as ParseDevice does, with commas between; auto stands for all CUDA
// devices, or the CPU where there is none. One that is named twice is an error.
func ParseDevices(names string) ([]Device, error) {
	if available := CUDADevices(); names == "auto" && available > 0 {
		return allCUDA(available), nil
	}
	var devices []Device
	for name := range strings.SplitSeq(names, ",") {
		device, err := ParseDevice(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if slices.Contains(devices, device) {
			return nil, fmt.Errorf("%v is named twice", device)
		}
		devices = append(devices, device)
	}
	return devices, nil
}

func allCUDA(number int) []Device {
	devices := make([]Device, number)
	for i := range devices {
		devices[i] = CUDA(i)
	}
	return devices
}

func (d Device) index() C.int { return C.int(d.cuda) - 1 }

// IsCUDA reports whether d is a CUDA device.
func (d Device) IsCUDA() bool { return d.cuda > 0 }

func (d Device) String() string {
	if d.cuda == 0 {
		return "cpu"
	}
	return "cuda:" + strconv.Itoa(d.cuda-1)
}

// OnOwnStream runs f, whose work on a GPU goes into a queue of its own: goroutines that train
// on one GPU then do not wait for each other's. That GPU is the current one in f, as a [Graph]
// needs. On a CPU it does no more than run f.
func OnOwnStream(device Device, f func()) {
	if !device.IsCUDA() {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var stream unsafe.Pointer
	check("OnOwnStream", C.iwt_stream_begin(device.index(), &stream))
	defer func() { check("OnOwnStream", C.iwt_stream_end(stream)) }()
	f()
}

// CUDADevices returns the number of CUDA devices that libtorch can use, 0 where its
// driver fails.
func CUDADevices() int {
	var count C.int
	_ = Try(func() { check("CUDADevices", C.iwt_cuda_devices(&count)) })
	return int(count)
}

// Name is the model of a CUDA device, as its driver has it: "NVIDIA H100 80GB HBM3". It is empty
// for the CPU and where the driver does not tell.
func (d Device) Name() string { return goString(C.iwt_device_name(d.index())) }

// Version returns libtorch's version.
func Version() string { return goString(C.iwt_version()) }

// ProductsByOneDNN reports whether matrices of float32 on the CPU are multiplied by oneDNN,
// which this package prefers where it is a library of its own on x86-64, and not by BLAS.
func ProductsByOneDNN() bool { return bool(C.iwt_products_by_onednn()) }

// InstructionSet names the instructions that libtorch's own loops use on this processor, such
// as AVX512, or fewer where the environment's ATEN_CPU_CAPABILITY says so; sums round by it.
// It is empty where libtorch does not tell.
func InstructionSet() string {
	_, rest, _ := strings.Cut(goString(C.iwt_parallel_info()), "CPU capability usage: ")
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

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

func deviceOf(index C.int) Device { return Device{cuda: int(index) + 1} }

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

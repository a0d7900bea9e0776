package torch

// #include "iwtorch.h"
// #include <stdlib.h>
import "C"

import (
	"cmp"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"iwda/internal/launcher"
)

// ProcessGroup is the processes, on one machine or several, that compute one thing
// together. All of them call the same methods in the same order, with tensors of the
// same shapes and types on the group's device. Where one of them ends or stays behind,
// the others' next operations are refused with an [*Error] after the group's timeout at
// the latest; on GPUs, NCCL may end the process instead. After that a group is of no
// use.
type ProcessGroup struct {
	group      unsafe.Pointer
	rank, size int
	device     Device
}

// GroupOptions say who is in a group, how its processes find each other, and how long they wait.
type GroupOptions struct {
	launcher.Group
	Device  Device        // of all tensors: NCCL connects GPUs, Gloo CPUs
	Meeting time.Duration // until all processes are there; 0 means Timeout
	Timeout time.Duration // of one operation, during which another process may be at something else
}

// NewProcessGroup returns the group once all of its processes have called it. It lives
// until it is closed.
func NewProcessGroup(o GroupOptions) (*ProcessGroup, error) {
	host, name := C.CString(o.Host), C.CString("iwda/"+o.Name)
	defer C.free(unsafe.Pointer(host))
	defer C.free(unsafe.Pointer(name))
	g := &ProcessGroup{rank: o.Rank, size: o.Size, device: o.Device}
	err := Try(func() {
		check("NewProcessGroup", C.iwt_group_new(C.iwt_group_options{
			rank: C.int(o.Rank), size: C.int(o.Size),
			host: host, port: C.int(o.Port), served: C.bool(o.Served), prefix: name,
			device: o.Device.index(), meeting: C.double(cmp.Or(o.Meeting, o.Timeout).Seconds()), timeout: C.double(o.Timeout.Seconds()),
		}, &g.group))
	})
	if err != nil {
		return nil, fmt.Errorf("process %d of %d cannot meet the others at %s, port %d: %w", o.Rank, o.Size, o.Host, o.Port, err)
	}
	return g, nil
}

// Rank returns the number of this process in the group, from 0.
func (g *ProcessGroup) Rank() int { return g.rank }

// Size returns the number of processes.
func (g *ProcessGroup) Size() int { return g.size }

// Device returns where the tensors lie that the group works on.
func (g *ProcessGroup) Device() Device { return g.device }

// Sum overwrites every tensor with the sum of what the processes have in its place.
// Tensors of one type cross the network in buckets of up to 25 MiB. Autograd does not
// see it.
func (g *ProcessGroup) Sum(tensors ...Tensor) { g.scaledSum("ProcessGroup.Sum", 1, tensors) }

// Mean is Sum divided by the number of processes.
func (g *ProcessGroup) Mean(tensors ...Tensor) {
	g.scaledSum("ProcessGroup.Mean", 1/float64(g.size), tensors)
}

func (g *ProcessGroup) scaledSum(op string, scale float64, tensors []Tensor) {
	boxes := boxesOf(tensors)
	check(op, C.iwt_group_sum(g.group, unsafe.SliceData(boxes), C.int64_t(len(boxes)), C.double(scale)))
	runtime.KeepAlive(tensors)
}

// Broadcast overwrites every tensor with what the process of that rank has in its place.
func (g *ProcessGroup) Broadcast(from int, tensors ...Tensor) {
	if from < 0 || from >= g.size {
		refuse("ProcessGroup.Broadcast", "no process %d of %d", from, g.size)
	}
	boxes := boxesOf(tensors)
	check("ProcessGroup.Broadcast", C.iwt_group_broadcast(g.group, unsafe.SliceData(boxes), C.int64_t(len(boxes)), C.int(from)))
	runtime.KeepAlive(tensors)
}

// Gather returns the rows of all processes, those of rank 0 first: t of shape (n×…) on
// each, (size·n×…) in all. It is constant to autograd.
func (g *ProcessGroup) Gather(t Tensor) Tensor {
	return made("ProcessGroup.Gather", C.iwt_group_gather(g.group, t.box()), t)
}

// Wait returns when all processes have called it.
func (g *ProcessGroup) Wait() {
	Tidy(func() {
		one := Full(1, Float32, g.device)
		g.Sum(one)
		one.Item()
	})
}

// Close lets go of the others. Closing a group twice does nothing.
func (g *ProcessGroup) Close() {
	C.iwt_group_free(g.group)
	g.group = nil
}

package torch

// #include "iwtorch.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"

	"github.com/wangkuiyi/gotorch"
)

// A handle is what gotorch.Tensor.T points to: the address of the C++ tensor's box,
// nil once that was deleted. gotorch's finalizer, where a tensor has one, finds nil
// and does nothing.
type handle = *unsafe.Pointer

// scope owns the tensors that its thread made since it was entered.
type scope struct {
	handles []handle
}

// Tidy runs f and releases every tensor that was made in it by this goroutine, but
// for those that [Keep] took out. Scopes nest; a panic releases them too.
func Tidy(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &scope{}
	token := cgo.NewHandle(s)
	before := C.iwt_enter_scope(C.uintptr_t(token))
	defer func() {
		C.iwt_enter_scope(before)
		token.Delete()
		s.release()
	}()
	f()
}

func (s *scope) release() {
	boxes := make([]unsafe.Pointer, 0, len(s.handles))
	for _, h := range s.handles {
		if *h != nil {
			boxes = append(boxes, *h)
			*h = nil
		}
	}
	releaseBoxes(boxes)
}

func releaseBoxes(boxes []unsafe.Pointer) {
	if len(boxes) > 0 {
		C.iwt_release(unsafe.SliceData(boxes), C.int64_t(len(boxes)))
	}
}

// Keep takes t out of the current scope and returns it. It then lives until it is
// unreachable or released. Keeping a tensor that the current scope does not own
// (one made outside it, or kept before) changes nothing.
func Keep(t Tensor) Tensor {
	t.mustLive("Keep")
	token := C.iwt_enter_scope(0)
	C.iwt_enter_scope(token)
	if token == 0 {
		return t
	}
	s := cgo.Handle(token).Value().(*scope)
	for i := len(s.handles) - 1; i >= 0; i-- {
		if s.handles[i] == t.t.T {
			s.handles = append(s.handles[:i], s.handles[i+1:]...)
			finalize(t.t.T)
			break
		}
	}
	return t
}

func finalize(h handle) {
	runtime.SetFinalizer(h, func(h handle) { Tensor{gotorch.Tensor{T: h}}.Release() })
}

// Release gives t's memory back now. Releasing a tensor twice does nothing.
func (t Tensor) Release() {
	if t.t.T != nil && *t.t.T != nil {
		releaseBoxes([]unsafe.Pointer{*t.t.T})
		*t.t.T = nil
	}
}

// LiveTensors returns the number of tensors that this package made and that were not
// released yet: a leak shows as a number that grows by the step.
func LiveTensors() int { return int(C.iwt_live_tensors()) }

// done checks what an operation of the shim returned. The operands are named only to keep
// them alive until the call is over.
func done(op string, message *C.char, operands ...Tensor) {
	check(op, message)
	for _, operand := range operands {
		runtime.KeepAlive(operand.t.T)
	}
}

// made wraps what an operation of the shim returned, as [done] checks it, and hands it to
// the current scope: the zero Tensor for none.
func made(op string, r C.iwt_result, operands ...Tensor) Tensor {
	done(op, r.error, operands...)
	if r.tensor == nil {
		return Tensor{}
	}
	box := unsafe.Pointer(r.tensor)
	h := handle(&box)
	if r.scope == 0 {
		finalize(h)
	} else {
		s := cgo.Handle(r.scope).Value().(*scope)
		s.handles = append(s.handles, h)
	}
	return Tensor{gotorch.Tensor{T: h}}
}

package torch

// #include "iwtorch.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Module is a TorchScript module: a network as PyTorch's torch.jit.script or
// torch.jit.trace wrote it, code and numbers.
type Module struct {
	module unsafe.Pointer
}

// ModuleTensor is a parameter or a buffer of a module.
type ModuleTensor struct {
	Name   string // layer1.0.weight
	Tensor Tensor // the module's own memory
	// Parameter tells real numbers that are meant to be trained from what is not, such as
	// a running mean.
	Parameter bool
}

// ParseModule makes a module on the CPU of what torch.jit.save has written: real numbers as
// [Float32], signed integers as [Int64]. It is a program that libtorch interprets, with operations
// that write files among others: take only what comes from somebody you trust. Content that is not
// of that form is an [*Error].
func ParseModule(content []byte) (*Module, error) {
	m := new(Module)
	err := Try(func() {
		check("ParseModule", C.iwt_module_parse(unsafe.Pointer(unsafe.SliceData(content)), C.size_t(len(content)), &m.module))
	})
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(m, (*Module).Close)
	return m, nil
}

// Forward returns what the module makes of x, which must be one tensor. Training is the
// mode of its dropout and normalisation; what torch.jit.trace wrote keeps the mode in
// which it was traced. Gradients flow to x and to parameters that require them.
func (m *Module) Forward(x Tensor, training bool) Tensor {
	y := made("Module.Forward", C.iwt_module_forward(m.module, x.box(), C.bool(training)), x)
	runtime.KeepAlive(m)
	return y
}

// Tensors returns the module's parameters and then its buffers, in the module's order.
// One that several parts of the module share comes once.
func (m *Module) Tensors() []ModuleTensor {
	if m.module == nil {
		refuse("Module.Tensors", "the module was closed")
	}
	tensors := make([]ModuleTensor, C.iwt_module_entries(m.module))
	for i := range tensors {
		e := C.iwt_module_get(m.module, C.int64_t(i))
		tensors[i] = ModuleTensor{
			Tensor:    made("Module.Tensors", e.tensor),
			Name:      C.GoString(e.name),
			Parameter: bool(e.is_parameter),
		}
	}
	runtime.KeepAlive(m)
	return tensors
}

// Close frees the module, but for the tensors that [Module.Tensors] returned. Closing it
// twice does nothing.
func (m *Module) Close() {
	C.iwt_module_free(m.module)
	m.module = nil
	runtime.SetFinalizer(m, nil)
}

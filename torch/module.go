package torch

// #include <stdlib.h>
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

// LoadModule reads a file of torch.jit.save onto the CPU: real numbers as [Float32], signed
// integers as [Int64]. The file is a program that libtorch interprets, with operations that
// write files among others: load only what comes from somebody you trust. A file that is
// missing or not of that form is an [*Error].
func LoadModule(path string) (*Module, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	m := new(Module)
	err := Try(func() { check("LoadModule", C.iwt_module_load(name, &m.module)) })
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

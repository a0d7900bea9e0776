package torch

// #include "iwtorch.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// SGD is stochastic gradient descent with momentum over a list of parameters, as
// torch.optim.SGD defines it. What a step uses is [SGDOptions]; what it remembers,
// the momentum, is in here.
type SGD struct {
	optimizer unsafe.Pointer
	count     int
}

// SGDOptions are the settings of one step, so that a schedule is a function of the
// step, not a change to the optimiser.
type SGDOptions struct {
	LearningRate Coefficient
	Momentum     float64
	WeightDecay  float64 // added to the gradient, times the parameter
	Nesterov     bool
}

// NewSGD returns an optimiser of the parameters, leaves that require gradients. It
// holds on to their memory until it is closed or collected.
func NewSGD(parameters []Tensor) *SGD {
	boxes := boxesOf(parameters)
	s := &SGD{count: len(parameters)}
	check("NewSGD", C.iwt_sgd_new(unsafe.SliceData(boxes), C.int64_t(len(boxes)), &s.optimizer))
	runtime.KeepAlive(parameters)
	runtime.SetFinalizer(s, (*SGD).Close)
	return s
}

// Step updates every parameter that has a gradient:
//
//	g ← gradient + WeightDecay·parameter
//	buffer ← Momentum·buffer + g   (g itself at a parameter's first step)
//	parameter ← parameter - LearningRate·buffer
//
// or, with Nesterov, parameter - LearningRate·(g + Momentum·buffer). It returns the Euclidean
// norm of the gradients, all of them together as one vector: a scalar that stays on the
// parameters' device, for which nothing waits.
func (s *SGD) Step(o SGDOptions) (norm Tensor) {
	norm = made("SGD.Step", C.iwt_sgd_step(s.optimizer, C.iwt_sgd_options{
		learning_rate: o.LearningRate.c("SGD.Step"),
		momentum:      C.double(o.Momentum),
		weight_decay:  C.double(o.WeightDecay),
		nesterov:      C.bool(o.Nesterov),
	}))
	runtime.KeepAlive(o.LearningRate.scalar.t.T)
	runtime.KeepAlive(s)
	return norm
}

// ZeroGrad takes every parameter's gradient away.
func (s *SGD) ZeroGrad() {
	check("SGD.ZeroGrad", C.iwt_sgd_zero_grad(s.optimizer))
	runtime.KeepAlive(s)
}

// Momentum returns the buffers in the order of the parameters: the zero Tensor for a
// parameter that has made no step yet. They are the optimiser's own memory.
func (s *SGD) Momentum() []Tensor {
	buffers := make([]Tensor, s.count)
	for i := range buffers {
		buffers[i] = made("SGD.Momentum", C.iwt_sgd_momentum(s.optimizer, C.int64_t(i)))
	}
	runtime.KeepAlive(s)
	return buffers
}

// SetMomentum copies buffers, one a parameter, into the optimiser; zero Tensors are
// passed over.
func (s *SGD) SetMomentum(buffers []Tensor) {
	if len(buffers) != s.count {
		refuse("SGD.SetMomentum", "%d buffers for %d parameters", len(buffers), s.count)
	}
	for i, b := range buffers {
		if !b.IsZero() {
			check("SGD.SetMomentum", C.iwt_sgd_set_momentum(s.optimizer, C.int64_t(i), b.box()))
		}
	}
	runtime.KeepAlive(buffers)
	runtime.KeepAlive(s)
}

// Close frees the optimiser. Closing it twice does nothing.
func (s *SGD) Close() {
	C.iwt_sgd_free(s.optimizer)
	s.optimizer = nil
	runtime.SetFinalizer(s, nil)
}

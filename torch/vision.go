package torch

// #include "iwtorch.h"
import "C"

// RunningStatistics are the mean and the variance of every channel over the batches
// of training, shape (channels) each. Evaluation normalises with them.
type RunningStatistics struct {
	Mean, Variance Tensor
	// Momentum is the share of the newest batch: mean ← (1-Momentum)·mean +
	// Momentum·mean of the batch, the variance likewise, with n-1 as its divisor.
	Momentum float64
	// Group is the processes whose rows count in training, each of which has the same
	// number of them; nil for those of this process alone.
	Group *ProcessGroup
}

// BatchNorm returns weight·(t - mean)/sqrt(variance + epsilon) + bias for t
// (n×c×…), weight (c) and bias (c). Training takes mean and variance, of divisor n,
// over everything but the channels of this batch, and updates running; evaluation
// takes them from running (Ioffe and Szegedy 2015).
func (t Tensor) BatchNorm(weight, bias Tensor, running RunningStatistics, epsilon float64, training bool) Tensor {
	if training && running.Group != nil {
		r := C.iwt_group_batch_norm(running.Group.group, t.box(), weight.box(), bias.box(), running.Mean.box(), running.Variance.box(),
			C.double(running.Momentum), C.double(epsilon))
		return made("BatchNorm", r, t, weight, bias, running.Mean, running.Variance)
	}
	r := C.iwt_batch_norm(t.box(), weight.box(), bias.box(), running.Mean.box(), running.Variance.box(),
		C.bool(training), C.double(running.Momentum), C.double(epsilon))
	return made("BatchNorm", r, t, weight, bias, running.Mean, running.Variance)
}

// GlobalAveragePool2D returns the mean of every channel of t (n×c×h×w), shape (n×c).
func (t Tensor) GlobalAveragePool2D() Tensor {
	return made("GlobalAveragePool2D", C.iwt_global_average_pool2d(t.box()), t)
}

// ReLUInPlace is [Tensor.ReLU] in t's own memory and returns t. libtorch refuses the
// backward pass where the operation that made t needs the former values.
func (t Tensor) ReLUInPlace() Tensor {
	done("ReLUInPlace", C.iwt_relu_in_place(t.box()), t)
	return t
}

// AddInPlace adds b, which broadcasts to t's shape, in t's own memory and returns t,
// with the same caution as [Tensor.ReLUInPlace].
func (t Tensor) AddInPlace(b Tensor) Tensor {
	done("AddInPlace", C.iwt_add_in_place(t.box(), b.box()), t, b)
	return t
}

// Increment adds 1 to every element of t itself, a counter. Autograd does not see it.
func (t Tensor) Increment() {
	done("Increment", C.iwt_increment(t.box()), t)
}

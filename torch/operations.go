package torch

// #include "iwtorch.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Add returns t + b with broadcasting.
func (t Tensor) Add(b Tensor) Tensor { return made("Add", C.iwt_add(t.box(), b.box()), t, b) }

// Sub returns t - b with broadcasting.
func (t Tensor) Sub(b Tensor) Tensor { return made("Sub", C.iwt_sub(t.box(), b.box()), t, b) }

// Mul returns the elementwise product of t and b with broadcasting.
func (t Tensor) Mul(b Tensor) Tensor { return made("Mul", C.iwt_mul(t.box(), b.box()), t, b) }

// Div returns the elementwise quotient t / b with broadcasting.
func (t Tensor) Div(b Tensor) Tensor { return made("Div", C.iwt_div(t.box(), b.box()), t, b) }

// Affine returns scale·t + shift.
func (t Tensor) Affine(scale, shift float64) Tensor {
	return made("Affine", C.iwt_affine(t.box(), C.double(scale), C.double(shift)), t)
}

// Scale returns factor·t.
func (t Tensor) Scale(factor float64) Tensor { return t.Affine(factor, 0) }

// Neg returns -t.
func (t Tensor) Neg() Tensor { return t.Affine(-1, 0) }

// Exp returns the exponential of every element.
func (t Tensor) Exp() Tensor { return made("Exp", C.iwt_exp(t.box()), t) }

// Log returns the natural logarithm of every element.
func (t Tensor) Log() Tensor { return made("Log", C.iwt_log(t.box()), t) }

// Square returns the square of every element.
func (t Tensor) Square() Tensor { return made("Square", C.iwt_square(t.box()), t) }

// ClampMin returns the larger of each element and minimum.
func (t Tensor) ClampMin(minimum float64) Tensor {
	return made("ClampMin", C.iwt_clamp_min(t.box(), C.double(minimum)), t)
}

// Sum returns the sum of all elements, 0-dimensional.
func (t Tensor) Sum() Tensor { return made("Sum", C.iwt_sum(t.box()), t) }

// Mean returns the mean of all elements, 0-dimensional.
func (t Tensor) Mean() Tensor { return t.Sum().Scale(1 / float64(t.Len())) }

// SumDim returns the sums along one dimension, which keeps size 1 where keep is set
// and goes otherwise.
func (t Tensor) SumDim(dim int, keep bool) Tensor {
	return made("SumDim", C.iwt_sum_dim(t.box(), C.int64_t(dim), C.bool(keep)), t)
}

// MatMul returns the product of two matrices, (n×m)·(m×p).
func (t Tensor) MatMul(b Tensor) Tensor { return made("MatMul", C.iwt_matmul(t.box(), b.box()), t, b) }

// OuterProduct returns the rows t_i ⊗ b_i of t (n×k) and b (n×d), shape (n × k·d): row i is
// t_i1·b_i, …, t_ik·b_i.
func (t Tensor) OuterProduct(b Tensor) Tensor {
	return made("OuterProduct", C.iwt_outer_product(t.box(), b.box()), t, b)
}

// Reshape returns the elements in row-major order under another shape, in which one
// dimension may be -1: what is left for it. Where t lies in that order it is a view.
func (t Tensor) Reshape(shape ...int) Tensor {
	sizes, dims := int64s("Reshape", shape)
	return made("Reshape", C.iwt_reshape(t.box(), &sizes[0], dims), t)
}

// Transpose swaps two dimensions, as a view.
func (t Tensor) Transpose(dim0, dim1 int) Tensor {
	return made("Transpose", C.iwt_transpose(t.box(), C.int64_t(dim0), C.int64_t(dim1)), t)
}

// Narrow returns the length rows from start on along a dimension, as a view.
func (t Tensor) Narrow(dim, start, length int) Tensor {
	return made("Narrow", C.iwt_narrow(t.box(), C.int64_t(dim), C.int64_t(start), C.int64_t(length)), t)
}

// Cat joins tensors along a dimension.
func Cat(dim int, tensors ...Tensor) Tensor {
	boxes := boxesOf(tensors)
	return made("Cat", C.iwt_cat(unsafe.SliceData(boxes), C.int64_t(len(boxes)), C.int64_t(dim)), tensors...)
}

// IndexSelect returns the rows along a dimension that index, one-dimensional of
// int64, names.
func (t Tensor) IndexSelect(dim int, index Tensor) Tensor {
	return made("IndexSelect", C.iwt_index_select(t.box(), C.int64_t(dim), index.box()), t, index)
}

// Gather picks one element along a dimension for each element of index, which has as
// many dimensions as t and is of int64.
func (t Tensor) Gather(dim int, index Tensor) Tensor {
	return made("Gather", C.iwt_gather(t.box(), C.int64_t(dim), index.box()), t, index)
}

// ReLU returns the larger of each element and 0.
func (t Tensor) ReLU() Tensor { return made("ReLU", C.iwt_relu(t.box()), t) }

// LogSigmoid returns log(1/(1+exp(-t))), finite for every finite t.
func (t Tensor) LogSigmoid() Tensor { return made("LogSigmoid", C.iwt_log_sigmoid(t.box()), t) }

// Softmax returns exp(t) normalised to sum 1 along a dimension.
func (t Tensor) Softmax(dim int) Tensor {
	return made("Softmax", C.iwt_softmax(t.box(), C.int64_t(dim)), t)
}

// LogSoftmax returns the logarithm of Softmax, finite for every finite t.
func (t Tensor) LogSoftmax(dim int) Tensor {
	return made("LogSoftmax", C.iwt_log_softmax(t.box(), C.int64_t(dim)), t)
}

// Linear returns t·weightᵀ + bias for t (n×in), weight (out×in) and bias (out), which
// may be the zero Tensor.
func (t Tensor) Linear(weight, bias Tensor) Tensor {
	r := C.iwt_linear(t.box(), weight.box(), optional("Linear", bias))
	return made("Linear", r, t, weight, bias)
}

// Conv2D returns the cross-correlation of t (n×in×h×w) with weight (out×in×kh×kw),
// plus bias (out), which may be the zero Tensor.
func (t Tensor) Conv2D(weight, bias Tensor, stride, padding int) Tensor {
	r := C.iwt_conv2d(t.box(), weight.box(), optional("Conv2D", bias), C.int64_t(stride), C.int64_t(padding))
	return made("Conv2D", r, t, weight, bias)
}

// optional returns the box of a tensor that may be absent. Absent is the zero
// Tensor, not a released one.
func optional(op string, t Tensor) unsafe.Pointer {
	if !t.IsZero() && t.box() == nil {
		refuse(op, "the bias was released with its scope")
	}
	return t.box()
}

// MaxPool2D returns the largest element of every kernel×kernel window.
func (t Tensor) MaxPool2D(kernel, stride, padding int) Tensor {
	return made("MaxPool2D", C.iwt_max_pool2d(t.box(), C.int64_t(kernel), C.int64_t(stride), C.int64_t(padding)), t)
}

// BlockBatch returns images t (n×c×h×w) in the layout that [Tensor.ConvMaxPoolReLU] is
// fast in: blocks of 16 rows, shape (⌈n/16⌉×c×h×w×16), the last one filled up with zeros.
// Only the CPU has it, for Float32 and Float64; any other t comes back in the layout of
// [Tensor.ChannelsLast].
func (t Tensor) BlockBatch() Tensor {
	return made("BlockBatch", C.iwt_block_batch(t.box()), t)
}

// UnblockBatch undoes BlockBatch, given the number of rows.
func (t Tensor) UnblockBatch(rows int) Tensor {
	return made("UnblockBatch", C.iwt_unblock_batch(t.box(), C.int64_t(rows)), t)
}

// ConvMaxPoolReLU returns t.Conv2D(weight, bias, 1, 0).MaxPool2D(2, 2, 0).ReLU(), in
// blocks if t is from [Tensor.BlockBatch]: shape (blocks×out×⌊(h-k+1)/2⌋×⌊(w-k+1)/2⌋×16)
// for weight (out×c×k×k) and bias (out).
func (t Tensor) ConvMaxPoolReLU(weight, bias Tensor) Tensor {
	r := C.iwt_conv_max_pool_relu(t.box(), weight.box(), bias.box())
	return made("ConvMaxPoolReLU", r, t, weight, bias)
}

// Dropout zeroes each element with the probability and divides the others by its
// complement, as in training. In evaluation, leave it out. It draws from the [Random] that
// this goroutine uses, else from libtorch's generator.
func (t Tensor) Dropout(probability float64) Tensor {
	return made("Dropout", C.iwt_dropout(t.box(), C.double(probability)), t)
}

// Dropout2D is Dropout for whole channels of t (n×c×h×w).
func (t Tensor) Dropout2D(probability float64) Tensor {
	return made("Dropout2D", C.iwt_dropout2d(t.box(), C.double(probability)), t)
}

// GaussianKernelSum returns Σ_k exp(-‖t_i - t_j‖² / (bandwidth·2^k)), k < count, for all
// pairs of rows of t (n×d), shape (n×n). bandwidth is 0-dimensional and constant; count
// is 1 to 62.
func (t Tensor) GaussianKernelSum(bandwidth Tensor, count int) Tensor {
	return made("GaussianKernelSum", C.iwt_gaussian_kernel_sum(t.box(), bandwidth.box(), C.int64_t(count)), t, bandwidth)
}

// RunningStatistics are the mean and the variance of every channel over the batches
// of training, shape (channels) each. Evaluation normalises with them.
type RunningStatistics struct {
	Mean, Variance Tensor
	// Momentum is the share of the newest batch: mean ← (1-Momentum)·mean +
	// Momentum·mean of the batch, the variance likewise, with n-1 as its divisor.
	Momentum float64
}

// BatchNorm returns weight·(t - mean)/sqrt(variance + epsilon) + bias for t
// (n×c×…), weight (c) and bias (c). Training takes mean and variance, of divisor n,
// over everything but the channels of this batch, and updates running; evaluation
// takes them from running (Ioffe and Szegedy 2015).
func (t Tensor) BatchNorm(weight, bias Tensor, running RunningStatistics, epsilon float64, training bool) Tensor {
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

// Backward adds the derivative of t, a single number, with respect to every leaf
// that requires a gradient to that leaf's [Tensor.Grad], and frees the graph: a
// second Backward through it is refused.
func (t Tensor) Backward() {
	done("Backward", C.iwt_backward(t.box()), t)
}

// Grad returns the gradient that Backward accumulated in t, and false where there is
// none. It is t's own memory, not a copy.
func (t Tensor) Grad() (Tensor, bool) {
	g := made("Grad", C.iwt_grad(t.box()), t)
	return g, !g.IsZero()
}

// SetRequiresGrad makes t, a leaf, collect gradients, or stop doing so, and returns
// it.
func (t Tensor) SetRequiresGrad(requires bool) Tensor {
	done("SetRequiresGrad", C.iwt_set_requires_grad(t.box(), C.bool(requires)), t)
	return t
}

// RequiresGrad reports whether t takes part in automatic differentiation.
func (t Tensor) RequiresGrad() bool {
	var requires C.bool
	done("RequiresGrad", C.iwt_requires_grad(t.box(), &requires), t)
	return bool(requires)
}

// Detach returns t's values, in t's own memory, as a constant: no gradient flows through
// it.
func (t Tensor) Detach() Tensor { return made("Detach", C.iwt_detach(t.box()), t) }

// ReverseGradient is the identity whose derivative is -coefficient: what follows it
// learns to lower the loss, what precedes it to raise it (Ganin et al. 2016).
func (t Tensor) ReverseGradient(coefficient Coefficient) Tensor {
	return made("ReverseGradient", C.iwt_reverse_gradient(t.box(), coefficient.c("ReverseGradient")), t, coefficient.scalar)
}

// NoGrad runs f without recording graphs and then restores the mode that was set
// before, also when f panics.
func NoGrad(f func()) {
	set := func(enabled bool) (before bool) {
		var was C.bool
		check("NoGrad", C.iwt_set_grad_enabled(C.bool(enabled), &was))
		return bool(was)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := set(false)
	defer set(before)
	f()
}

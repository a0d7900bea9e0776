package torch

// #include "iwtorch.h"
import "C"

import "runtime"

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

package nets

import "iwda/torch"

// spectralNorm divides a layer's weight by its largest singular value, so that the layer
// stretches no difference between two inputs (Miyato et al. 2018).
type spectralNorm struct {
	left torch.Tensor // left singular vector as power iteration knows it, shape (outputs × 1)
}

// newSpectralNorm draws the first singular vector from libtorch's generator and improves it
// by some iterations, so that the first steps do not train with a norm far too small.
func newSpectralNorm(weight torch.Tensor) spectralNorm {
	const iterations = 15
	s := spectralNorm{unitColumn(torch.RandN(weight.DType(), weight.Shape()[0], 1))}
	for range iterations {
		s.iterate(weight)
	}
	return s
}

// iterate is one step of power iteration, which forgets the gradients of what it computes.
// It returns both singular vectors, each a column.
func (s spectralNorm) iterate(weight torch.Tensor) (left, right torch.Tensor) {
	torch.NoGrad(func() {
		right = unitColumn(weight.Transpose(0, 1).MatMul(s.left))
		left = unitColumn(weight.MatMul(right))
		s.left.Set(left)
	})
	return left, right
}

// divide returns the weight W, shape (outputs × inputs), over uᵀ W v after another step of
// the iteration. Gradients flow through W in both places; the vectors u and v are constants,
// with which uᵀ v is the derivative of the singular value.
func (s spectralNorm) divide(weight torch.Tensor) torch.Tensor {
	const smallest = 1e-12 // keeps a weight of zeros one
	left, right := s.iterate(weight)
	norm := left.Transpose(0, 1).MatMul(weight.MatMul(right))
	return weight.Div(norm.ClampMin(smallest))
}

// unitColumn returns a column vector scaled to length 1; zeros stay zeros.
func unitColumn(x torch.Tensor) torch.Tensor {
	const epsilon = 1e-24 // added to the squared length
	return x.Mul(inverseRoot(x.Square().Sum().Affine(1, epsilon)))
}

package losses

import "iwda/torch"

// ClassConfusion returns minimum class confusion (Jin et al. 2020) of the target's logits (B × k):
// with P = softmax(logits/T) and certainties e_i ([Certainty], constant to autograd),
// C = Pᵀ diag(e) P, of which each row is divided by its sum, it is the part of C off the diagonal,
// over k. As rows of P sum to 1, row j of C sums to Σ_i e_i P_ij, so that the loss is
//
//	1 - (1/k) Σ_j (Σ_i e_i P_ij²) / (Σ_i e_i P_ij),
//
// one less how sure the classifier is, on average over the classes, of what it calls the class.
// A class that no row gives any probability counts as confused.
//
// Each class has the same say, however rare it is.
func ClassConfusion(logits torch.Tensor, temperature float64) torch.Tensor {
	const least = 1e-30 // of a class's sum, in float32 too
	p := logits.Scale(1 / temperature).Softmax(1)
	certainty := Certainty(p.Detach(), torch.Number(0))
	mass := p.Mul(certainty.Reshape(-1, 1))
	ofClasses := mass.Mul(p).SumDim(0, false).Div(mass.SumDim(0, false).ClampMin(least))
	return ofClasses.Mean().Affine(-1, 1)
}

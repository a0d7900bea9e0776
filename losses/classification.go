package losses

import "iwda/torch"

// CrossEntropy returns the mean of -log p_y over the rows: the classification loss of
// methods without weights. logits is (B × k), labels (B).
func CrossEntropy(logits, labels torch.Tensor) torch.Tensor {
	return negativeLogLikelihood(logits, labels).Mean()
}

// BalancedCrossEntropy returns (1/B) Σ -log p_y / (k·D_S(y)): in expectation, the
// error of the classes on average, each counting the same however rare it is. It is
// the equation in the body of the paper. sourceDistribution is D_S, shape (k); it
// must be positive for every label of the batch.
func BalancedCrossEntropy(logits, labels, sourceDistribution torch.Tensor) torch.Tensor {
	return balanced(logits, labels, sourceDistribution).Mean()
}

// WeightedBalancedCrossEntropy returns (1/B) Σ -w_y log p_y / (k·D_S(y)): the
// classification loss in the paper's appendix. weights is w, shape (k).
func WeightedBalancedCrossEntropy(logits, labels, sourceDistribution, weights torch.Tensor) torch.Tensor {
	return balanced(logits, labels, sourceDistribution).Mul(weights.IndexSelect(0, labels)).Mean()
}

// ReleasedWeightedBalancedCrossEntropy returns mean(w_y) times the balanced cross
// entropy. It is what the released code computes where it means
// [WeightedBalancedCrossEntropy]: it multiplies a vector (B) by a matrix (B × 1),
// which broadcasts to (B × B), so that no row gets its own weight.
func ReleasedWeightedBalancedCrossEntropy(logits, labels, sourceDistribution, weights torch.Tensor) torch.Tensor {
	return balanced(logits, labels, sourceDistribution).Mean().Mul(weights.IndexSelect(0, labels).Mean())
}

// negativeLogLikelihood returns -log p_y, shape (B).
func negativeLogLikelihood(logits, labels torch.Tensor) torch.Tensor {
	return logits.LogSoftmax(1).Gather(1, labels.Reshape(-1, 1)).Reshape(-1).Neg()
}

// balanced returns -log p_y / (k·D_S(y)), shape (B).
func balanced(logits, labels, sourceDistribution torch.Tensor) torch.Tensor {
	k := float64(sourceDistribution.Len())
	return negativeLogLikelihood(logits, labels).Div(sourceDistribution.IndexSelect(0, labels).Scale(k))
}

package losses

import (
	"fmt"

	"iwda/losses/form"
	"iwda/torch"
)

// CrossEntropy returns the mean of -log p_y over the rows: the classification loss of
// methods without weights. logits is (B × k), labels (B).
func CrossEntropy(logits, labels torch.Tensor) torch.Tensor {
	return negativeLogLikelihood(logits, labels).Mean()
}

// Classification is a classification loss of importance-weighted methods: of logits
// (B × k) and labels (B), with D_S, shape (k), which must be positive for every label of
// the batch, and the weights of the rows.
type Classification func(logits, labels, sourceDistribution, rowWeights torch.Tensor) torch.Tensor

// classifications holds the loss of every form.
var classifications = map[form.Classification]Classification{
	form.Balanced: func(logits, labels, sourceDistribution, _ torch.Tensor) torch.Tensor {
		return BalancedCrossEntropy(logits, labels, sourceDistribution, torch.Tensor{})
	},
	form.WeightedBalanced:         BalancedCrossEntropy,
	form.ReleasedWeightedBalanced: ReleasedBalancedCrossEntropy,
}

// ClassificationOf returns the loss of that form.
func ClassificationOf(f form.Classification) Classification {
	loss, ok := classifications[f]
	if !ok {
		panic(fmt.Sprintf("losses: no classification loss %q", f))
	}
	return loss
}

// BalancedCrossEntropy returns (1/B) Σ -w_y log p_y / (k·D_S(y)). Without weights it is
// in expectation the mean over the classes of each one's loss, however rare it is: the
// equation in the body of the paper; with them, that in its appendix.
func BalancedCrossEntropy(logits, labels, sourceDistribution, rowWeights torch.Tensor) torch.Tensor {
	return weighted(balanced(logits, labels, sourceDistribution), rowWeights).Mean()
}

// ReleasedBalancedCrossEntropy returns mean(w_y) times the balanced cross entropy without
// weights. It is what the released code computes where it means [BalancedCrossEntropy]:
// it multiplies a vector (B) by a matrix (B × 1), which broadcasts to (B × B), so that no
// row gets its own weight.
func ReleasedBalancedCrossEntropy(logits, labels, sourceDistribution, rowWeights torch.Tensor) torch.Tensor {
	loss := balanced(logits, labels, sourceDistribution).Mean()
	if rowWeights.IsZero() {
		return loss
	}
	return loss.Mul(rowWeights.Detach().Mean())
}

// negativeLogLikelihood returns -log p_y, shape (B).
func negativeLogLikelihood(logits, labels torch.Tensor) torch.Tensor {
	if l, y := logits.Shape(), labels.Shape(); len(l) != 2 || len(y) != 1 || y[0] != l[0] {
		panic(fmt.Sprintf("losses: logits of shape %v and labels of shape %v are not (B × k) and (B)", l, y))
	}
	return logits.LogSoftmax(1).Gather(1, labels.Reshape(-1, 1)).Reshape(-1).Neg()
}

// balanced returns -log p_y / (k·D_S(y)), shape (B).
func balanced(logits, labels, sourceDistribution torch.Tensor) torch.Tensor {
	k := float64(sourceDistribution.Len())
	if l := logits.Shape(); len(l) == 2 && l[1] != int(k) {
		panic(fmt.Sprintf("losses: logits of %d classes and a source distribution of %d", l[1], int(k)))
	}
	return negativeLogLikelihood(logits, labels).Div(sourceDistribution.IndexSelect(0, labels).Scale(k))
}

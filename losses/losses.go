// Package losses holds the losses of the paper as pure functions of tensors: the
// classification losses on the source, the adversarial losses of DANN and CDAN, the
// kernel losses of DAN and JAN, and the importance-weighted forms of each.
//
// Notation, as in the paper: B rows of each domain in a batch, k classes; z are
// features (rows × d), p = softmax(logits) predictions (rows × k), y source labels
// (B, int64), w class weights (k), D_S(y) the source's label distribution (k). In
// batches of both domains the B source rows come first. Every loss is a
// 0-dimensional tensor, and gradients flow through every argument unless its comment
// says otherwise.
//
// An argument rowWeights is w_y of each source row, shape (B), constant to autograd. The
// zero Tensor stands for no weights, which means that all are 1. Shapes that do not fit are a
// mistake in the program and panic.
//
// Package losses/form names the forms of a loss between which a run chooses.
package losses

import (
	"fmt"
	"slices"

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

// Adversarial returns the domain loss of DANN and, with weights, of IWDAN,
// (mean_S(-w_y log d) + mean_T(-log(1-d)))/2, from the logits of the discriminator d on
// the source rows and on the target rows, shape (B) each (source is 1, target 0). With
// inputs p ⊗ z it is CDAN's and IWCDAN's ([Conditioned]).
//
// It is finite for every finite logit, however sure the discriminator is.
func Adversarial(source, target, rowWeights torch.Tensor) torch.Tensor {
	ofSource := weighted(negativeLog(source), rowWeights).Mean()
	return ofSource.Add(negativeLogComplement(target).Mean()).Scale(0.5)
}

// EntropyConditioned returns the domain loss of CDAN-E (or IWCDAN-E): a weighted mean
// of the discriminator's cross entropy in which rows count by how sure the classifier
// is of them, e = 1 + exp(-H) ([Certainty]). The weights are e/Σe over the source
// rows, times w_y, and e/Σe over the target rows; their sums are constants to
// autograd, as is the sum of weights that the loss is divided by. All arguments have
// the shape (B).
func EntropyConditioned(source, target, sourceCertainty, targetCertainty, rowWeights torch.Tensor) torch.Tensor {
	sourceShare := weighted(sourceCertainty.Div(sourceCertainty.Detach().Sum()), rowWeights)
	targetShare := targetCertainty.Div(targetCertainty.Detach().Sum())
	return sourceShare.Mul(negativeLog(source)).Sum().
		Add(targetShare.Mul(negativeLogComplement(target)).Sum()).
		Div(sourceShare.Sum().Add(targetShare.Sum()).Detach())
}

// Conditioned returns CDAN's discriminator input p ⊗ z, shape (rows × k·d), class
// first: row i is p_1·z, …, p_k·z. p is a constant to autograd, as in the released
// code.
func Conditioned(features, predictions torch.Tensor) torch.Tensor {
	return predictions.Detach().OuterProduct(features)
}

// Certainty returns e = 1 + exp(-H), shape (rows), where H = -Σ p log(p + 1e-5) is
// the entropy of the predictions. The gradient through H is reversed with the
// coefficient.
func Certainty(predictions torch.Tensor, coefficient torch.Coefficient) torch.Tensor {
	const epsilon = 1e-5 // keeps the logarithm finite; the released code's value
	entropy := predictions.Mul(predictions.Affine(1, epsilon).Log()).SumDim(1, false).Neg()
	return entropy.ReverseGradient(coefficient).Neg().Exp().Affine(1, 1)
}

// weighted returns values of rows, shape (B), times their weights. Other shapes would broadcast.
func weighted(values, rowWeights torch.Tensor) torch.Tensor {
	if rowWeights.IsZero() {
		return values
	}
	if v, w := values.Shape(), rowWeights.Shape(); len(v) != 1 || !slices.Equal(v, w) {
		panic(fmt.Sprintf("losses: values of rows of shape %v and weights of shape %v are not both of (B)", v, w))
	}
	return values.Mul(rowWeights.Detach())
}

// negativeLog returns -log sigmoid(logits).
func negativeLog(logits torch.Tensor) torch.Tensor { return logits.LogSigmoid().Neg() }

// negativeLogComplement returns -log(1 - sigmoid(logits)).
func negativeLogComplement(logits torch.Tensor) torch.Tensor { return negativeLog(logits.Neg()) }

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

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

// Kernel is a sum of Gaussian kernels over bandwidths that double:
// K(a, b) = Σ_i exp(-‖a-b‖² / (bandwidth·2^i)) for i < Bandwidths.
type Kernel struct {
	Bandwidths int
	// Bandwidth is the smallest of them. 0 stands for the mean squared distance
	// between two different rows of the batch, divided by 2^(Bandwidths/2) and
	// constant to autograd.
	Bandwidth float64
}

// The kernels of the paper's experiments (those of Long et al. 2017).
var (
	FeatureKernel    = Kernel{Bandwidths: 5}
	PredictionKernel = Kernel{Bandwidths: 1, Bandwidth: 1.68}
)

// Layer is one layer's activations, on which a kernel is taken: source (B × d) and
// target (B × d).
type Layer struct {
	Source, Target torch.Tensor
	Kernel         Kernel
}

// MaximumMeanDiscrepancy returns the squared distance between the means of the two
// domains in the space of the product of the layers' kernels:
//
//	mean over i, j of w_i w_j K(s_i, s_j) + K(t_i, t_j) - 2 w_i K(s_i, t_j)
//
// One layer of features is DAN's loss, features and predictions JAN's and, with weights,
// IWJAN's. It takes O(B²) memory beyond its arguments, and both domains must have the
// same number of rows, at least 2.
func MaximumMeanDiscrepancy(f form.MMD, rowWeights torch.Tensor, layers ...Layer) torch.Tensor {
	rows := batchRows(layers)
	var kernel torch.Tensor
	for i, l := range layers {
		x := torch.Cat(0, l.Source, l.Target)
		k := x.GaussianKernelSum(l.Kernel.bandwidth(x), l.Kernel.Bandwidths)
		if i == 0 {
			kernel = k
		} else {
			kernel = kernel.Mul(k)
		}
	}
	return kernel.Mul(pairWeights(f, rows, rowWeights, kernel)).Sum()
}

// pairWeights returns the constant A, shape (2B × 2B), with which the loss is
// Σ A∘K. With v = (w_S, -1_T), A is v vᵀ over the number of pairs.
func pairWeights(f form.MMD, rows int, rowWeights, like torch.Tensor) torch.Tensor {
	dtype, device := like.DType(), like.Device()
	minusOne := torch.Full(-1, dtype, device, rows, 1)
	var ofSource torch.Tensor
	if rowWeights.IsZero() {
		ofSource = minusOne.Neg()
	} else {
		ofSource = rowWeights.Detach().Reshape(rows, 1)
	}
	v := torch.Cat(0, ofSource, minusOne)
	return v.MatMul(v.Transpose(0, 1)).Mul(pairShares(f, rows, dtype, device))
}

// pairShares returns, shape (2B × 2B), one over the number of pairs that each one's mean
// is taken over.
func pairShares(f form.MMD, rows int, dtype torch.DType, device torch.Device) torch.Tensor {
	switch {
	case f == form.Biased:
		return torch.Full(1/float64(rows*rows), dtype, device, 2*rows, 2*rows)
	case f == form.Unbiased:
		return unbiasedShares(rows, dtype, device)
	}
	panic(fmt.Sprintf("losses: no form of the MMD %q", f))
}

// unbiasedShares returns 1/(B(B-1)) for pairs within a domain, 0 for a row with
// itself, and 1/B² for pairs across. Everything is made on the device.
func unbiasedShares(rows int, dtype torch.DType, device torch.Device) torch.Tensor {
	full := func(value float64, shape ...int) torch.Tensor { return torch.Full(value, dtype, device, shape...) }
	within, across := full(1/float64(rows*(rows-1)), rows, rows), full(1/float64(rows*rows), rows, rows)
	shares := torch.Cat(0, torch.Cat(1, within, across), torch.Cat(1, across, within))
	// In row-major order the zeros of the diagonal stand n+1 places apart.
	n := 2 * rows
	apart := torch.Cat(1, full(0, n-1, 1), full(1, n-1, n)).Reshape(-1)
	return shares.Mul(torch.Cat(0, apart, full(0, 1)).Reshape(n, n))
}

// bandwidth returns the smallest bandwidth for the rows of x (n × d), 0-dimensional
// and constant to autograd. The sum of all squared distances is
// 2n Σ‖x_i‖² - 2‖Σ x_i‖², and the mean is the same for rows moved to their centre,
// where nothing cancels.
func (k Kernel) bandwidth(x torch.Tensor) torch.Tensor {
	if k.Bandwidth != 0 {
		return torch.Full(k.Bandwidth, x.DType(), x.Device())
	}
	n := x.Shape()[0]
	x = x.Detach()
	centred := x.Sub(x.SumDim(0, true).Scale(1 / float64(n)))
	scale := float64(int(1) << (k.Bandwidths / 2))
	// The smallest positive bandwidth keeps the kernel of identical rows at 1.
	return centred.Square().Sum().Scale(2 / float64(n-1) / scale).ClampMin(smallestBandwidth)
}

// smallestBandwidth stands for 0 where all rows of a batch are the same; it is a
// normal number in float32, and so are the distances that it divides.
const smallestBandwidth = 1e-30

func batchRows(layers []Layer) int {
	if len(layers) == 0 {
		panic("losses: no layer to compare")
	}
	rows := layers[0].Source.Shape()[0]
	for i, l := range layers {
		s, t := l.Source.Shape(), l.Target.Shape()
		if len(s) != 2 || len(t) != 2 || s[0] != rows || t[0] != rows || s[1] != t[1] || rows < 2 {
			panic(fmt.Sprintf("losses: layer %d: source %v and target %v are not two batches of %d rows, at least 2, of one size", i, s, t, rows))
		}
	}
	return rows
}

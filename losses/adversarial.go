package losses

import (
	"fmt"
	"slices"

	"iwda/torch"
)

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

package losses

import (
	"fmt"

	"iwda/losses/form"
	"iwda/torch"
)

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
		k := l.Kernel.matrix(torch.Cat(0, l.Source, l.Target))
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

// matrix returns K(x_i, x_j) for all rows of x (n × d), shape (n × n).
func (k Kernel) matrix(x torch.Tensor) torch.Tensor {
	return x.GaussianKernelSum(k.bandwidth(x), k.Bandwidths)
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

package weightest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Ambiguity bounds by how much each class's share in the target, length k, may differ
// between solutions of the estimator's problem: shares that explain the predictions as
// well as the estimate's, whatever the number of rows. There are several where C, or for
// MLLS the target's rows, lack rank: a classifier whose predictions are always the same,
// two classes that get equal probabilities in every row, or, for hard predictions, a class
// that is never predicted. Ambiguity returns nil where there is one solution, and for an
// estimate that solves no equations. Of more than MostDense classes nothing is computed: it returns nil.
//
// Two solutions differ by a vector d of the kernel of the equations, and ‖d‖ ≤ √2 as both
// are distributions, so that |d_j| ≤ √2 ‖P e_j‖, P the projection onto the kernel. That
// solutions are not negative may bound them further.
func Ambiguity(e Estimator, p Problem) ([]float64, error) {
	if p.Classes() > MostDense {
		return nil, nil
	}
	a, err := e.Equations(p)
	if a == nil || err != nil {
		return nil, err
	}
	kernel, err := kernelOf(a)
	if kernel == nil || err != nil {
		return nil, err
	}
	var svd mat.SVD
	if !svd.Factorize(kernel, mat.SVDThinU) {
		return nil, fmt.Errorf("%w: the kernel of the equations", ErrNoConvergence)
	}
	var basis mat.Dense
	svd.UTo(&basis)
	bounds := make([]float64, p.Classes())
	for j := range bounds {
		bounds[j] = min(1, math.Sqrt2*mat.Norm(basis.RowView(j), 2))
	}
	return bounds, nil
}

// kernelOf returns a basis of the d with A d = 0 and Σ d = 0, k×its size, nil where there
// is none.
func kernelOf(a *mat.Dense) (*mat.Dense, error) {
	// Columns of one length make rare classes count like others. The equations of MLLS are
	// squares, whose rounding hides what is smaller.
	const negligible = 1e-12
	rows, k := a.Dims()
	sum := mat.Max(a) // so that the row of Σ d weighs as the others do
	if sum == 0 {
		sum = 1
	}
	scaled, lengths := mat.NewDense(rows+1, k, nil), make([]float64, k)
	for j := range k {
		column := scaled.ColView(j).(*mat.VecDense)
		column.SliceVec(0, rows).(*mat.VecDense).CopyVec(a.ColView(j))
		column.SetVec(rows, sum)
		lengths[j] = mat.Norm(column, 2)
		column.ScaleVec(1/lengths[j], column)
	}
	var svd mat.SVD
	if !svd.Factorize(scaled, mat.SVDThinV) {
		return nil, fmt.Errorf("%w: the equations have no singular value decomposition", ErrNoConvergence)
	}
	rank := svd.Rank(negligible)
	if rank == k {
		return nil, nil
	}
	var v mat.Dense
	svd.VTo(&v)
	kernel := mat.DenseCopyOf(v.Slice(0, k, rank, k))
	kernel.Apply(func(j, _ int, d float64) float64 { return d / lengths[j] }, kernel)
	return kernel, nil
}

// ratesOf returns the equations of all estimators that solve C w = mu: the predictions on
// each source class, k×k, each a distribution. Those of float32 rows sum to 1 up to 1e-7
// only, which Σ d = 0 would contradict. A class without source mass has zeros.
func ratesOf(p Problem) (*mat.Dense, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	rates := mat.DenseCopyOf(p.Confusion)
	for j := range p.Classes() {
		column := rates.ColView(j).(*mat.VecDense)
		if sum := mat.Sum(column); sum > 0 {
			column.ScaleVec(1/sum, column)
		}
	}
	return rates, nil
}

package intervals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest"
)

// Fisher returns the intervals of MLLS's solution from the likelihood's curvature,
// for large samples and without resampling: those of a normal distribution about the
// maximum of the likelihood's quadratic model, in log q/(1-q) and log w but where that is
// within a standard error of a bound. The solution is MLLS's for the sample's problem,
// its prior the mean source prediction.
//
// With the information H of a row, V its inverse on the tangent of the simplex
// (V = H⁻¹ - H⁻¹11ᵀH⁻¹/1ᵀH⁻¹1) and Σ the covariance of a source row's probabilities,
//
//	Cov(q) = V/m + S Σ Sᵀ/n,   S = ∂q/∂p = V (H D(w) - D(g/p)),
//
// g being the solution's Factors. The first part is the inverse Fisher information of the
// target's rows; the second follows from p, a mean of n rows. The calibration of the
// probabilities is taken as exact, as is that P(x|y) is the same in both domains: intervals
// are too narrow where a calibrator was fitted to few rows, and wrong where probabilities
// are not calibrated.
//
// A class with share 0 at the maximum has an interval too, from what the quadratic model
// would be below 0, and every interval includes its estimate, which that model's maximum
// may be far from. Where H lacks rank, as with two classes that the classifier cannot
// tell apart, the intervals of these reach as far as shares can. Fisher panics
// where the solution has another number of classes than the sample.
func Fisher(s *weightest.Sample, solution weightest.MLLSSolution, level float64) Uncertainty {
	k := s.Classes()
	if len(solution.TargetDistribution) != k {
		panic(fmt.Sprintf("intervals: a solution of %d classes for a sample of %d", len(solution.TargetDistribution), k))
	}
	source, labels := s.Source()
	n, m := float64(len(labels)), float64(len(s.Target())/k)
	inverse, regular := tangentInverse(solution.Information)
	byPrior := priorJacobian(solution, inverse)
	var ofRow mat.SymDense
	stat.CovarianceMatrix(&ofRow, mat.NewDense(len(labels), k, source), nil)

	// The quadratic model's maximum on the tangent.
	centre := make([]float64, k)
	mat.NewVecDense(k, centre).MulVec(inverse, mat.NewVecDense(k, solution.Factors))
	floats.Add(centre, solution.TargetDistribution)
	shares := sumCovariance(inverse, 1/m, byPrior, &ofRow, 1/n)
	result := Uncertainty{Level: level, Shares: normalIntervals(centre, shares, level, 1)}

	// w_y = q_y/p_y: both parts of q's error divided by p, less q_y δp_y/p_y².
	for y, mass := range solution.Prior {
		if mass == 0 {
			mass = math.Inf(1)
		}
		centre[y] /= mass
		for z := range k {
			inverse.Set(y, z, inverse.At(y, z)/mass)
			byPrior.Set(y, z, byPrior.At(y, z)/mass)
		}
		for z := range k {
			inverse.Set(z, y, inverse.At(z, y)/mass)
		}
		byPrior.Set(y, y, byPrior.At(y, y)-solution.Weights[y]/mass)
	}
	weights := sumCovariance(inverse, 1/m, byPrior, &ofRow, 1/n)
	result.Weights = normalIntervals(centre, weights, level, math.Inf(1))
	result.Shares.include(solution.TargetDistribution)
	result.Weights.include(solution.Weights)
	if !regular {
		result.Warning = "the likelihood does not tell some classes from each other: their intervals are as wide as they can be"
	}
	return result
}

// priorJacobian returns ∂q/∂p = V (H D(w) - D(g/p)), k×k.
func priorJacobian(s weightest.MLLSSolution, inverse *mat.Dense) *mat.Dense {
	var change mat.Dense
	change.Apply(func(y, z int, h float64) float64 {
		h *= s.Weights[z]
		if y == z && s.Prior[y] > 0 {
			h -= s.Factors[y] / s.Prior[y]
		}
		return h
	}, s.Information)
	change.Mul(inverse, &change)
	return &change
}

// sumCovariance returns a·V + b·J Σ Jᵀ.
func sumCovariance(v *mat.Dense, a float64, jacobian *mat.Dense, sigma *mat.SymDense, b float64) *mat.SymDense {
	k := sigma.SymmetricDim()
	var product, propagated mat.Dense
	product.Mul(jacobian, sigma)
	propagated.Mul(&product, jacobian.T())
	sum := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			sum.SetSym(i, j, a*v.At(i, j)+b*propagated.At(i, j))
		}
	}
	return sum
}

// tangentInverse returns H⁻¹ - H⁻¹11ᵀH⁻¹/1ᵀH⁻¹1, and whether H is regular. Where it is not,
// its smallest eigenvalues are raised to what stands for no information.
func tangentInverse(information *mat.SymDense) (inverse *mat.Dense, regular bool) {
	const rounding = 1e-11
	k := information.SymmetricDim()
	var eigen mat.EigenSym
	inverse = mat.NewDense(k, k, nil)
	if !eigen.Factorize(information, true) {
		return inverse, false
	}
	var vectors, scaledVectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	regular = true
	scaledVectors.Apply(func(_, j int, v float64) float64 {
		floor := rounding * values[k-1]
		if values[j] < floor {
			regular = false
		}
		return v / math.Max(values[j], floor)
	}, &vectors)
	inverse.Mul(&scaledVectors, vectors.T())
	ones := mat.NewVecDense(k, slices.Repeat([]float64{1}, k))
	var along mat.VecDense
	along.MulVec(inverse, ones)
	inverse.RankOne(inverse, -1/mat.Dot(&along, ones), &along, &along)
	return inverse, regular
}

// normalIntervals are those of numbers between 0 and the upper bound, 1 or infinity, whose
// estimates are normal about the centre. Those of all numbers at once are as many standard
// errors wide as the largest of the numbers, standardised, exceeds with the probability
// 1 - level, by draws.
func normalIntervals(centre []float64, covariance *mat.SymDense, level, upper float64) Intervals {
	each := distuv.UnitNormal.Quantile((1 + level) / 2)
	joint := math.Max(each, jointQuantile(covariance, level))
	var result Intervals
	for y, c := range centre {
		deviation := math.Sqrt(covariance.At(y, y))
		result.Each = append(result.Each, normalInterval(c, deviation, each, upper))
		result.Joint = append(result.Joint, normalInterval(c, deviation, joint, upper))
	}
	return result
}

// normalInterval reaches so many standard errors from the centre to both sides, in the
// logarithm of a number without bound and in that of v/(1-v) up to 1: small numbers
// err more upwards. It is the interval about the centre itself, cut off at the bounds,
// where the centre is less than a standard error from one of them.
func normalInterval(centre, deviation, errors, upper float64) Interval {
	if centre <= deviation || centre >= upper-deviation {
		clip := func(v float64) float64 { return math.Min(upper, math.Max(0, v)) }
		return Interval{clip(centre - errors*deviation), clip(centre + errors*deviation)}
	}
	if math.IsInf(upper, 1) {
		factor := math.Exp(errors * deviation / centre)
		return Interval{centre / factor, centre * factor}
	}
	odds := centre / (1 - centre)
	factor := math.Exp(errors * deviation / centre / (1 - centre))
	return Interval{odds / factor / (1 + odds/factor), odds * factor / (1 + odds*factor)}
}

// jointQuantile returns the quantile of max_y |z_y|/σ_y for normal z of the covariance,
// from a fixed set of draws.
func jointQuantile(covariance *mat.SymDense, level float64) float64 {
	const draws = 10000
	k := covariance.SymmetricDim()
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return 0
	}
	var root mat.Dense
	eigen.VectorsTo(&root)
	values := eigen.Values(nil)
	root.Apply(func(y, j int, v float64) float64 {
		if variance := covariance.At(y, y); variance > 0 {
			return v * math.Sqrt(math.Max(0, values[j])/variance)
		}
		return 0
	}, &root)
	random := rand.New(rand.NewPCG(1, 1))
	largest := make([]float64, draws)
	normal, z := mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
	for i := range largest {
		for j := range k {
			normal.SetVec(j, random.NormFloat64())
		}
		z.MulVec(&root, normal)
		largest[i] = mat.Norm(z, math.Inf(1))
	}
	slices.Sort(largest)
	return percentile(largest, level)
}

package weightest

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// BBSESettings are the options of BBSE; the zero value is the paper's estimator.
type BBSESettings struct {
	// Ridge is λ ≥ 0 in (CᵀC + λI) w = Cᵀmu.
	Ridge float64
}

// BBSESolution is what BBSE returns.
type BBSESolution struct {
	// Weights are w, length k: Raw, its negative entries set to zero, times Scale.
	Weights []float64
	// Raw is the solution of the linear system, length k.
	Raw []float64
	// Clipped are the classes whose entry of Raw is negative, in rising order.
	Clipped []int
	// Scale restores w·D_S = 1, which holds for C⁻¹mu but not after clipping.
	Scale float64
	// Rank is C's rank; below k the solution is not unique.
	Rank int
	// ConditionNumber is C's largest over its smallest singular value; +Inf where C
	// lacks rank.
	ConditionNumber float64
}

// BBSE is the black-box shift estimator of Lipton, Wang and Smola (2018): where P(x|y)
// is the same in both domains, mu = C w, so that
//
//	w = C⁻¹ mu,   negative entries set to zero, w scaled to w·D_S = 1,
//
// on the predictions of p.Confusion and p.TargetPredictions; those of p.OnHard() are
// the paper's.
//
// Where C lacks rank, as it does where a class is never predicted, w is the shortest
// solution C⁺mu of min ‖C w - mu‖ (C⁺ the pseudo-inverse), and Rank says so.
//
// The error wraps ErrInvalidProblem, ErrMissingClass with the class's number where one
// has no source mass, or ErrInfeasible where every weight is zero or negative.
//
// The paper's released code solves (CᵀC + λI) w = Cᵀmu with λ = 1/min(n, m). As C's
// entries are joint probabilities, CᵀC is about 1/k² times the identity, and λ shrinks
// the weights heavily where n is some hundreds; it neither clips nor scales. Ridge asks
// for that λ.
func BBSE(p Problem, settings BBSESettings) (BBSESolution, error) {
	if err := p.Validate(); err != nil {
		return BBSESolution{}, err
	}
	if !(settings.Ridge >= 0) {
		return BBSESolution{}, fmt.Errorf("weightest: the ridge of BBSE is %v; it must not be negative", settings.Ridge)
	}
	if err := p.requireEveryClass(); err != nil {
		return BBSESolution{}, err
	}
	raw, rank, condition, err := regularisedSolution(p.Confusion, p.TargetPredictions, settings.Ridge)
	if err != nil {
		return BBSESolution{}, err
	}
	s := BBSESolution{Raw: raw, Rank: rank, ConditionNumber: condition}
	s.Weights, s.Clipped, s.Scale, err = normalised(raw, p.SourceDistribution)
	return s, err
}

// regularisedSolution returns the x of (CᵀC + λI) x = Cᵀb, the shortest one, and C's
// rank and condition number: with C = U Σ Vᵀ it is V (Σ²+λI)⁻¹Σ Uᵀb.
func regularisedSolution(c *mat.Dense, b []float64, lambda float64) (x []float64, rank int, condition float64, err error) {
	k := len(b)
	var svd mat.SVD
	if !svd.Factorize(c, mat.SVDThin) {
		return nil, 0, 0, fmt.Errorf("%w: C has no singular value decomposition", ErrNoConvergence)
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	sigma := svd.Values(nil)
	rank = rankOf(sigma)
	condition = math.Inf(1)
	if rank == k {
		condition = sigma[0] / sigma[k-1]
	}
	var along mat.VecDense
	along.MulVec(u.T(), mat.NewVecDense(k, b))
	for i, s := range sigma {
		if i < rank {
			along.SetVec(i, along.AtVec(i)*s/(s*s+lambda))
		} else {
			along.SetVec(i, 0)
		}
	}
	var solution mat.VecDense
	solution.MulVec(&v, &along)
	return solution.RawVector().Data, rank, condition, nil
}

// rankOf returns the number of singular values, in falling order, that rounding cannot
// explain.
func rankOf(sigma []float64) int {
	limit := 2 * epsilon * float64(len(sigma)) * sigma[0]
	for i, s := range sigma {
		if !(s > limit) {
			return i
		}
	}
	return len(sigma)
}

// normalised returns raw with its negative entries set to zero, scaled to w·d = 1, the
// classes that were negative and the scale. The error wraps ErrInfeasible where nothing
// is left.
func normalised(raw, d []float64) (w []float64, clipped []int, scale float64, err error) {
	w = make([]float64, len(raw))
	for j, v := range raw {
		if v < 0 {
			clipped = append(clipped, j)
		} else {
			w[j] = v
		}
	}
	total := floats.Dot(w, d)
	if !(total > 0) {
		return nil, nil, 0, fmt.Errorf("%w: every class of C⁻¹mu with source mass is zero or negative", ErrInfeasible)
	}
	floats.Scale(1/total, w)
	return w, clipped, 1 / total, nil
}

type bbse struct{}

// illConditioned is the condition number above which an estimate of 2,000 rows says
// little.
const illConditioned = 1e3

func (bbse) Estimate(p Problem) (Estimate, error) {
	s, err := BBSE(p, BBSESettings{})
	if err != nil {
		return Estimate{}, err
	}
	estimate := estimateOf(s.Weights, p)
	estimate.Clipped, estimate.Scale = s.Clipped, s.Scale
	var warnings []string
	switch {
	case s.Rank < p.Classes():
		warnings = append(warnings, fmt.Sprintf("C has rank %d of %d: other weights explain the predictions as well as these, the shortest", s.Rank, p.Classes()))
	case s.ConditionNumber > illConditioned:
		warnings = append(warnings, fmt.Sprintf("C has condition number %.3g", s.ConditionNumber))
	}
	if len(s.Clipped) > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d weights were negative and set to zero, the others multiplied by %.3g",
			len(s.Clipped), p.Classes(), s.Scale))
	}
	estimate.Warning = strings.Join(warnings, "; ")
	return estimate, nil
}

// inverse is BBSE as training has it: a singular C is an error, so that the former
// weights stay.
type inverse struct{}

func (inverse) Estimate(p Problem) (Estimate, error) {
	if err := p.Validate(); err != nil {
		return Estimate{}, err
	}
	var lu mat.LU
	lu.Factorize(p.Confusion)
	condition := lu.Cond()
	// The largest condition number with which the solution has a correct digit.
	if !(condition < 1/(2*epsilon)) {
		return Estimate{}, fmt.Errorf("%w: its condition number is %.3g", ErrSingular, condition)
	}
	var solution mat.VecDense
	mu := mat.NewVecDense(p.Classes(), p.TargetPredictions)
	// SolveVecTo's only error repeats the condition number.
	_ = lu.SolveVecTo(&solution, false, mu)
	w, clipped, scale, err := normalised(solution.RawVector().Data, p.SourceDistribution)
	if err != nil {
		return Estimate{}, err
	}
	estimate := estimateOf(w, p)
	estimate.Clipped, estimate.Scale = clipped, scale
	estimate.Warning = fmt.Sprintf("C has condition number %.3g", condition)
	if len(clipped) > 0 {
		estimate.Warning += fmt.Sprintf("; %d of %d weights of C⁻¹mu were negative and set to zero", len(clipped), len(w))
	}
	return estimate, nil
}

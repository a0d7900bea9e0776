package weightest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// RightHandSide is the linear term q of the quadratic program.
type RightHandSide int

const (
	// LeastSquares is q = -Cᵀmu, that of min ½‖mu - C w‖² (the paper's equation).
	LeastSquares RightHandSide = iota
	// Released is q = -C mu, that of the code released with the paper. It solves
	// another problem wherever C is not symmetric.
	Released
)

// QPSettings are the options of SolveQP; the zero value is the paper's problem.
type QPSettings struct {
	RightHandSide RightHandSide
	// MaxIterations bounds the number of linear systems solved; 0 means 100 + 10k.
	MaxIterations int
}

// Solution is what SolveQP returns.
type Solution struct {
	// Weights are w, length k. Where several are optimal, it is one of them, the same
	// at every call.
	Weights []float64
	// Objective is ½‖mu - C w‖², or ½wᵀPw + q·w with the released right-hand side.
	Objective float64
	// Multiplier is λ, that of the constraint w·D_S = 1.
	Multiplier float64
	// Stationarity is the largest violation of the optimality conditions
	//
	//	z = P w + q - λ D_S,   z_j = 0 where w_j > 0,   z_j ≥ 0 where w_j = 0,
	//
	// each z_j divided by ‖C_j‖(‖mu‖ + ‖C w‖), C_j the j-th column; with the released
	// right-hand side by ‖C_j‖‖C w‖ + |q_j|; and never by less than |λ| D_S[j].
	// D_S[j]·min_i(‖C_i‖/D_S[i]) stands for ‖C_j‖ where the column is zero.
	Stationarity float64
	// Feasibility is |w·D_S - 1|; no weight is negative.
	Feasibility float64
	// Iterations is the number of linear systems solved.
	Iterations int
}

// SolveQP computes class weights w by the quadratic program
//
//	min ½wᵀPw + q·w   s.t.   w ≥ 0,  w·D_S = 1,     P = CᵀC, q = -Cᵀmu,
//
// which is min ½‖mu - C w‖² up to the constant that Objective includes.
//
// The method is an active-set method of our own: block pivoting (all signs that are
// wrong change at once), and where that does not settle a primal active-set method,
// whose objective never increases. Each free set is solved by a Cholesky
// factorisation with proximal refinement, so that C may have any rank: weights that
// are unique come out with the accuracy of a backward-stable method as long as the
// condition number of C, columns scaled to norm one, is below some 1e5; the
// objective is right without such a condition.
//
// A class with neither source mass nor a column in C has no part in the problem and
// gets weight 0, the shortest choice. (With the released right-hand side any weight of
// such a class that its mu makes worthwhile would be better without bound.)
//
// The error wraps ErrInvalidProblem, ErrInfeasible (see Problem.Validate) or
// ErrNoConvergence.
func SolveQP(p Problem, settings QPSettings) (Solution, error) {
	if err := p.Validate(); err != nil {
		return Solution{}, err
	}
	limit := settings.MaxIterations
	if limit <= 0 {
		limit = 100 + 10*p.Classes()
	}
	s := scale(p, settings.RightHandSide)
	u, iterations, err := newActiveSet(s, limit).solve()
	if err != nil {
		return Solution{}, fmt.Errorf("%w in %d iterations, %d classes", err, iterations, p.Classes())
	}
	w := s.weights(u, p.Classes())
	total := floats.Dot(w, p.SourceDistribution)
	if !(total > 0) || math.IsInf(total, 0) {
		return Solution{}, fmt.Errorf("%w: the scales of C, mu and D_S are too far apart", ErrNoConvergence)
	}
	floats.Scale(1/total, w)
	solution := Solution{Weights: w, Iterations: iterations}
	solution.certify(p, settings.RightHandSide, s.norms)
	return solution, nil
}

// certify computes the objective and the residuals from the problem as it was given,
// and from the norms of its columns.
func (s *Solution) certify(p Problem, rightHandSide RightHandSide, norms []float64) {
	k := p.Classes()
	w, d := s.Weights, p.SourceDistribution
	confusion := p.Confusion.RawMatrix()
	explained := make([]float64, k) // C w
	blas64.Gemv(blas.NoTrans, 1, confusion, vector(w), 0, vector(explained))
	residual := make([]float64, k)
	linear := make([]float64, k) // q where it is not part of the residual
	copy(residual, explained)
	reach := floats.Norm(explained, 2)
	switch rightHandSide {
	case LeastSquares:
		floats.Sub(residual, p.TargetPredictions)
		reach += floats.Norm(p.TargetPredictions, 2)
	case Released:
		blas64.Gemv(blas.NoTrans, -1, confusion, vector(p.TargetPredictions), 0, vector(linear))
	}
	s.Objective = floats.Dot(residual, residual)/2 + floats.Dot(linear, w)
	s.Feasibility = math.Abs(floats.Dot(w, d) - 1)

	gradient := append([]float64(nil), linear...)
	blas64.Gemv(blas.Trans, 1, confusion, vector(residual), 1, vector(gradient))
	scales := make([]float64, k)
	for j := range scales {
		scales[j] = norms[j]*reach + math.Abs(linear[j])
	}
	s.Multiplier = multiplier(gradient, d, w, scales)
	for j, g := range gradient {
		if norms[j] == 0 {
			continue
		}
		z := g - s.Multiplier*d[j]
		if w[j] > 0 {
			z = math.Abs(z)
		} else {
			z = max(0, -z)
		}
		if z > 0 {
			s.Stationarity = max(s.Stationarity, z/max(scales[j], math.Abs(s.Multiplier)*d[j]))
		}
	}
}

// multiplier is the λ that fits gradient = λ d on the classes with positive weight
// best, each class measured in its scale.
func multiplier(gradient, d, w, scales []float64) float64 {
	var numerator, denominator float64
	for j, g := range gradient {
		if w[j] > 0 && d[j] > 0 && scales[j] > 0 {
			numerator += (g / scales[j]) * (d[j] / scales[j])
			denominator += (d[j] / scales[j]) * (d[j] / scales[j])
		}
	}
	if denominator == 0 {
		return 0
	}
	return numerator / denominator
}

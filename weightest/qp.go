package weightest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/weightest/internal/simplex"
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

// QP is the estimator by the quadratic program
//
//	min ½wᵀPw + q·w   s.t.   w ≥ 0,  w·D_S = 1,     P = CᵀC, q = -Cᵀmu,
//
// which is min ½‖mu - C w‖² up to the constant that Objective includes (Tachet des Combes,
// Zhao, Wang and Gordon 2020). The zero value is the paper's problem.
//
// C may have any rank: weights that are unique come out with the accuracy of a
// backward-stable method as long as the condition number of C, columns scaled to norm one,
// is below some 1e5; the objective is right without such a condition. Where several
// weights are optimal, the estimate is one of them, the same at every call.
//
// A class with neither source mass nor a column in C has no part in the problem and
// gets weight 0, the shortest choice. (With the released right-hand side any weight of
// such a class that its mu makes worthwhile would be better without bound.)
type QP struct{ RightHandSide RightHandSide }

// QPSolution is the estimate of QP with its certificate. Violation is the largest
// violation of the optimality conditions
//
//	z = P w + q - λ D_S,   z_j = 0 where w_j > 0,   z_j ≥ 0 where w_j = 0,
//
// each z_j divided by ‖C_j‖(‖mu‖ + ‖C w‖), C_j the j-th column; with the released
// right-hand side by ‖C_j‖‖C w‖ + |q_j|; and never by less than |λ| D_S[j].
// D_S[j]·min_i(‖C_i‖/D_S[i]) stands for ‖C_j‖ where the column is zero.
type QPSolution struct {
	Estimate
	// Objective is ½‖mu - C w‖², or ½wᵀPw + q·w with the released right-hand side.
	Objective float64
	// Multiplier is λ, that of the constraint w·D_S = 1.
	Multiplier float64
	// Feasibility is |w·D_S - 1|; no weight is negative.
	Feasibility float64
}

// Estimate returns the solution's estimate.
func (e QP) Estimate(p Problem) (Estimate, error) {
	s, err := e.Solve(p)
	return s.Estimate, err
}

// Equations returns the rates of predictions.
func (QP) Equations(p Problem) (*mat.Dense, error) { return ratesOf(p) }

// Solve returns the estimate with its certificate. The error wraps ErrInvalidProblem,
// ErrInfeasible (see Problem.Validate) or ErrNoConvergence.
func (e QP) Solve(p Problem) (QPSolution, error) {
	if err := p.Validate(); err != nil {
		return QPSolution{}, err
	}
	program := e.program(p)
	w, iterations, err := program.Solve()
	if err != nil {
		return QPSolution{}, fmt.Errorf("%w in %d iterations, %d classes", err, iterations, p.Classes())
	}
	total := floats.Dot(w, p.SourceDistribution)
	if !(total > 0) || math.IsInf(total, 0) {
		return QPSolution{}, fmt.Errorf("%w: the scales of C, mu and D_S are too far apart", ErrNoConvergence)
	}
	floats.Scale(1/total, w)
	s := QPSolution{Estimate: estimateOf(w, p)}
	s.certify(p, e.RightHandSide, program.Norms)
	return s, nil
}

func (e QP) program(p Problem) *simplex.Scaled {
	if e.RightHandSide == Released {
		return simplex.Scale(p.Confusion, nil, product(p.Confusion, p.TargetPredictions), p.SourceDistribution)
	}
	return simplex.Scale(p.Confusion, p.TargetPredictions, nil, p.SourceDistribution)
}

// product returns A x.
func product(a mat.Matrix, x []float64) []float64 {
	var y mat.VecDense
	y.MulVec(a, mat.NewVecDense(len(x), x))
	return y.RawVector().Data
}

// certify computes the objective and the residuals from the problem as it was given,
// and from the norms of its columns.
func (s *QPSolution) certify(p Problem, rightHandSide RightHandSide, norms []float64) {
	w, d := s.Weights, p.SourceDistribution
	residual := product(p.Confusion, w)
	linear := make([]float64, len(w)) // q where it is not part of the residual
	reach := floats.Norm(residual, 2)
	if rightHandSide == Released {
		floats.ScaleTo(linear, -1, product(p.Confusion, p.TargetPredictions))
	} else {
		floats.Sub(residual, p.TargetPredictions)
		reach += floats.Norm(p.TargetPredictions, 2)
	}
	s.Objective = floats.Dot(residual, residual)/2 + floats.Dot(linear, w)
	s.Feasibility = math.Abs(floats.Dot(w, d) - 1)

	gradient := product(p.Confusion.T(), residual)
	floats.Add(gradient, linear)
	scales := make([]float64, len(w))
	for j := range scales {
		scales[j] = norms[j]*reach + math.Abs(linear[j])
	}
	s.Multiplier = multiplier(gradient, d, w, scales)
	s.Violation = 0
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
			s.Violation = max(s.Violation, z/max(scales[j], math.Abs(s.Multiplier)*d[j]))
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

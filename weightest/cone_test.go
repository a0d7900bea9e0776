package weightest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// checkCone tests a solution against a lower bound of every feasible θ, written out
// here once more: ‖C θ - b‖ + ρ‖θ‖ ≥ -u·b - Σz for ‖u‖ ≤ 1, z ≥ 0, ‖Cᵀu - z‖ ≤ ρ.
func checkCone(t *testing.T, s *cone) {
	t.Helper()
	got := s.solution()
	k := len(s.b)
	theta := slices.Clone(got.raw)
	for j := range theta {
		if !(theta[j] >= 0) {
			t.Fatalf("weight %d is %v", j, theta[j])
		}
		theta[j]--
	}
	var objective, gradient mat.VecDense
	objective.MulVec(s.c, mat.NewVecDense(k, theta))
	objective.SubVec(&objective, mat.NewVecDense(k, s.b))
	value := mat.Norm(&objective, 2) + s.rho*floats.Norm(theta, 2)
	gradient.MulVec(s.c.T(), mat.NewVecDense(k, s.dual))
	bound := -floats.Dot(s.dual, s.b)
	var outside float64
	for j := range k {
		v := gradient.AtVec(j)
		z := 0.0
		if theta[j] < -0.999 {
			z = max(0, v+s.rho*theta[j]/floats.Norm(theta, 2))
		}
		bound -= z
		outside += (v - z) * (v - z)
	}
	if u := floats.Norm(s.dual, 2); u > 1+1e-12 || math.Sqrt(outside) > s.rho*(1+1e-9) {
		t.Errorf("the dual point has norms %v of 1 and %v of %v", u, math.Sqrt(outside), s.rho)
	}
	scale := floats.Norm(s.b, 2) + s.rho + mat.Norm(s.c, 2)*math.Sqrt(float64(k))
	if !(math.Abs(value-bound) <= 1e-12*scale) || !(math.Abs(got.gap) <= 1e-12*scale) {
		t.Errorf("objective %v, lower bound %v; reported gap %v", value, bound, got.gap)
	}
	for _, j := range got.bounded {
		if got.raw[j] != 0 {
			t.Errorf("class %d is bounded and has weight %v", j, got.raw[j])
		}
	}
}

func TestConeIsOptimal(t *testing.T) {
	for a, alteration := range alterations {
		t.Run(alteration.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, uint64(a)))
			for n := range 120 {
				p := randomProblem(r, 1+r.IntN(14), r.Float64(), r.Float64())
				if p.Classes() > 1 {
					alteration.apply(r, p)
				}
				// Problems of probabilities: scales are the business of SolveQP.
				if largest := mat.Max(p.Confusion); largest > 1 || largest < 1e-6 {
					return
				}
				b := unexplained(p)
				rho := math.Pow(10, -5*r.Float64())
				got, err := solveCone(p.Confusion, b, rho)
				if err != nil {
					t.Fatal(err)
				}
				s := &cone{c: p.Confusion, b: b, rho: rho, bounded: make([]bool, len(b)), face: make([]float64, len(b)), dual: make([]float64, len(b))}
				if done, err := s.blockPivot(); err != nil {
					t.Fatal(err)
				} else if done {
					checkCone(t, s)
				}
				if floats.Sum(p.TargetPredictions) < 0.5 {
					continue // predictions of nothing are no business of the primal method
				}
				if err := s.primal(); err != nil {
					t.Fatalf("problem %d: %v", n, err)
				}
				checkCone(t, s)
				if d := math.Abs(s.objective(s.face) - got.objective); d > 1e-12 {
					t.Errorf("problem %d: the primal method's objective differs by %v", n, d)
				}
			}
		})
	}
}

func TestRLLSErrors(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(12, 1)), 3, 0.7, 0)
	if _, err := (RLLS{}).Estimate(p); !errors.Is(err, ErrInvalidProblem) || !strings.Contains(err.Error(), "0 source rows") {
		t.Errorf("no number of rows: error %v", err)
	}
}

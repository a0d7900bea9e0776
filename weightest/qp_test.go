package weightest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"iwda/internal/golden"
	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

func goldenProblem(t testing.TB, file golden.File, group string) Problem {
	t.Helper()
	confusion := file.Get(t, group+"/confusion")
	k := confusion.Shape[0]
	return Problem{
		Confusion:          mat.NewDense(k, k, confusion.Data),
		TargetPredictions:  file.Get(t, group+"/target_predictions").Data,
		SourceDistribution: file.Get(t, group+"/source_label_distribution").Data,
	}
}

func TestSolveQPGolden(t *testing.T) {
	file := golden.Open(t, "qp")
	for _, group := range file.Groups() {
		t.Run(group, func(t *testing.T) {
			p := goldenProblem(t, file, group)
			got := must.Have(QP{}.Estimate(p))(t)
			checkOptimal(t, p, got.Weights)
			value := objective(p, got.Weights)
			if diff := math.Abs(value - file.Get(t, group+"/objective").Scalar()); !(diff <= 1e-12) {
				t.Errorf("objective %v differs by %v", value, diff)
			}
			if file.Get(t, group+"/unique").Scalar() == 1 {
				if d := weighttest.LargestDifference(got.Weights, file.Get(t, group+"/weights").Data); !(d <= 1e-7) {
					t.Errorf("weights differ by %v", d)
				}
			}
		})
	}
}

// objective returns ½‖mu - C w‖².
func objective(p Problem, w []float64) float64 {
	var residual mat.VecDense
	residual.MulVec(p.Confusion, mat.NewVecDense(len(w), w))
	residual.SubVec(&residual, mat.NewVecDense(len(w), p.TargetPredictions))
	return mat.Dot(&residual, &residual) / 2
}

// Solutions that follow from the conditions by hand.
func TestSolveQPByHand(t *testing.T) {
	c := func(values ...float64) *mat.Dense {
		k := int(math.Sqrt(float64(len(values))))
		return mat.NewDense(k, k, values)
	}
	for name, test := range map[string]struct {
		p         Problem
		weights   []float64
		objective float64
	}{
		"one class": {
			problemOf(c(0.5), []float64{0.75}, []float64{0.5}),
			[]float64{2}, 0.5 * 0.25 * 0.25,
		},
		// The only predictions of the target, class 0, are explained by class 1.
		"column of the true class": {
			problemOf(c(0, 0.5, 0.5, 0), []float64{1, 0}, []float64{0.5, 0.5}),
			[]float64{0, 2}, 0,
		},
		"a class that does not occur": {
			problemOf(c(0.5, 0, 0, 0, 0, 0, 0, 0, 0.5), []float64{0.25, 0, 0.75}, []float64{0.5, 0, 0.5}),
			[]float64{0.5, 0, 1.5}, 0,
		},
	} {
		got, err := QP{}.Estimate(test.p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := weighttest.LargestDifference(got.Weights, test.weights); d > 1e-14 {
			t.Errorf("%s: weights %v, want %v", name, got.Weights, test.weights)
		}
		if value := objective(test.p, got.Weights); math.Abs(value-test.objective) > 1e-15 {
			t.Errorf("%s: objective %v, want %v", name, value, test.objective)
		}
	}
}

func TestSolveQPLeavesTheProblemAlone(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(8, 8)), 12, 0.5, 0.5)
	c, mu, d := mat.DenseCopyOf(p.Confusion), slices.Clone(p.TargetPredictions), slices.Clone(p.SourceDistribution)
	first := must.Have(QP{}.Estimate(p))(t)
	if !mat.Equal(c, p.Confusion) || !slices.Equal(mu, p.TargetPredictions) || !slices.Equal(d, p.SourceDistribution) {
		t.Error("QP changed the problem")
	}
	// A view has a stride that is not its number of columns.
	wide := mat.NewDense(14, 15, nil)
	view := wide.Slice(1, 13, 2, 14).(*mat.Dense)
	view.Copy(c)
	p.Confusion = view
	second := must.Have(QP{}.Estimate(p))(t)
	if !slices.Equal(first.Weights, second.Weights) {
		t.Error("a view of C gives other bits")
	}
}

// Numbers that Validate accepts, and whose ratios overflow.
func TestQPOfScalesTooFarApart(t *testing.T) {
	for _, p := range []Problem{
		problemOf(mat.NewDense(1, 1, []float64{1e-320}), []float64{1}, []float64{1}),
		problemOf(mat.NewDense(2, 2, []float64{1e-320, 0, 0, 1}), []float64{0.5, 0.5}, []float64{0.5, 0.5}),
	} {
		if got, err := (QP{}).Estimate(p); !errors.Is(err, ErrNoConvergence) || !strings.Contains(err.Error(), "too far apart") {
			t.Errorf("%v, error %v", got, err)
		}
	}
}

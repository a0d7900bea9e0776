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

	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

func TestEstimatorsByName(t *testing.T) {
	names := []string{"qp", "bbse-hard", "bbse-soft", "mlls"}
	for _, name := range names {
		if _, err := NewEstimator(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if e, err := Find(name); err != nil || e.Name != name || e.Rows != (name == "mlls") || e.About == "" {
			t.Errorf("%s: %+v, error %v", name, e, err)
		}
	}
	if !slices.Equal(EstimatorNames(), names) {
		t.Errorf("names %v, want %v", EstimatorNames(), names)
	}
	must.Refuse(NewEstimator("bbse"))(t, `"bbse"`, "qp, bbse-hard")
}

// Exact statistics determine the weights: QP and BBSE must return them.
func TestEstimatorsOnExactStatistics(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	p := randomProblem(r, 8, 0.6, 0)
	var lu mat.LU
	lu.Factorize(p.Confusion)
	var truth mat.VecDense
	must.Do(t, lu.SolveVecTo(&truth, false, mat.NewVecDense(8, p.TargetPredictions)))
	want := truth.RawVector().Data
	for _, estimator := range []Estimator{QP{}, BBSE{}} {
		got := must.Have(estimator.Estimate(p))(t)
		if d := weighttest.LargestDifference(got.Weights, want); !(d < 1e-10) {
			t.Errorf("%#v: weights differ from the true ones by %v", estimator, d)
		}
		if got.Warning != "" {
			t.Errorf("%#v: warning %q", estimator, got.Warning)
		}
	}
	transposed := p
	transposed.Confusion = mat.DenseCopyOf(p.Confusion.T())
	solution := must.Have(QP{}.Estimate(transposed))(t)
	if d := weighttest.LargestDifference(solution.Weights, want); d < 1e-3 {
		t.Errorf("the transposed C gives the same weights to %v", d)
	}
}

func TestInvalidProblems(t *testing.T) {
	nan := math.NaN()
	c := func(values ...float64) *mat.Dense { return mat.NewDense(2, 2, values) }
	good := []float64{0.5, 0.5}
	for name, test := range map[string]struct {
		p    Problem
		want error
		text string
	}{
		"no classes":      {problemOf(c(1, 0, 0, 1), nil, nil), ErrInvalidProblem, "no class"},
		"no matrix":       {problemOf(nil, good, good), ErrInvalidProblem, "no confusion matrix"},
		"not square":      {problemOf(mat.NewDense(2, 3, nil), good, good), ErrInvalidProblem, "2×3"},
		"other size":      {problemOf(mat.NewDense(3, 3, nil), good, good), ErrInvalidProblem, "3×3"},
		"short mu":        {problemOf(c(1, 0, 0, 1), good[:1], good), ErrInvalidProblem, "1 target predictions"},
		"NaN in C":        {problemOf(c(1, 0, nan, 1), good, good), ErrInvalidProblem, "row 1, column 0"},
		"negative C":      {problemOf(c(1, -1, 0, 1), good, good), ErrInvalidProblem, "row 0, column 1"},
		"infinite mu":     {problemOf(c(1, 0, 0, 1), []float64{0, math.Inf(1)}, good), ErrInvalidProblem, "class 1"},
		"negative source": {problemOf(c(1, 0, 0, 1), good, []float64{2, -1}), ErrInvalidProblem, "source distribution holds -1 for class 1"},
		"NaN source":      {problemOf(c(1, 0, 0, 1), good, []float64{nan, 1}), ErrInvalidProblem, "class 0"},
		"no source mass":  {problemOf(c(1, 0, 0, 1), good, []float64{0, 0}), ErrInfeasible, "zero in every class"},
	} {
		for _, estimator := range []string{"qp", "bbse-soft"} {
			e := must.Have(NewEstimator(estimator))(t)
			if _, err := e.Estimate(test.p); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%s, %s: error %v, want %v with %q", name, estimator, err, test.want, test.text)
			}
		}
	}
}

func TestOracle(t *testing.T) {
	got := must.Have(Oracle([]float64{0.5, 0.25, 0.25, 0}, []float64{0.25, 0.75, 0, 0}))(t)
	if want := []float64{0.5, 3, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("weights %v, want %v", got, want)
	}
	counts := must.Have(Oracle([]float64{20, 10, 10}, []float64{1, 3, 0}))(t)
	if want := []float64{0.5, 3, 0}; !slices.Equal(counts, want) {
		t.Errorf("weights of counts %v, want %v", counts, want)
	}
	for name, test := range map[string]struct {
		source, target []float64
		want           error
	}{
		"no source of class 1": {[]float64{1, 0}, []float64{0.5, 0.5}, ErrNoSource},
		"zero source":          {[]float64{0, 0}, []float64{0.5, 0.5}, ErrInfeasible},
		"zero target":          {[]float64{1, 0}, []float64{0, 0}, ErrInfeasible},
		"negative target":      {[]float64{1, 1}, []float64{2, -1}, ErrInvalidProblem},
		"NaN source":           {[]float64{1, math.NaN()}, []float64{1, 0}, ErrInvalidProblem},
	} {
		if _, err := Oracle(test.source, test.target); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
}

func TestMeasures(t *testing.T) {
	if d := Distance([]float64{1, 5, 2}, []float64{4, 1, 2}); d != 5 {
		t.Errorf("distance %v, want 5", d)
	}
	source := []float64{0.2, 0.3, 0.5}
	for _, test := range []struct {
		w    []float64
		want float64
	}{
		{[]float64{1, 1, 1}, 1},
		{[]float64{5, 0, 0}, 0.2},
		{[]float64{0, 0, 2}, 0.5},
		{[]float64{0, 0, 0}, 0},
		{[]float64{2, 1, 0.6}, 1 / (0.2*4 + 0.3 + 0.5*0.36)},
	} {
		if got := EffectiveSampleSize(test.w, source); math.Abs(got-test.want) > 1e-15 {
			t.Errorf("effective sample size of %v is %v, want %v", test.w, got, test.want)
		}
		counts := slices.Clone(source)
		floats.Scale(1000, counts)
		if got := EffectiveSampleSize(test.w, counts); math.Abs(got-test.want) > 1e-14 {
			t.Errorf("effective sample size of %v with counts is %v, want %v", test.w, got, test.want)
		}
	}
}

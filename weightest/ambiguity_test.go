package weightest

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/convert"
	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

func ambiguity(t *testing.T, name string, p Problem) []float64 {
	t.Helper()
	estimator := must.Have(NewEstimator(name))(t)
	return must.Have(Ambiguity(estimator, p))(t)
}

// altered returns the sample of k classes with the alteration of that name.
func altered(t *testing.T, name string, k, n, m int) *Sample {
	t.Helper()
	for _, alteration := range rowAlterations {
		if alteration.name == name {
			return alteredSample(t, rand.New(rand.NewPCG(40, uint64(k))), k, n, m, alteration.apply)
		}
	}
	t.Fatalf("no alteration is named %s", name)
	return nil
}

// Problems with one solution have no ambiguity, whatever the rows are, and a rare class is
// not taken for one that is left open.
func TestNoAmbiguity(t *testing.T) {
	r := rand.New(rand.NewPCG(40, 1))
	rare := randomSample(t, r, 3, 30000, 2000)
	var source []float64
	var kept []int
	rows, labels := rare.Source()
	for i, label := range labels {
		if label == 2 && i > 60 {
			continue
		}
		source, kept = append(source, rows[i*3:i*3+3]...), append(kept, label)
	}
	keep := sampleOf(t)(3, source, kept, rare.Target())
	for name, s := range map[string]*Sample{"plain": altered(t, "plain", 5, 2000, 2000), "one class": altered(t, "plain", 1, 5, 5), "rare": keep} {
		for _, estimator := range EstimatorNames() {
			if bounds := ambiguity(t, estimator, problem(t, s)); bounds != nil {
				t.Errorf("%s, %s: ambiguity %v", name, estimator, bounds)
			}
		}
	}
}

func TestAmbiguity(t *testing.T) {
	// MLLS reads a row's probabilities alone: twins are told from all others, not from
	// each other.
	twins := problem(t, altered(t, "twins", 5, 400, 300))
	for j, bound := range ambiguity(t, "mlls", twins) {
		if j < 2 != (bound > 0.9) || j >= 2 && bound > 1e-6 {
			t.Errorf("twins: class %d has ambiguity %v", j, bound)
		}
	}
	constant := problem(t, altered(t, "constant", 4, 400, 300))
	never := problem(t, altered(t, "never predicted", 4, 400, 300))
	for _, name := range []string{"qp", "bbse-hard", "bbse-soft"} {
		for of, p := range map[string]Problem{"constant": constant, "never predicted": never, "twins": twins} {
			bounds := ambiguity(t, name, p)
			if len(bounds) != p.Classes() {
				t.Errorf("%s, %s: no ambiguity", of, name)
				continue
			}
			if of == "constant" && floats.Min(bounds) < 0.99 {
				t.Errorf("%s, %s: ambiguity %v", of, name, bounds)
			}
		}
	}
	// Rows of float32 sum to 1 up to 1e-7 only.
	exact := altered(t, "never predicted", 4, 400, 300)
	rows, labels := exact.Source()
	narrow := sampleOf(t)(4, rounded(rows), labels, rounded(exact.Target()))
	for _, name := range []string{"qp", "bbse-soft", "mlls"} {
		want, got := ambiguity(t, name, problem(t, exact)), ambiguity(t, name, problem(t, narrow))
		if !floats.EqualApprox(got, want, 1e-5) {
			t.Errorf("%s: ambiguity %v for float32 rows, %v for float64", name, got, want)
		}
	}
	// Nothing is known of any prediction.
	nothing := Problem{Confusion: mat.NewDense(2, 2, nil), TargetPredictions: []float64{0, 0}, SourceDistribution: []float64{0.5, 0.5}}
	if bounds := ambiguity(t, "bbse-soft", nothing); len(bounds) != 2 || floats.Min(bounds) < 0.99 {
		t.Errorf("a confusion matrix of zeros: ambiguity %v", bounds)
	}
}

// rounded returns the values as float32 has them.
func rounded(values []float64) []float64 {
	return convert.Slice[float64](convert.Slice[float32](values))
}

// Two distributions under which C predicts the same are no further apart than the bound.
func TestAmbiguityBoundsSolutions(t *testing.T) {
	r := rand.New(rand.NewPCG(40, 2))
	for range 50 {
		k := 2 + r.IntN(6)
		p := problem(t, altered(t, "never predicted", k, 60*k, 50))
		bounds := ambiguity(t, "bbse-soft", p)
		rates := must.Have(ratesOf(p))(t)
		kernel := must.Have(kernelOf(rates))(t)
		_, size := kernel.Dims()
		d := mat.NewVecDense(k, nil)
		for i := range size {
			d.AddScaledVec(d, r.NormFloat64(), kernel.ColView(i))
		}
		// The ends of q + t d within the simplex, for a q of it.
		q := weighttest.Distribution(r, k)
		from, to := math.Inf(-1), math.Inf(1)
		for j := range k {
			if step := -q[j] / d.AtVec(j); d.AtVec(j) > 0 {
				from = math.Max(from, step)
			} else {
				to = math.Min(to, step)
			}
		}
		var difference mat.VecDense
		difference.MulVec(rates, d)
		if mat.Norm(&difference, 2) > 1e-9*mat.Norm(d, 2) {
			t.Fatalf("the predictions differ by %v", mat.Norm(&difference, 2))
		}
		for j := range k {
			if apart := math.Abs(d.AtVec(j)) * (to - from); !(apart <= bounds[j]+1e-9) {
				t.Errorf("the shares of class %d are %v apart, the bound is %v", j, apart, bounds[j])
			}
		}
	}
}

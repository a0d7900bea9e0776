package weightest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

// randomProblem draws a source distribution, a confusion matrix of the given
// accuracy whose columns sum to it, and target predictions: those of random true
// weights, plus noise.
func randomProblem(r *rand.Rand, k int, accuracy, noise float64) Problem {
	source := weighttest.Distribution(r, k)
	target := weighttest.Distribution(r, k)
	confusion := mat.NewDense(k, k, nil)
	mu := make([]float64, k)
	for j := range k {
		errors := weighttest.Distribution(r, k)
		for i := range k {
			v := (1 - accuracy) * errors[i]
			if i == j {
				v += accuracy
			}
			confusion.Set(i, j, v*source[j])
			mu[i] += v * target[j]
		}
	}
	floats.AddScaled(mu, noise, weighttest.Distribution(r, k))
	floats.Scale(1/floats.Sum(mu), mu)
	return problemOf(confusion, mu, source)
}

// problemOf returns the problem of C, mu and D_S alone, as training has it.
func problemOf(confusion *mat.Dense, mu, source []float64) Problem {
	return Problem{Confusion: confusion, TargetPredictions: mu, SourceDistribution: source}
}

// An alteration makes a problem degenerate in one way.
type alteration struct {
	name  string
	apply func(*rand.Rand, Problem)
}

var alterations = []alteration{
	{"plain", func(*rand.Rand, Problem) {}},
	{"never predicted", func(r *rand.Rand, p Problem) {
		i := r.IntN(p.Classes())
		for j := range p.Classes() {
			p.Confusion.Set(i, j, 0)
		}
		p.TargetPredictions[i] = 0
	}},
	{"never predicted on the source", func(r *rand.Rand, p Problem) {
		i := r.IntN(p.Classes())
		for j := range p.Classes() {
			p.Confusion.Set(i, j, 0)
		}
	}},
	{"repeated columns", func(r *rand.Rand, p Problem) {
		k := p.Classes()
		column := mat.Col(nil, 0, p.Confusion)
		for range 1 + k/4 {
			j := r.IntN(k)
			p.Confusion.SetCol(j, column)
			p.SourceDistribution[j] = p.SourceDistribution[0]
		}
	}},
	{"repeated columns, other masses", func(r *rand.Rand, p Problem) {
		p.Confusion.SetCol(r.IntN(p.Classes()), mat.Col(nil, 0, p.Confusion))
	}},
	{"no source mass", func(r *rand.Rand, p Problem) {
		for j := 1; j < p.Classes(); j += 2 {
			p.SourceDistribution[j] = 0
			p.Confusion.SetCol(j, make([]float64, p.Classes()))
		}
	}},
	{"no source mass, yet a column", func(_ *rand.Rand, p Problem) {
		for j := 1; j < p.Classes(); j += 3 {
			p.SourceDistribution[j] = 0
		}
	}},
	{"source mass, yet no column", func(_ *rand.Rand, p Problem) {
		p.Confusion.SetCol(p.Classes()-1, make([]float64, p.Classes()))
	}},
	{"constant predictions", func(_ *rand.Rand, p Problem) {
		for j, d := range p.SourceDistribution {
			column := make([]float64, p.Classes())
			column[0] = d
			p.Confusion.SetCol(j, column)
		}
	}},
	{"uniform predictions", func(_ *rand.Rand, p Problem) {
		for j, d := range p.SourceDistribution {
			for i := range p.Classes() {
				p.Confusion.Set(i, j, d/float64(p.Classes()))
			}
		}
	}},
	{"rank two", func(r *rand.Rand, p Problem) {
		a, b := weighttest.Distribution(r, p.Classes()), weighttest.Distribution(r, p.Classes())
		for j, d := range p.SourceDistribution {
			share := r.Float64()
			for i := range p.Classes() {
				p.Confusion.Set(i, j, d*(share*a[i]+(1-share)*b[i]))
			}
		}
	}},
	{"zero matrix", func(_ *rand.Rand, p Problem) { p.Confusion.Zero() }},
	{"zero target", func(_ *rand.Rand, p Problem) { clear(p.TargetPredictions) }},
	{"tiny C", func(_ *rand.Rand, p Problem) { p.Confusion.Scale(1e-12, p.Confusion) }},
	{"huge C", func(_ *rand.Rand, p Problem) { p.Confusion.Scale(1e12, p.Confusion) }},
	{"tiny mu", func(_ *rand.Rand, p Problem) { floats.Scale(1e-12, p.TargetPredictions) }},
	{"huge mu", func(_ *rand.Rand, p Problem) { floats.Scale(1e12, p.TargetPredictions) }},
	{"tiny D_S", func(_ *rand.Rand, p Problem) { floats.Scale(1e-12, p.SourceDistribution) }},
	{"all tiny", func(_ *rand.Rand, p Problem) {
		p.Confusion.Scale(1e-12, p.Confusion)
		floats.Scale(1e-12, p.TargetPredictions)
	}},
	{"scales of columns from 1e-12 to 1e12", func(r *rand.Rand, p Problem) {
		for j := range p.Classes() {
			column := mat.Col(nil, j, p.Confusion)
			factor := math.Pow(10, 24*r.Float64()-12)
			floats.Scale(factor, column)
			p.Confusion.SetCol(j, column)
			p.SourceDistribution[j] *= factor
		}
	}},
	{"unrelated D_S", func(r *rand.Rand, p Problem) { copy(p.SourceDistribution, weighttest.Distribution(r, p.Classes())) }},
	{"unrelated mu", func(r *rand.Rand, p Problem) { copy(p.TargetPredictions, weighttest.Distribution(r, p.Classes())) }},
	{"nearly repeated columns", func(r *rand.Rand, p Problem) {
		for j := 1; j < p.Classes(); j += 2 {
			column := mat.Col(nil, j-1, p.Confusion)
			for i := range column {
				column[i] *= 1 + 1e-6*r.Float64()
			}
			p.Confusion.SetCol(j, column)
			p.SourceDistribution[j] = floats.Sum(column)
		}
	}},
}

// checkOptimal tests the optimality conditions of weights: w ≥ 0, w·D_S = 1, and one λ for
// which no class could lower the objective.
func checkOptimal(t *testing.T, p Problem, w []float64) {
	t.Helper()
	k := p.Classes()
	d, mu := p.SourceDistribution, p.TargetPredictions
	var total float64
	for j, v := range w {
		if !(v >= 0) || math.IsInf(v, 0) {
			t.Fatalf("weight %d is %v", j, v)
		}
		total += v * d[j]
	}
	if math.Abs(total-1) > 1e-12 {
		t.Errorf("w·D_S = %v", total)
	}
	explained := make([]float64, k)
	for i := range k {
		explained[i] = floats.Dot(p.Confusion.RawRowView(i), w)
	}
	smallest := math.Inf(1) // ‖C_j‖/D_S[j]
	for j := range k {
		if norm := floats.Norm(mat.Col(nil, j, p.Confusion), 2); norm > 0 {
			smallest = min(smallest, norm/d[j]) // +Inf without mass
		}
	}
	gradient, scales := make([]float64, k), make([]float64, k)
	for j := range k {
		column := mat.Col(nil, j, p.Confusion)
		norm := floats.Norm(column, 2)
		if norm == 0 && d[j] == 0 && w[j] != 0 {
			t.Errorf("class %d has no part in the problem and weight %v", j, w[j])
		}
		if norm == 0 && d[j] > 0 && !math.IsInf(smallest, 0) {
			norm = d[j] * smallest
		}
		for i, c := range column {
			gradient[j] += c * (explained[i] - mu[i])
		}
		scales[j] = norm * (floats.Norm(explained, 2) + floats.Norm(mu, 2))
	}
	lambda := multiplier(gradient, d, w, scales)
	for j, g := range gradient {
		z := g - lambda*d[j]
		size := max(scales[j], math.Abs(lambda)*d[j])
		if w[j] > 0 && z > 1e-11*size || z < -1e-11*size {
			t.Errorf("class %d of %d, weight %v: multiplier %v against terms of %v", j, k, w[j], z, size)
			return
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

func TestSolveQPIsOptimal(t *testing.T) {
	sizes := []struct{ k, problems int }{{2, 30}, {3, 30}, {5, 30}, {10, 25}, {31, 8}, {65, 4}, {200, 1}}
	for a, alteration := range alterations {
		t.Run(alteration.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(a)))
			for _, size := range sizes {
				for range size.problems {
					p := randomProblem(r, size.k, r.Float64(), r.Float64())
					alteration.apply(r, p)
					got, err := QP{}.Estimate(p)
					if err != nil {
						t.Fatalf("%d classes: %v", size.k, err)
					}
					checkOptimal(t, p, got.Weights)
				}
			}
		})
	}
}

func TestSolveQPIsOptimalForManyClasses(t *testing.T) {
	for _, name := range []string{"plain", "never predicted on the source", "repeated columns", "unrelated mu", "tiny C"} {
		a := slices.IndexFunc(alterations, func(a alteration) bool { return a.name == name })
		r := rand.New(rand.NewPCG(8, uint64(a)))
		p := randomProblem(r, 1000, 0.4, 0.5)
		alterations[a].apply(r, p)
		got, err := QP{}.Estimate(p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkOptimal(t, p, got.Weights)
	}
}

// Units must not matter: w for C·c, mu·c and D_S is the w for c = 1, and D_S·c gives
// w/c where mu·1/c keeps C w beside mu.
func TestSolveQPInOtherUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 200 {
		p := randomProblem(r, 2+r.IntN(20), 0.2+0.8*r.Float64(), r.Float64())
		want := must.Have(QP{}.Estimate(p))(t)
		for _, unit := range []float64{1e-12, 1e-3, 1e12} {
			scaled := problemOf(mat.NewDense(p.Classes(), p.Classes(), nil), make([]float64, p.Classes()), p.SourceDistribution)
			scaled.Confusion.Scale(unit, p.Confusion)
			floats.ScaleTo(scaled.TargetPredictions, unit, p.TargetPredictions)
			got := must.Have(QP{}.Estimate(scaled))(t)
			if d := weighttest.LargestDifference(got.Weights, want.Weights); d > 1e-9 {
				t.Errorf("C and mu times %v: weights differ by %v", unit, d)
			}
			mass := slices.Clone(p.SourceDistribution)
			floats.Scale(unit, mass)
			floats.ScaleTo(scaled.TargetPredictions, 1/unit, p.TargetPredictions)
			got = must.Have(QP{}.Estimate(problemOf(p.Confusion, scaled.TargetPredictions, mass)))(t)
			floats.Scale(unit, got.Weights)
			if d := weighttest.LargestDifference(got.Weights, want.Weights); d > 1e-9 {
				t.Errorf("D_S times %v: weights differ by %v", unit, d)
			}
		}
	}
}

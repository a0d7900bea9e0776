package weightest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

// rowAlterations make the rows of a sample degenerate in one way.
var rowAlterations = []struct {
	name  string
	apply func(r *rand.Rand, rows []float64, k int)
}{
	{"plain", func(*rand.Rand, []float64, int) {}},
	{"one-hot", func(_ *rand.Rand, rows []float64, k int) {
		for first := 0; first < len(rows); first += k {
			largest := floats.MaxIdx(rows[first : first+k])
			clear(rows[first : first+k])
			rows[first+largest] = 1
		}
	}},
	{"some zeros", func(r *rand.Rand, rows []float64, k int) {
		for i := range rows {
			if r.IntN(2) == 0 && i%k > 0 {
				rows[i-i%k] += rows[i]
				rows[i] = 0
			}
		}
	}},
	{"twins", func(_ *rand.Rand, rows []float64, k int) {
		for first := 0; first+1 < len(rows) && k > 1; first += k {
			mean := (rows[first] + rows[first+1]) / 2
			rows[first], rows[first+1] = mean, mean
		}
	}},
	{"never predicted", func(_ *rand.Rand, rows []float64, k int) {
		for first := 0; first < len(rows) && k > 1; first += k {
			rows[first] += rows[first+k-1]
			rows[first+k-1] = 0
		}
	}},
	{"constant", func(_ *rand.Rand, rows []float64, k int) {
		for i := range rows {
			rows[i] = 1 / float64(k)
		}
	}},
	{"sharp", func(_ *rand.Rand, rows []float64, k int) {
		for first := 0; first < len(rows); first += k {
			row := rows[first : first+k]
			for j := range row {
				row[j] = math.Pow(row[j], 60)
			}
			floats.Scale(1/floats.Sum(row), row)
		}
	}},
}

// alteredSample draws a sample and alters the rows of both domains.
func alteredSample(t testing.TB, r *rand.Rand, k, n, m int, apply func(*rand.Rand, []float64, int)) *Sample {
	t.Helper()
	plain := randomSample(t, r, k, n, m)
	apply(r, plain.source, k)
	apply(r, plain.target, k)
	return sampleOf(t)(k, plain.source, plain.labels, plain.target)
}

// The optimality conditions, written out here once more.
func TestMLLSIsOptimal(t *testing.T) {
	for a, alteration := range rowAlterations {
		t.Run(alteration.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(13, uint64(a)))
			for _, size := range []struct{ k, n, m int }{{1, 5, 7}, {2, 30, 50}, {3, 50, 1}, {5, 50, 50}, {10, 500, 700}, {31, 62, 40}} {
				s := alteredSample(t, r, size.k, size.n, size.m, alteration.apply)
				counts := make([]int, size.m)
				for i := range counts {
					counts[i] = r.IntN(3)
				}
				counts[0] = 1
				p := must.Have(countedProblem(s, nil, counts))(t)
				checkMLLSOptimal(t, s.Target(), counts, p)
			}
		})
	}
}

func checkMLLSOptimal(t *testing.T, rows []float64, counts []int, p Problem) {
	t.Helper()
	s, m, err := MLLS{}.solve(p)
	if err != nil {
		t.Fatalf("%d classes, %d and %d rows: %v", p.Classes(), p.SourceRows, p.TargetRows, err)
	}
	got := m.estimate(s)
	if total := floats.Sum(got.TargetDistribution); math.Abs(total-1) > 1e-12 {
		t.Errorf("q sums to %v", total)
	}
	_, factors := weighttest.Likelihood(rows, counts, got.Weights, m.prior)
	for j, factor := range factors {
		q := got.TargetDistribution[j]
		if q < 0 || math.Abs(q-got.Weights[j]*m.prior[j]) > 1e-15 {
			t.Errorf("class %d has share %v and weight %v", j, q, got.Weights[j])
		}
		if !(factor <= 1+1e-9) || q > 0 && !(factor >= 1-1e-9) {
			t.Errorf("class %d with share %v has the factor %v", j, q, factor)
		}
	}
	if !(s.violation < 1e-9) {
		t.Errorf("reported violation %v", s.violation)
	}
}

// With a row of each class, those of more classes than systems are solved of by matrices are optimal too.
func TestMLLSOfManyClasses(t *testing.T) {
	const k, m = MostDense + 20, 700
	for a, alteration := range rowAlterations {
		s := alteredSample(t, rand.New(rand.NewPCG(13, uint64(a))), k, 2*k, m, alteration.apply)
		p := problem(t, s)
		at, _, err := MLLS{Pseudocount: Laplace}.solve(p)
		if err != nil || !(at.violation < 1e-9) || !(math.Abs(floats.Sum(at.q)-1) < 1e-12) {
			t.Errorf("%s: violation %v, sum %v: %v", alteration.name, at.violation, floats.Sum(at.q), err)
		}
	}
}

// Rows that are fewer than classes can be explained in several ways, all of which are as likely; one is found, as
// resamples without a row of each class need it.
func TestMLLSOfFewRows(t *testing.T) {
	const k, m, draws = 150, 60, 20
	drawn := gaussians.Rising(k)
	random := rand.New(rand.NewPCG(51, 52))
	for draw := range draws {
		source, target := drawn.DrawSource(10*k, random), drawn.DrawTarget(m, random)
		p := problem(t, sampleOf(t)(k, source.Probabilities, source.Labels, target.Probabilities))
		if _, err := (MLLS{}).Estimate(p); err != nil {
			t.Errorf("draw %d: %v", draw, err)
		}
	}
}

// With pseudocounts q is where a step of EM leads that counts them as rows: of each class with
// a prior, and of no other.
func TestMLLSWithPseudocounts(t *testing.T) {
	const k, m, count = 5, 60, 2
	r := rand.New(rand.NewPCG(61, 1))
	rows := make([]float64, 0, m*k)
	for range m {
		row := []float64{r.Float64(), r.Float64(), 0, r.Float64() / 10, 0} // no row is of class 2
		floats.Scale(1/floats.Sum(row), row)
		rows = append(rows, row...)
	}
	prior := []float64{0.4, 0.3, 0.2, 0.1, 0}
	var source []float64
	var labels []int
	for y, share := range prior {
		for range int(10 * share) {
			row := make([]float64, k)
			row[y] = 1
			source, labels = append(source, row...), append(labels, y)
		}
	}
	p := problem(t, sampleOf(t)(k, source, labels, rows))
	estimate := must.Have(MLLS{Prior: prior, Pseudocount: count}.Estimate(p))(t)
	q, next := estimate.TargetDistribution, make([]float64, k)
	for first := 0; first < len(rows); first += k {
		posterior, sum := make([]float64, k), 0.0
		for y := range 4 {
			posterior[y] = rows[first+y] * q[y] / prior[y]
			sum += posterior[y]
		}
		floats.AddScaled(next, 1/sum/(m+4*count), posterior)
	}
	for y := range 4 {
		next[y] += count / float64(m+4*count)
	}
	if d := weighttest.LargestDifference(q, next); d > 1e-10 {
		t.Errorf("q %v, a step of EM leads to %v", q, next)
	}
	weighttest.CloseTo(t, "a class of no row", q[2], count/float64(m+4*count), 1e-10)
	if q[4] != 0 {
		t.Errorf("a class without prior has the share %v", q[4])
	}
	// The rows themselves and the problem stay as they were.
	if len(p.Rows.Probabilities) != m*k || p.Rows.Counts != nil {
		t.Errorf("%d rows, counts %v", len(p.Rows.Probabilities)/k, p.Rows.Counts)
	}
}

// The order of the rows must not matter, and a row that counts twice is two rows.
func TestMLLSOfPermutedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	const k, n, m = 6, 400, 300
	s := randomSample(t, r, k, n, m)
	want := must.Have(MLLS{}.Estimate(problem(t, s)))(t)
	var source, target []float64
	var labels []int
	for _, i := range r.Perm(n) {
		source, labels = append(source, s.source[i*k:(i+1)*k]...), append(labels, s.labels[i])
	}
	for _, i := range r.Perm(m) {
		target = append(target, s.target[i*k:(i+1)*k]...)
	}
	p := must.Have(countedProblem(sampleOf(t)(k, source, labels, target), nil, slices.Repeat([]int{2}, m)))(t)
	got := must.Have(MLLS{}.Estimate(p))(t)
	if d := weighttest.LargestDifference(got.Weights, want.Weights); !(d < 1e-10) {
		t.Errorf("weights differ by %v", d)
	}
}

func TestMLLSErrors(t *testing.T) {
	p := problem(t, sampleOf(t)(2, []float64{1, 0, 1, 0}, []int{0, 1}, []float64{0.5, 0.5}))
	if _, err := (MLLS{}).Estimate(p); !errors.Is(err, ErrMissingClass) || !strings.Contains(err.Error(), "class 1") {
		t.Errorf("a prior of 0: error %v", err)
	}
	if _, err := (MLLS{Prior: []float64{-1, 2}}).Estimate(p); !errors.Is(err, ErrInvalidProblem) {
		t.Errorf("a negative prior: error %v", err)
	}
	p.Rows = nil
	if _, err := (MLLS{}).Estimate(p); !errors.Is(err, ErrInvalidProblem) || !strings.Contains(err.Error(), "rows") {
		t.Errorf("sums alone: error %v", err)
	}
}

// A problem that somebody filled by hand: rows that do not fit each other, or are none, are an
// error that says which.
func TestMLLSOfWrongRows(t *testing.T) {
	nan := math.NaN()
	for want, rows := range map[string]Rows{
		"3 probabilities, 0 counts and 0 pseudocounts":        {Probabilities: []float64{1, 0, 1}},
		"2 probabilities, 2 counts":                           {Probabilities: []float64{0.3, 0.7}, Counts: []int{1, 2}},
		"0 counts and 1 pseudocounts of rows of 2 classes":    {Probabilities: []float64{0.3, 0.7}, Pseudocounts: []float64{1}},
		"target row 1 gives class 0 the probability NaN":      {Probabilities: []float64{0.3, 0.7, nan, 1}},
		"target row 1 has probability 0 in every class":       {Probabilities: []float64{0.3, 0.7, 0, 0}},
		"no target row counts":                                {Probabilities: []float64{0.3, 0.7, 0.6, 0.4}, Counts: []int{0, -1}},
		"weightest: invalid problem: MLLS reads the target's": {},
	} {
		p := problem(t, sampleOf(t)(2, []float64{0.8, 0.2, 0.3, 0.7}, []int{0, 1}, []float64{0.3, 0.7}))
		p.Rows = &rows
		if _, err := (MLLS{}).Estimate(p); !errors.Is(err, ErrInvalidProblem) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	p := problem(t, sampleOf(t)(2, []float64{0.8, 0.2, 0.3, 0.7}, []int{0, 1}, []float64{0.3, 0.7}))
	must.Refuse((MLLS{Pseudocount: -1}).Estimate(p))(t, "pseudocount")
}

// Where pseudocounts are given, rows that nothing counts count once.
func TestMLLSPseudocounts(t *testing.T) {
	shares, random := gaussians.Rising(3), rand.New(rand.NewPCG(5, 1))
	source, labels := shares.SourceRows(200, random)
	p := problem(t, sampleOf(t)(3, source, labels, shares.TargetRows(300, random)))
	estimate := func(counts []int, pseudocounts []float64) []float64 {
		p.Rows = &Rows{Probabilities: p.Rows.Probabilities, Counts: counts, Pseudocounts: pseudocounts}
		return must.Have(MLLS{Pseudocount: Laplace}.Estimate(p))(t).TargetDistribution
	}
	given := []float64{0, 2.5, 0}
	if a, b := estimate(slices.Repeat([]int{1}, 300), given), estimate(nil, given); !floats.Equal(a, b) || floats.Equal(b, estimate(nil, nil)) {
		t.Errorf("%v and %v", a, b)
	}
}

// Weights are where no other mixture makes the rows more likely, whatever is moved to one part: what each part is
// likelier by, on average, is at most 1, and 1 for those with a weight. Parts that are the same share their weight, nearly.
func TestMostLikely(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		const rows, parts = 60, 5
		likelihoods := make([]float64, 0, rows*parts)
		for range rows {
			row := make([]float64, parts)
			for j := range parts - 1 {
				row[j] = max(1e-30, math.Pow(random.Float64(), float64(1+40*j)))
			}
			row[parts-1] = row[0]
			likelihoods = append(likelihoods, row...)
		}
		weights, err := MostLikely(parts, likelihoods)
		if err != nil || math.Abs(floats.Sum(weights)-1) > 1e-9 || math.Abs(weights[0]-weights[parts-1]) > 1e-4 {
			t.Fatalf("weights %v; %v", weights, err)
		}
		for j, weight := range weights {
			gain := 0.0
			for row := range slices.Chunk(likelihoods, parts) {
				gain += row[j] / floats.Dot(weights, row) / rows
			}
			if gain > 1+1e-9 || weight > 0 && math.Abs(gain-1) > 1e-9 {
				t.Errorf("weights %v: part %d has the gain %v", weights, j, gain)
			}
		}
	}
}

package classshares

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/convert"
	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/intervals"
)

// rowsOf are those of probabilities.
func rowsOf(wide []float64) Rows {
	return Rows{Values: convert.Slice[float32](wide), Probabilities: true}
}

// Of a classifier that is too sure by half and biased, with few held-out rows and many of the
// target, the calibration is what is known least. Intervals that take it as given hold half to
// three quarters of the shares by maximum likelihood; those of counts do not depend on it.
func TestIntervalsKnowOfTheCalibration(t *testing.T) {
	const samples, n, m = 40, 200, 2000
	problem := gaussians.Rising(2)
	problem.Sureness, problem.Biases = 1.5, []float64{0.4, -0.4}
	var refitted, given, counted int
	for seed := range uint64(samples) {
		random := rand.New(rand.NewPCG(seed, 9))
		source, labels := problem.SourceRows(n, random)
		s := fit(t, 2, rowsOf(source), labels, rowsOf(problem.TargetRows(m, random)), Settings{})
		how := intervals.BootstrapSettings{Replicas: 100, Seed: seed}
		for held, bound := range map[*int]func() (intervals.Uncertainty, error){
			&refitted: func() (intervals.Uncertainty, error) { return s.Bootstrap(how) },
			&given:    func() (intervals.Uncertainty, error) { return intervals.Bootstrap(s.Sample, s.estimator, how) },
			&counted:  func() (intervals.Uncertainty, error) { return intervals.Bootstrap(s.Sample, weightest.BBSE{}, how) },
		} {
			u := must.Have(bound())(t)
			if e := u.Shares.Each[0]; e.Low <= problem.Target[0] && problem.Target[0] <= e.High {
				*held++
			}
		}
	}
	// Of 40 samples 38 are meant.
	if refitted < 34 || counted < 34 || given > refitted-5 {
		t.Errorf("of %d samples %d hold with the calibration fitted again, %d with it as given; %d by bbse-soft", samples, refitted, given, counted)
	}
}

// A resample is the problem of its rows, also where the classifier was trained on other shares:
// the scale that its rows give counts for the move between shares as well.
func TestResampleOfOtherTrainingShares(t *testing.T) {
	const n = 600
	problem := gaussians.Rising(3)
	random := rand.New(rand.NewPCG(4, 4))
	wide, labels := problem.SourceRows(n, random)
	heldOut, target := rowsOf(wide), rowsOf(problem.TargetRows(n, random))
	// Of each class the rows of which the classifier is sure, or wrong, count double.
	counts, once, rows := make([]int, n), make([]int, n), make([][]int, 3)
	for i, label := range labels {
		rows[label], once[i] = append(rows[label], i), 1
	}
	var again Rows
	again.Probabilities = true
	var theirs []int
	for label, some := range rows {
		slices.SortFunc(some, func(a, b int) int { return cmp.Compare(wide[3*b+label], wide[3*a+label]) })
		for _, i := range slices.Concat(some[:len(some)/4], some[len(some)-len(some)/4:]) {
			counts[i] = 2
			for range counts[i] {
				again.Values, theirs = append(again.Values, heldOut.Values[3*i:3*i+3]...), append(theirs, label)
			}
		}
	}
	for _, form := range []string{"ts", "nbvs"} {
		how := Settings{Calibration: form, Trained: []float64{0.6, 0.3, 0.1}}
		s := fit(t, 3, heldOut, labels, target, how)
		r := must.Have(s.resampler())(t)
		got := must.Have(r.problem(counts, once, random))(t)
		want := fit(t, 3, again, theirs, target, how)
		if want.Form != form {
			t.Fatalf("fitted %s in the place of %s", want.Form, form)
		}
		if !floats.EqualApprox(got.TargetPredictions, want.Problem.TargetPredictions, 0.005) {
			t.Errorf("%s: predictions %.4f, want %.4f; of the sample they are %.4f", form, got.TargetPredictions, want.Problem.TargetPredictions, s.Problem.TargetPredictions)
		}
	}
}

// A forest of six trees says exactly 0 of a class that none of them votes for: not that it is impossible.
// Intervals of shares hold all the same, and so do those of a target without a class, and of rare ones.
func TestZerosAndRareClasses(t *testing.T) {
	const draws, trees = 40, 6
	votes := func(probabilities []float64, k int, random *rand.Rand) []float64 {
		counted := make([]float64, len(probabilities))
		for i, row := range slices.Collect(slices.Chunk(probabilities, k)) {
			for range trees {
				u, class := random.Float64(), 0
				for class < k-1 && u > row[class] {
					u -= row[class]
					class++
				}
				counted[i*k+class] += 1. / trees
			}
		}
		return counted
	}
	for name, c := range map[string]struct {
		shares     []float64
		voted      bool
		separation float64
	}{"votes": {[]float64{0.2, 0.3, 0.5}, true, 1}, "absent": {[]float64{0.4, 0.6, 0}, false, 0.7}, "rare": {[]float64{0.5, 0.49, 0.01}, false, 0.7}} {
		p := gaussians.Rising(3)
		p.Target = c.shares
		floats.Scale(c.separation, p.Separation)
		random, held := rand.New(rand.NewPCG(51, 52)), make([]int, 3)
		for seed := range uint64(draws) {
			source, target := p.DrawSource(300, random), p.DrawTarget(800, random)
			if c.voted {
				source.Probabilities, target.Probabilities = votes(source.Probabilities, 3, random), votes(target.Probabilities, 3, random)
			}
			s := fit(t, 3, rowsOf(source.Probabilities), source.Labels, rowsOf(target.Probabilities), Settings{})
			u := must.Have(s.Bootstrap(intervals.BootstrapSettings{Seed: seed, Replicas: 60}))(t)
			for y, e := range u.Shares.Each {
				if e.Low <= c.shares[y] && c.shares[y] <= e.High {
					held[y]++
				}
			}
		}
		for y, times := range held {
			if times < draws*85/100 {
				t.Errorf("%s: %d of %d intervals of class %d hold", name, times, draws, y)
			}
		}
	}
}

// Thirty target rows of fifty classes say something of each, if the classifier can tell them apart, as the
// source's rows show.
func TestManyClassesFewRows(t *testing.T) {
	const k = 50
	p := gaussians.Rising(k)
	floats.Scale(1.5, p.Separation)
	random := rand.New(rand.NewPCG(53, 54))
	var labels []int
	var source []float64
	for len(slices.Compact(slices.Sorted(slices.Values(labels)))) < k {
		source, labels = p.SourceRows(10*k, random)
	}
	s := fit(t, k, rowsOf(source), labels, rowsOf(p.TargetRows(30, random)), Settings{})
	u, err := s.Bootstrap(intervals.BootstrapSettings{Replicas: 100})
	if err != nil || u.Warning != "" {
		t.Fatal(u.Warning, err)
	}
	held := 0
	for y, e := range u.Shares.Each {
		if e.High-e.Low > 0.5 {
			t.Errorf("class %d: %v", y, e)
		}
		if e.Low <= p.Target[y] && p.Target[y] <= e.High {
			held++
		}
	}
	if held < 44 {
		t.Errorf("%d of %d intervals hold", held, k)
	}
}

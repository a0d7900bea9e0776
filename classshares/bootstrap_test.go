package classshares

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/gaussians"
	"iwda/weightest"
	"iwda/weightest/intervals"
)

// rowsOf are those of probabilities.
func rowsOf(wide []float64) Rows {
	narrow := make([]float32, len(wide))
	for i, v := range wide {
		narrow[i] = float32(v)
	}
	return Rows{Values: narrow, Probabilities: true}
}

// Of a classifier that is too sure by half and biased, with few held-out rows and many of the
// target, the calibration is what is known least. Intervals that take it as given hold half to
// three quarters of the shares by maximum likelihood; those of counts do not depend on it.
func TestIntervalsKnowOfTheCalibration(t *testing.T) {
	const samples, n, m = 60, 200, 3000
	problem := gaussians.Rising(2)
	problem.Sureness, problem.Biases = 1.5, []float64{0.4, -0.4}
	var refitted, given, counted int
	for seed := range uint64(samples) {
		random := rand.New(rand.NewPCG(seed, 9))
		source, labels := problem.SourceRows(n, random)
		s, err := Fit(2, rowsOf(source), labels, rowsOf(problem.TargetRows(m, random)), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		how := intervals.BootstrapSettings{Replicas: 100, Seed: seed}
		for held, bound := range map[*int]func() (intervals.Uncertainty, error){
			&refitted: func() (intervals.Uncertainty, error) { return s.Bootstrap(how) },
			&given:    func() (intervals.Uncertainty, error) { return intervals.Bootstrap(s.Sample, s.estimator, how) },
			&counted:  func() (intervals.Uncertainty, error) { return intervals.Bootstrap(s.Sample, weightest.BBSE{}, how) },
		} {
			u, err := bound()
			if err != nil {
				t.Fatal(err)
			}
			if e := u.Shares.Each[0]; e.Low <= problem.Target[0] && problem.Target[0] <= e.High {
				*held++
			}
		}
	}
	// Of 60 samples 57 are meant.
	if refitted < 51 || counted < 51 || given > refitted-5 {
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
		s, err := Fit(3, heldOut, labels, target, how)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.resampler()
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.problem(counts, once, random)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Fit(3, again, theirs, target, how)
		if err != nil {
			t.Fatal(err)
		}
		if want.Form != form {
			t.Fatalf("fitted %s in the place of %s", want.Form, form)
		}
		if !floats.EqualApprox(got.TargetPredictions, want.Problem.TargetPredictions, 0.005) {
			t.Errorf("%s: predictions %.4f, want %.4f; of the sample they are %.4f", form, got.TargetPredictions, want.Problem.TargetPredictions, s.Problem.TargetPredictions)
		}
	}
}

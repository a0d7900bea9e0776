package classshares

import (
	"math/rand/v2"
	"testing"

	"iwda/internal/gaussians"
	"iwda/weightest"
	"iwda/weightest/intervals"
)

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
		rows := func(wide []float64) Rows {
			narrow := make([]float32, len(wide))
			for i, v := range wide {
				narrow[i] = float32(v)
			}
			return Rows{Values: narrow, Probabilities: true}
		}
		s, err := Fit(2, rows(source), labels, rows(problem.TargetRows(m, random)), Settings{})
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

package paper

import "testing"

// Values as the papers' authors released them, and what has to hold of all.
func TestAlexandariResults(t *testing.T) {
	for key, want := range map[AlexandariKey]float64{
		{"dirichlet", 0.1, 2000, "mlls", "bcts", WeightMSE}:      0.000849139,
		{"dirichlet", 0.1, 2000, "bbse-hard", "none", WeightMSE}: 0.00490566,
		{"tweak-one", 0.9, 2000, "mlls", "ts", AccuracyGain}:     0.064,
		{"dirichlet", 10, 8000, "mlls", "bcts", AccuracyGain}:    0.001875,
		{"tweak-one", 0.01, 4000, "mlls", "none", AccuracyGain}:  0.0025,
	} {
		if got, ok := AlexandariResult(key); !ok || got.Median != want {
			t.Errorf("%+v: %v, %v, want the median %v", key, got, ok, want)
		}
	}
	if _, ok := AlexandariResult(AlexandariKey{"dirichlet", 0.1, 2000, "cc", "none", WeightMSE}); ok {
		t.Error("a number that nobody published")
	}
	if got := len(alexandari()); got != 2*6*3*17 {
		t.Errorf("%d entries, want two metrics, six shifts, three sizes, 17 methods", got)
	}
	for key, q := range alexandari() {
		if !(q.Low <= q.Median && q.Median <= q.High) || key.Metric == WeightMSE && !(q.Low > 0) {
			t.Errorf("%+v: %+v", key, q)
		}
	}
}

func TestLiptonResults(t *testing.T) {
	want := LiptonEntry{0.0339, 0.0306, 0.9668, 0.9652}
	if got, ok := LiptonResult(LiptonKey{0.1, 4000, "bbse-hard"}); !ok || got != want {
		t.Errorf("%+v, %v, want %+v", got, ok, want)
	}
	if got := len(lipton()); got != 3*7*3 {
		t.Errorf("%d entries, want three concentrations, seven sizes, three ways to weights", got)
	}
}

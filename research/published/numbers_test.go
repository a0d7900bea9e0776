package main

import "testing"

// Values as the papers' authors released them, and what has to hold of all.
func TestAlexandariResults(t *testing.T) {
	for key, want := range map[alexandariKey]float64{
		{condition{Shift{Kind: Dirichlet, Parameter: 0.1}, 2000}, method{"mlls", "bcts"}, weightMSE}:              0.000849139,
		{condition{Shift{Kind: Dirichlet, Parameter: 0.1}, 2000}, method{"bbse-hard", "none"}, weightMSE}:         0.00490566,
		{condition{Shift{Kind: TweakOne, Parameter: 0.9, Class: 3}, 2000}, method{"mlls", "ts"}, accuracyGain}:    0.064,
		{condition{Shift{Kind: Dirichlet, Parameter: 10}, 8000}, method{"mlls", "bcts"}, accuracyGain}:            0.001875,
		{condition{Shift{Kind: TweakOne, Parameter: 0.01, Class: 3}, 4000}, method{"mlls", "none"}, accuracyGain}: 0.0025,
	} {
		if got, ok := alexandariNumbers()[key]; !ok || got.median != want {
			t.Errorf("%+v: %v, %v, want the median %v", key, got, ok, want)
		}
	}
	if _, ok := alexandariNumbers()[alexandariKey{condition{Shift{Kind: Dirichlet, Parameter: 0.1}, 2000}, method{"cc", "none"}, weightMSE}]; ok {
		t.Error("a number that nobody published")
	}
	if got := len(alexandariNumbers()); got != 2*6*3*17 {
		t.Errorf("%d entries, want two metrics, six shifts, three sizes, 17 methods", got)
	}
	for key, q := range alexandariNumbers() {
		if !(q.low <= q.median && q.median <= q.high) || key.metric == weightMSE && !(q.low > 0) {
			t.Errorf("%+v: %+v", key, q)
		}
	}
}

func TestLiptonResults(t *testing.T) {
	want := liptonEntry{0.0339, 0.0306, 0.9668, 0.9652}
	if got, ok := liptonNumbers()[liptonKey{condition{Shift{Kind: Dirichlet, Parameter: 0.1}, 4000}, "bbse-hard"}]; !ok || got != want {
		t.Errorf("%+v, %v, want %+v", got, ok, want)
	}
	if got := len(liptonNumbers()); got != 3*7*3 {
		t.Errorf("%d entries, want three concentrations, seven sizes, three ways to weights", got)
	}
}

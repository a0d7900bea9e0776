package shifttest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/gaussians"
	"iwda/weightest/internal/sampletest"
)

// Turns that cost more than the detectable loss are found in most samples, and more rows find
// smaller ones.
func TestDetectable(t *testing.T) {
	const samples = 20
	turned := gaussians.Rising(4)
	turned.Rotation = 0.6 // costs 9 points
	last := math.Inf(1)
	for _, rows := range []int{200, 1000, 5000} {
		l, err := LabelShiftTest(sampletest.Gaussian(t, gaussians.Rising(4), rows, rows, 2), LabelShiftSettings{Detect: true})
		if err != nil || !(l.Detectable >= 0 && l.Detectable < last) {
			t.Fatalf("%d rows: %+v, %v", rows, l, err)
		}
		last = l.Detectable
		found := 0
		for seed := range uint64(samples) {
			l, err := LabelShiftTest(sampletest.Gaussian(t, turned, rows, rows, seed), LabelShiftSettings{Seed: seed, Resamples: 99})
			if err != nil {
				t.Fatal(err)
			}
			if l.Rejected() {
				found++
			}
		}
		if last < 0.09 && found < samples*6/10 {
			t.Errorf("%d rows: a loss of 0.09 was found in %d of %d samples, and %.3f is said to be found in 80%%", rows, found, samples, last)
		}
	}
	if last > 0.05 {
		t.Errorf("5,000 rows find no loss below %.3f", last)
	}
	l, err := LabelShiftTest(sampletest.Gaussian(t, gaussians.Rising(4), 300, 300, 1), LabelShiftSettings{})
	if err != nil || !math.IsNaN(l.Detectable) {
		t.Errorf("%+v, %v", l, err)
	}
	l, err = LabelShiftTest(sampletest.Gaussian(t, turned, 5000, 5000, 1), LabelShiftSettings{Detect: true})
	if err != nil || !l.Rejected() || !math.IsNaN(l.Detectable) {
		t.Errorf("of a shift that is found: %+v, %v", l, err)
	}
}

// The loss is much the same whatever the seed.
func TestDetectableHardlyDependsOnTheSeed(t *testing.T) {
	s := sampletest.Gaussian(t, gaussians.Rising(3), 1000, 1000, 1)
	var losses []float64
	for seed := range uint64(6) {
		l, err := LabelShiftTest(s, LabelShiftSettings{Seed: seed, Resamples: 50, Detect: true})
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, l.Detectable)
	}
	if floats.Max(losses)-floats.Min(losses) > 0.013 {
		t.Errorf("losses %.3f", losses)
	}
}

// A loss is named only where most samples find it, and few source rows a class find little.
func TestDetectableIsFound(t *testing.T) {
	const samples = 20
	for _, c := range []struct {
		classes, source, target int
		turn, costs             float64 // in radians and accuracy
	}{
		{3, 200, 1000, math.Pi / 9, 0.033},
		{10, 200, 1000, math.Pi / 6, 0.12},
		{10, 1000, 1000, math.Pi / 6, 0.12},
	} {
		turned := gaussians.Rising(c.classes)
		turned.Rotation = c.turn
		var found, named int
		for seed := range uint64(samples) {
			l, err := LabelShiftTest(sampletest.Gaussian(t, turned, c.source, c.target, seed), LabelShiftSettings{Seed: seed, Resamples: 99})
			if err != nil {
				t.Fatal(err)
			}
			if l.Rejected() {
				found++
			}
			l, err = LabelShiftTest(sampletest.Gaussian(t, gaussians.Rising(c.classes), c.source, c.target, seed), LabelShiftSettings{Seed: seed, Resamples: 50, Detect: true})
			if err != nil {
				t.Fatal(err)
			}
			if l.Detectable <= c.costs {
				named++
			}
		}
		if (found < samples*6/10) == (named > samples/4) {
			t.Errorf("%+v: found in %d of %d samples, and said to be found by %d", c, found, samples, named)
		}
	}
}

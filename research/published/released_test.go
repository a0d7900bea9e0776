package main

import (
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/weightest"
)

// A diagonal C of equal classes shrinks the ratios of predictions by c²/(c² + λ).
func TestReleased(t *testing.T) {
	p := weightest.Problem{Confusion: mat.NewDense(2, 2, []float64{0.5, 0, 0, 0.5}), TargetPredictions: []float64{0.2, 0.8}, SourceDistribution: []float64{0.5, 0.5}}
	w, err := released(p, 0.25)
	if err != nil || !floats.EqualApprox(w, []float64{0.2, 0.8}, 1e-12) {
		t.Errorf("%v, %v", w, err)
	}
}

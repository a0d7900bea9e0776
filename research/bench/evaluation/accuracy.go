package main

import (
	"fmt"
	"math/rand/v2"

	"iwda/adaptation/labels"
)

// measureAccuracy returns how often the interval of an accuracy holds the truth, and how wide it is.
func measureAccuracy(draws int) ([]string, error) {
	lines := []string{
		"| accuracy | confidences | n = 30 | n = 50 | n = 200 |",
		"| --- | --- | --- | --- | --- |",
	}
	for _, accuracy := range []float64{0.6, 0.8, 0.9, 0.95, 0.98} {
		for _, k := range []kind{calibrated, sure, useless} {
			line := fmt.Sprintf("| %.2f | %s |", accuracy, k)
			for _, n := range []int{30, 50, 200} {
				held, width := holds(accuracy, k, n, draws)
				line += fmt.Sprintf(" %s (%.1f) |", percent(held, draws), 100*width)
			}
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// holds returns how many intervals of a method of some accuracy hold the truth, and their mean width.
func holds(accuracy float64, k kind, n, draws int) (held int, width float64) {
	random := rand.New(rand.NewPCG(uint64(n), uint64(1000*accuracy)))
	var t target
	for seed := range draws {
		if seed%perTarget == 0 {
			t = drawTarget([]float64{accuracy}, 0, k, random)
		}
		given, matched := t.label(n, int64(seed))
		e := labels.Evaluate(given, matched).Predictions
		const rounding = 1e-12
		if truth := t.accuracy(t.methods[0]); e.Low <= truth+rounding && truth <= e.High+rounding {
			held++
		}
		width += (e.High - e.Low) / float64(draws)
	}
	return held, width
}

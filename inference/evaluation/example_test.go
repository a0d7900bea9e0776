package evaluation_test

import (
	"fmt"

	"iwda/inference/evaluation"
)

// Labels of 40 rows, drawn at random from 1000 that were predicted, say how many of the 1000 are
// right.
func ExampleAccuracy() {
	var all evaluation.Moments
	confidence := func(row int) float64 { return 0.5 + 0.05*float64(row%10) } // of a row's prediction
	for row := range 1000 {
		all.Add(confidence(row))
	}
	first := evaluation.Scores{All: all}
	for i := range 40 {
		row := 23 * i // drawn at random, in earnest
		right := 1.0
		if row%3 == 0 {
			right = 0
		}
		first.Right, first.Expected = append(first.Right, right), append(first.Expected, confidence(row))
	}
	accuracy, _ := evaluation.Accuracy(first, 1)
	fmt.Printf("%.2f (%.2f to %.2f)\n", accuracy.Value, accuracy.Low, accuracy.High)

	// Another classifier is sure of nothing, and wrong in five rows more.
	second := evaluation.Scores{Right: append(make([]float64, 5), first.Right[5:]...), Expected: make([]float64, 40), All: evaluation.Moments{Rows: 1000}}
	better := evaluation.Compare(first, second, 1)
	fmt.Printf("%.2f better (%.2f to %.2f), p = %.2f\n", better.Value, better.Low, better.High, better.P)
	// Output:
	// 0.65 (0.50 to 0.78)
	// 0.08 better (-0.02 to 0.17), p = 0.25
}

package evaluation_test

import (
	"fmt"

	"iwda/evaluation"
)

// Labels of 40 rows, drawn at random from 1000 that were predicted, say how many of the 1000 are
// right.
func ExampleAccuracy() {
	var all evaluation.Moments
	confidence := func(row int) float64 { return 0.5 + 0.05*float64(row%10) } // of a row's prediction
	for row := range 1000 {
		all.Add(confidence(row))
	}
	labelled := evaluation.Stratum{Share: 1}
	for i := range 40 {
		row := 23 * i // drawn at random, in earnest
		right := 1.0
		if row%3 == 0 {
			right = 0
		}
		labelled.Right, labelled.Expected = append(labelled.Right, right), append(labelled.Expected, confidence(row))
	}
	accuracy, _ := evaluation.Accuracy([]evaluation.Stratum{labelled}, all)
	fmt.Printf("%.2f (%.2f to %.2f)\n", accuracy.Value, accuracy.Low, accuracy.High)

	// Of the labelled rows, 7 are right by this classifier alone, and 2 by another alone.
	better := evaluation.Compare([]evaluation.Pairs{{Share: 1, Rows: 40, Gained: 7, Lost: 2}}, 1000)
	fmt.Printf("%.2f better (%.2f to %.2f), p = %.2f\n", better.Value, better.Low, better.High, better.P)
	// Output:
	// 0.65 (0.50 to 0.78)
	// 0.12 better (-0.02 to 0.27), p = 0.18
}

package weightest_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"iwda/weightest"
	"iwda/weightest/calibration"
)

// A classifier is right in 90%, 80% and 70% of the images of three classes. The
// source has them in equal shares, the target has far more of the last class.
func ExampleQP() {
	accuracy := mat.NewDense(3, 3, []float64{
		0.9, 0.1, 0.1, // predicted as the first class, by true class
		0.1, 0.8, 0.2,
		0.0, 0.1, 0.7,
	})
	source := []float64{0.50, 0.25, 0.25}
	target := []float64{0.10, 0.30, 0.60}

	var confusion mat.Dense
	confusion.Mul(accuracy, mat.NewDiagDense(3, source))
	var predictions mat.VecDense
	predictions.MulVec(accuracy, mat.NewVecDense(3, target))

	solution, err := weightest.QP{}.Estimate(weightest.Problem{
		Confusion:          &confusion,
		TargetPredictions:  predictions.RawVector().Data,
		SourceDistribution: source,
	})
	if err != nil {
		log.Fatal(err)
	}
	truth, err := weightest.Oracle(source, target)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("estimated %.3f\n", solution.Weights)
	fmt.Printf("true      %.3f\n", truth)
	// Output:
	// estimated [0.200 1.200 2.400]
	// true      [0.200 1.200 2.400]
}

// Class weights for any classifier, from what it predicts on labelled source and unlabelled
// target data.
func ExampleAccumulator() {
	statistics := weightest.NewAccumulator(2)
	// Probabilities of two source rows with their labels, and of two target rows.
	err := statistics.Add([]float32{0.9, 0.1, 0.2, 0.8}, []int{0, 1}, []float32{0.3, 0.7, 0.2, 0.8})
	if err != nil {
		log.Fatal(err)
	}
	solution, err := weightest.QP{}.Estimate(weightest.Problem{
		Confusion: statistics.Confusion(), TargetPredictions: statistics.TargetPredictions(),
		SourceDistribution: []float64{0.5, 0.5},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", solution.Weights)
	// Output:
	// [0.143 1.857]
}

// From a classifier's logits to the target's label distribution and to what its
// probabilities should have been there.
func ExampleMLLS() {
	const classes = 2
	// Held-out source rows, half of each class, on which the classifier is too sure.
	logits, labels := []float64{}, []int{}
	for i := range 40 {
		label := i % 2
		z := 3.0
		if i%10 >= 8 {
			z = -3 // an error, in one row of five
		}
		if label == 1 {
			z = -z
		}
		logits, labels = append(logits, z, 0), append(labels, label)
	}
	// Target rows: of ten, seven predicted as class 0.
	target := []float64{3, 0, 3, 0, 3, 0, 3, 0, 3, 0, 3, 0, 3, 0, -3, 0, -3, 0, -3, 0}

	fitted, err := calibration.Calibrate("bcts", logits, labels, classes)
	if err != nil {
		log.Fatal(err)
	}
	sample, err := weightest.SampleOf(classes, fitted.Probabilities(logits), labels, fitted.Probabilities(target))
	if err != nil {
		log.Fatal(err)
	}
	problem, err := sample.Problem()
	if err != nil {
		log.Fatal(err)
	}
	estimate, err := weightest.MLLS{}.Estimate(problem)
	if err != nil {
		log.Fatal(err)
	}
	corrected, err := weightest.Correct(sample.Target()[:classes], estimate.TargetDistribution, problem.SourceDistribution)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("temperature %.2f\n", fitted.Temperature())
	fmt.Printf("target      %.3f\n", estimate.TargetDistribution)
	fmt.Printf("first row   %.3f, corrected %.3f\n", sample.Target()[:classes], corrected)
	// Output:
	// temperature 2.16
	// target      [0.833 0.167]
	// first row   [0.800 0.200], corrected [0.952 0.048]
}

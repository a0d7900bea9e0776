package weightest_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"iwda/weightest"
)

// A classifier is right in 90%, 80% and 70% of the images of three classes. The
// source has them in equal shares, the target has far more of the last class.
func ExampleSolveQP() {
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

	solution, err := weightest.SolveQP(weightest.Problem{
		Confusion:          &confusion,
		TargetPredictions:  predictions.RawVector().Data,
		SourceDistribution: source,
	}, weightest.QPSettings{})
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

func ExampleTracker() {
	statistics := weightest.NewAccumulator(2)
	tracker, err := weightest.NewTracker(2, weightest.TrackerSettings{EMA: 0.5})
	if err != nil {
		log.Fatal(err)
	}
	// Four source images, predicted without an error, and four target images.
	err = statistics.Add(
		[]float32{1, 0, 1, 0, 0, 1, 0, 1}, []int{0, 0, 1, 1},
		[]float32{1, 0, 0, 1, 0, 1, 0, 1})
	if err != nil {
		log.Fatal(err)
	}
	record, err := tracker.Update(statistics, []float64{0.5, 0.5})
	if err != nil {
		log.Fatal(err)
	}
	// The estimate is 0.5 and 1.5; half of the way there from 1 and 1 is
	fmt.Printf("%.2f, effective sample size %.2f\n", record.Weights, record.EffectiveSampleSize)
	// Output:
	// [0.75 1.25], effective sample size 0.94
}

func ExampleNewEstimator() {
	estimator, err := weightest.NewEstimator("inverse")
	if err != nil {
		log.Fatal(err)
	}
	estimate, err := estimator.Estimate(weightest.Problem{
		Confusion:          mat.NewDense(2, 2, []float64{0.4, 0.1, 0.1, 0.4}),
		TargetPredictions:  []float64{0.1, 0.9},
		SourceDistribution: []float64{0.5, 0.5},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n%s\n", estimate.Weights, estimate.Warning)
	// Output:
	// [0.00 2.00]
	// C has condition number 1.67; 1 of 2 weights of C⁻¹mu were negative and set to zero
}

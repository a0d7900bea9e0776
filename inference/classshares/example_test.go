package classshares_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"iwda/inference/classshares"
	"iwda/weightest/intervals"
	"iwda/weightest/shifttest"
)

// Class shares, with intervals, of a target without labels, from what any classifier says of
// held-out source rows and of target rows; and its probabilities corrected for them.
func ExampleFit() {
	random := rand.New(rand.NewPCG(1, 2))
	heldOut, labels := onLine(random, []float64{0.7, 0.2, 0.1}, 1000, 1) // logits, row-major 1000×3, and classes
	target, _ := onLine(random, []float64{0.1, 0.3, 0.6}, 2000, 1)

	shares, err := classshares.Fit(3, heldOut, labels, target, classshares.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	uncertainty, err := shares.Bootstrap(intervals.BootstrapSettings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for class, share := range shares.Target() {
		interval := uncertainty.Shares.Each[class]
		fmt.Printf("class %d  %.2f (%.2f to %.2f)\n", class, share, interval.Low, interval.High)
	}
	test, err := shares.TestLabelShift(shifttest.LabelShiftSettings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rejected:", test.Rejected())
	corrected, err := shares.Correct(0, 2) // of the first two rows
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("before    %.2f\ncorrected %.2f\n", shares.Sample.Target()[:6], corrected)
	// Output:
	// class 0  0.11 (0.09 to 0.13)
	// class 1  0.31 (0.24 to 0.37)
	// class 2  0.58 (0.53 to 0.64)
	// rejected: false
	// before    [0.35 0.61 0.04 0.13 0.73 0.14]
	// corrected [0.04 0.78 0.17 0.01 0.58 0.41]
}

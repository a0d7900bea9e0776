package classshares_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/classshares"
)

func TestExpectedAccuracy(t *testing.T) {
	for _, resamples := range []int{100, 20} {
		t.Run(strconv.Itoa(resamples), func(t *testing.T) { testExpectedAccuracy(t, resamples) })
	}
}

// correctedClasses are those that are predicted of the target's rows after correction for the shares s, and
// the share that is right.
func correctedClasses(t *testing.T, k int, heldOut classshares.Rows, labels []int, target classshares.Rows, truth []int) (s *classshares.Shares, predicted []int, right float64) {
	t.Helper()
	s, err := classshares.Fit(k, heldOut, labels, target, classshares.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	corrected, err := s.Correct(0, len(truth))
	if err != nil {
		t.Fatal(err)
	}
	for i, class := range truth {
		predicted = append(predicted, floats.MaxIdx(corrected[i*k:(i+1)*k]))
		if predicted[i] == class {
			right += 1 / float64(len(truth))
		}
	}
	return s, predicted, right
}

func testExpectedAccuracy(t *testing.T, resamples int) {
	random := rand.New(rand.NewPCG(5, 6))
	const problems = 40
	held, distance, width := 0, 0.0, 0.0
	for problem := range problems {
		heldOut, labels := onLine(random, sourceShares, 400, 3)
		target, truth := onLine(random, targetShares, 600, 3)
		_, predicted, right := correctedClasses(t, 3, heldOut, labels, target, truth)
		got, err := classshares.ExpectAccuracy(3, heldOut, labels, target, predicted, classshares.Settings{}, classshares.AccuracySettings{Level: 0.9, Resamples: resamples, Seed: uint64(problem)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Low <= right && right <= got.High {
			held++
		}
		if got.Low > got.Value || got.Value > got.High {
			t.Errorf("%+v", got)
		}
		distance += (got.Value - right) / problems
		width += (got.High - got.Low) / problems
	}
	// Of 40 intervals of 0.9, fewer than 31 hold it once in a hundred times.
	if held < 31 {
		t.Errorf("%d of %d intervals hold the accuracy", held, problems)
	}
	if math.Abs(distance) > 0.015 || width > 0.2 {
		t.Errorf("expected less true accuracy %v on average, width %v", distance, width)
	}
}

// A classifier of two classes that is twice too sure, by which few rows are wrong: what it predicts was fitted
// to the rows from which its accuracy is expected.
func TestExpectedAccuracyOfTooSure(t *testing.T) {
	const apart = 4.2
	random := rand.New(rand.NewPCG(13, 14))
	draw := func(n int, second, moved float64) (rows classshares.Rows, classes []int) {
		for range n {
			class := 0
			if random.Float64() < second {
				class = 1
			}
			z := moved + 2*apart*(apart*(float64(class)-0.5)+random.NormFloat64())
			rows.Values, classes = append(rows.Values, 0, float32(z)), append(classes, class)
		}
		return rows, classes
	}
	const problems = 40
	held := 0
	for problem := range problems {
		moved := random.NormFloat64()
		heldOut, labels := draw(300, 0.5, moved)
		target, truth := draw(2000, 0.8, moved)
		_, predicted, right := correctedClasses(t, 2, heldOut, labels, target, truth)
		got, err := classshares.ExpectAccuracy(2, heldOut, labels, target, predicted, classshares.Settings{}, classshares.AccuracySettings{Seed: uint64(problem)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Low <= right && right <= got.High {
			held++
		}
	}
	if held < 33 {
		t.Errorf("%d of %d intervals hold the accuracy", held, problems)
	}
}

// Few resamples of many classes, of which no percentiles could be taken.
func TestExpectedAccuracyOfManyClasses(t *testing.T) {
	const k = 150
	random := rand.New(rand.NewPCG(7, 8))
	logits := func(n int) (rows classshares.Rows) {
		for i := range n {
			for class := range k {
				z := 2 * random.NormFloat64()
				if class == i%k {
					z += 5
				}
				rows.Values = append(rows.Values, float32(z))
			}
		}
		return rows
	}
	heldOut, target := logits(4*k), logits(2*k)
	var labels []int
	for i := range 4 * k {
		labels = append(labels, i%k)
	}
	got, err := classshares.ExpectAccuracy(k, heldOut, labels, target, append(slices.Clone(labels[:k]), labels[:k]...), classshares.Settings{}, classshares.AccuracySettings{Resamples: 5})
	if err != nil || got.Low >= got.Value || got.High <= got.Value || got.Value < 0.3 || got.Value > 0.95 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := classshares.ExpectAccuracy(3, classshares.Rows{}, nil, target, make([]int, 2*k*k/3), classshares.Settings{}, classshares.AccuracySettings{}); err == nil {
		t.Error("without held-out rows there is an expected accuracy")
	}
}

// The expected accuracy is that of the predictions that are asked about, whoever made them.
func TestExpectedAccuracyOfOtherPredictions(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	heldOut, labels := onLine(random, sourceShares, 2000, 3)
	target, truth := onLine(random, targetShares, 2000, 3)
	for class := range 3 { // all rows are predicted to be of it
		want := 0.0
		for _, y := range truth {
			if y == class {
				want += 1 / float64(len(truth))
			}
		}
		got, err := classshares.ExpectAccuracy(3, heldOut, labels, target, slices.Repeat([]int{class}, len(truth)), classshares.Settings{}, classshares.AccuracySettings{Resamples: 100})
		if err != nil || got.Low > want || got.High < want || got.High-got.Low > 0.12 {
			t.Errorf("class %d: %+v, want %v, %v", class, got, want, err)
		}
	}
	// Rows that were selected by their values keep their probabilities, whatever the shares seem to be.
	s, err := classshares.Fit(3, heldOut, labels, target, classshares.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for i := range truth {
		mean += s.Sample.Target()[3*i] / float64(len(truth))
	}
	certain, err := classshares.ExpectAccuracy(3, heldOut, labels, target, make([]int, len(truth)), classshares.Settings{}, classshares.AccuracySettings{Uncorrected: true})
	if err != nil || math.Abs(certain.Value-mean) > 1e-9 || certain.Low >= mean || certain.High <= mean {
		t.Errorf("%+v, want %v, %v", certain, mean, err)
	}
	if _, err := classshares.ExpectAccuracy(3, heldOut, labels, target, truth[1:], classshares.Settings{}, classshares.AccuracySettings{}); err == nil {
		t.Error("a row too few is predicted")
	}
}

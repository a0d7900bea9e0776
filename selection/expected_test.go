package selection_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/selection"
)

// The expected accuracy of a network that is three times too sure is near the one it has on
// the target after correction, which is not the one on the source, and nine of ten intervals
// of level 0.9 hold it, be they percentiles of many resamples or Student's of few.
func TestExpectedAccuracy(t *testing.T) {
	for _, resamples := range []int{100, 20} {
		t.Run(strconv.Itoa(resamples), func(t *testing.T) { testExpectedAccuracy(t, resamples) })
	}
}

func testExpectedAccuracy(t *testing.T, resamples int) {
	random := rand.New(rand.NewPCG(5, 6))
	const problems = 40
	held, distance, width := 0, 0.0, 0.0
	for problem := range problems {
		heldOut, labels := onLine(random, line.source, 400)
		target, truth := onLine(random, line.target, 600)
		in := selection.Input{SourceLogits: knowing(heldOut, 3), SourceLabels: labels, TargetLogits: knowing(target, 3)}
		got, err := selection.Expect(in, selection.ExpectedSettings{Level: 0.9, Resamples: resamples, Seed: uint64(problem)})
		if err != nil {
			t.Fatal(err)
		}
		_, calibration, err := selection.Calibrated(in)
		if err != nil {
			t.Fatal(err)
		}
		corrected, err := selection.Corrected(in, calibration)
		if err != nil {
			t.Fatal(err)
		}
		right := 0.0
		for i, class := range truth {
			if floats.MaxIdx(corrected.RawRowView(i)) == class {
				right += 1 / float64(len(truth))
			}
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
	// Of 40 intervals of 0.9, fewer than 31 or all 40 hold it once in a hundred times.
	if held < 31 || held == problems {
		t.Errorf("%d of %d intervals hold the accuracy", held, problems)
	}
	if math.Abs(distance) > 0.015 || width > 0.2 {
		t.Errorf("expected less true accuracy %v on average, width %v", distance, width)
	}
}

// Few resamples of many classes, of which no percentiles could be taken.
func TestExpectedAccuracyOfManyClasses(t *testing.T) {
	const k = 150
	random := rand.New(rand.NewPCG(7, 8))
	logits := func(rows int) *mat.Dense {
		l := mat.NewDense(rows, k, nil)
		for i := range rows {
			for class := range k {
				l.Set(i, class, 2*random.NormFloat64())
			}
			l.Set(i, i%k, l.At(i, i%k)+5)
		}
		return l
	}
	in := selection.Input{SourceLogits: logits(4 * k), TargetLogits: logits(2 * k)}
	for i := range 4 * k {
		in.SourceLabels = append(in.SourceLabels, i%k)
	}
	got, err := selection.Expect(in, selection.ExpectedSettings{Resamples: 5})
	if err != nil || got.Low >= got.Value || got.High <= got.Value || got.Value < 0.3 || got.Value > 0.95 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestExpectedAccuracyOfNothing(t *testing.T) {
	in := shifted(1)
	in.SourceLogits, in.SourceLabels = nil, nil
	if _, err := selection.Expect(in, selection.ExpectedSettings{}); !errors.Is(err, selection.ErrMissing) {
		t.Errorf("without held-out rows: %v", err)
	}
}

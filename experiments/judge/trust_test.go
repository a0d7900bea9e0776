package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// notAligned is the problem with the names of runs that align nothing.
func notAligned(t *testing.T) (candidates []Candidate, truth []int) {
	candidates, truth = problem(t)
	for i := range candidates {
		candidates[i].Run = fmt.Sprintf("full/a-b/source-only/seed-%d", i+1)
	}
	return candidates, truth
}

// rightOf is the share of the target's rows that runs together predict right.
func rightOf(t *testing.T, c *Comparison, truth, runs []int, correction Correction) float64 {
	t.Helper()
	together, err := c.together(runs, correction)
	if err != nil {
		t.Fatal(err)
	}
	right := 0.0
	for i, class := range truth {
		if together.classes[i] == class {
			right += 1 / float64(len(truth))
		}
	}
	return right
}

// Under label shift the expected accuracy of several runs together is near their accuracy, which
// is in the interval and above the floor; the second opinion is near too.
func TestTrust(t *testing.T) {
	candidates, truth := notAligned(t)
	c := compared(t, candidates...)
	for _, correction := range []Correction{Full, Halfway, None} {
		runs := []int{0, 1}
		got := c.Trust(runs, correction)
		right := rightOf(t, c, truth, runs, correction)
		e := got.Expected
		if e == nil || math.Abs(e.Value-right) > 0.02 || e.Low > right || e.High < right || got.Untold != "" || math.Abs(got.Confident-right) > 0.1 {
			t.Errorf("correction %s: %+v, second opinion %v, want %v; %s", correction, e, got.Confident, right, got.Untold)
		}
		if got.Floor == nil || got.Floor.Value > right || got.Floor.Value < right-0.2 {
			t.Errorf("correction %s: floor %+v of %v", correction, got.Floor, right)
		}
		if e == nil {
			continue
		}
		// If a test that could have missed much found nothing, and somebody says that there is nothing, the
		// lower end is the floor.
		untested := compared(t, candidates...)
		untested.Shared.Test.Detectable = 0.3
		if got := untested.Trust(runs, correction); got.Expected != nil || got.Vouched || got.Unless() != "rows like the source's have other classes in the target" {
			t.Errorf("correction %s: %+v", correction, got)
		}
		untested.Shared.Told = true
		if got := untested.Trust(runs, correction); got.Expected != nil || !got.Vouched || got.Floor == nil || got.Floor.Value != e.Low || got.Unless() != "more than the class shares differ" || !strings.Contains(got.Untold, "it would have missed a loss of accuracy of less than 30 points") {
			t.Errorf("correction %s: %+v, want the lower end of %+v", correction, got, e)
		}
	}
}

// What runs predict together is the class of the largest mean of their corrected probabilities.
func TestPredictedTogether(t *testing.T) {
	candidates, truth := notAligned(t)
	c := compared(t, candidates...)
	alone, err := c.together([]int{0}, Full)
	if err != nil {
		t.Fatal(err)
	}
	corrected, err := c.Shared.Correct(0, len(truth))
	if err != nil {
		t.Fatal(err)
	}
	claimed := 0.0
	for i := range truth {
		row := corrected[3*i : 3*i+3]
		if row[alone.classes[i]] < floats.Max(row)-1e-3 { // two are all but the same in some rows
			t.Fatalf("row %d: %d of %v", i, alone.classes[i], row)
		}
		claimed += floats.Max(row) / float64(len(truth))
	}
	if math.Abs(alone.claimed-claimed) > 1e-3 {
		t.Errorf("claimed %v, want %v", alone.claimed, claimed)
	}
	twice, err := c.together([]int{0, 0}, Full)
	if err != nil || !slices.Equal(twice.classes, alone.classes) || math.Abs(twice.claimed-alone.claimed) > 1e-9 {
		t.Errorf("twice the same run: %v, %v", twice.claimed, err)
	}
}

// No expected accuracy is given if the run that aligns nothing sees more than other class shares,
// however well another one sees nothing, nor if predictions are others than its expected errors allow
// for. There is a floor all the same, unless guessing reaches it.
func TestTrustIsWithheld(t *testing.T) {
	candidates, _ := notAligned(t)
	turned := slices.Clone(candidates)
	turned[0].Target = narrow(rotated(candidates[0].Target))
	got := compared(t, turned...).Trust([]int{1}, Full)
	if got.Expected != nil || !strings.HasPrefix(got.Untold, "more than the class shares changed in the target") || got.Floor != nil || got.Unfloored != "the floor of 0.0% is no higher than the accuracy of guessing one of 3 classes" {
		t.Errorf("%+v", got)
	}
	other := slices.Clone(candidates)
	other[1].Target = narrow(rotated(candidates[1].Target))
	got = compared(t, other...).Trust([]int{1}, Full)
	if got.Expected != nil || !strings.Contains(got.Untold, "the predictions differ from those of") || got.Floor == nil {
		t.Errorf("%+v", got)
	}
	// Nearly at random, and said to be so: both opinions are alike, and few are right.
	got = compared(t, candidates...).Trust([]int{2}, Full)
	if got.Expected != nil && got.Expected.Value > 0.75 {
		t.Errorf("%+v", got)
	}
}

// rotated exchanges the logits of three classes in a circle.
func rotated(logits []float32) *mat.Dense {
	m := mat.NewDense(len(logits)/3, 3, nil)
	for i, z := range logits {
		m.Set(i/3, (i+1)%3, float64(z))
	}
	return m
}

// An aligned run says nothing of itself, and has no floor: alignment left its critic no room.
func TestAlignedRunsDoNotVouch(t *testing.T) {
	candidates, _ := notAligned(t)
	aligned := candidates[0]
	aligned.Run = "full/a-b/iwdan/seed-1"
	got := compared(t, aligned).Trust([]int{0}, Full)
	if got.Expected != nil || got.Floor != nil || !strings.HasPrefix(got.Untold, "all runs were aligned with the target") || got.Unfloored != got.Untold {
		t.Errorf("%+v", got)
	}
}

// A class without a held-out row is said.
func TestTrustWithoutAClass(t *testing.T) {
	candidates, _ := notAligned(t)
	lacking := candidates[0]
	lacking.HeldOutLabels = slices.Clone(lacking.HeldOutLabels)
	for i, class := range lacking.HeldOutLabels {
		lacking.HeldOutLabels[i] = min(class, 1)
	}
	got := compared(t, lacking).Trust([]int{0}, Full)
	if got.Expected != nil || got.Floor != nil || !strings.Contains(got.Untold, "a class has no held-out row") {
		t.Errorf("%+v", got)
	}
}

// Too few rows for a floor are said.
func TestTooFewRowsForAFloor(t *testing.T) {
	candidates, _ := notAligned(t)
	few := candidates[0]
	few.HeldOut, few.HeldOutLabels = few.HeldOut[:3*9], []int{0, 1, 2, 0, 1, 2, 0, 1, 2}
	got := compared(t, few).Trust([]int{0}, Full)
	if got.Floor != nil || !strings.Contains(got.Unfloored, "9 source rows") || got.Expected != nil || !strings.Contains(got.Untold, "too few source rows") {
		t.Errorf("%+v", got)
	}
}

package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/inference/trust"
	"iwda/internal/must"
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
	together := must.Have(c.together(runs, nil, correction))(t)
	right := 0.0
	for i, class := range truth {
		if together.Classes[i] == class {
			right += 1 / float64(len(truth))
		}
	}
	return right
}

var abc = []string{"a", "b", "c"}

// caseOf is what follows if that happened.
func caseOf(t *testing.T, k trust.Known, happened string) trust.Case {
	t.Helper()
	for _, c := range k.Cases {
		if c.If == happened {
			return c
		}
	}
	t.Fatalf("no case %q in %+v", happened, k.Cases)
	return trust.Case{}
}

// Under label shift the accuracy of several runs together is in the interval and above the floor.
func TestTrust(t *testing.T) {
	candidates, truth := notAligned(t)
	c := compared(t, candidates...)
	for _, correction := range []Correction{Full, Halfway, None} {
		runs := []int{0, 1}
		got := c.Trust(abc, runs, nil, correction)
		right := rightOf(t, c, truth, runs, correction)
		e, floor := caseOf(t, got, trust.OnlyShares), caseOf(t, got, trust.Anything)
		if a := e.Accuracy; a.Low == nil || math.Abs(*a.Value-right) > 0.03 || *a.Low > right || *a.High < right || e.Against != "" || got.Rejected != "" {
			t.Errorf("correction %v: %+v, want %v", correction, e, right)
		}
		if low := floor.Accuracy.Low; low == nil || *low > right || *low < right-0.25 {
			t.Errorf("correction %v: floor %+v of %v", correction, floor, right)
		}
		for class, of := range got.Classes {
			if of.Recall == nil || of.Precision == nil || *of.Recall.Low > *of.Recall.High || of.Predicted == 0 || *of.Share.Low > *of.Share.High {
				t.Errorf("class %d: %+v", class, of)
			}
		}
		c.Shared.AssumeLabelShift = true
		if e := caseOf(t, c.Trust(abc, runs, nil, correction), trust.OnlyShares); e.For != "you said so" {
			t.Errorf("%+v", e)
		}
		c.Shared.AssumeLabelShift, c.Shared.Dependent = false, "rows are copies"
		if got := c.Trust(abc, runs, nil, correction); !strings.Contains(got.Headline(), "is not known: rows are copies") || got.Classes[0].Share.Low != nil {
			t.Errorf("%+v", got)
		}
		c.Shared.Dependent = ""
	}
}

// What runs predict together is the class of the largest mean of their corrected probabilities.
func TestPredictedTogether(t *testing.T) {
	candidates, truth := notAligned(t)
	c := compared(t, candidates...)
	alone := must.Have(c.together([]int{0}, nil, Full))(t)
	corrected := must.Have(c.Shared.Correct(0, len(truth)))(t)
	claimed := 0.0
	for i := range truth {
		row := corrected[3*i : 3*i+3]
		if row[alone.Classes[i]] < floats.Max(row)-1e-3 { // two are all but the same in some rows
			t.Fatalf("row %d: %d of %v", i, alone.Classes[i], row)
		}
		claimed += floats.Max(row) / float64(len(truth))
	}
	if math.Abs(alone.Claimed-claimed) > 1e-3 {
		t.Errorf("claimed %v, want %v", alone.Claimed, claimed)
	}
	twice, err := c.together([]int{0, 0}, nil, Full)
	if err != nil || !slices.Equal(twice.Classes, alone.Classes) || math.Abs(twice.Claimed-alone.Claimed) > 1e-9 {
		t.Errorf("twice the same run: %v, %v", twice.Claimed, err)
	}
}

// If the run that aligns nothing sees more than other class shares, that speaks against them, and no
// interval of shares is given; predictions that it does not believe in are expected to be wrong.
func TestTrustIsWithheld(t *testing.T) {
	candidates, _ := notAligned(t)
	turned := slices.Clone(candidates)
	turned[0].Target = narrow(rotated(candidates[0].Target))
	got := compared(t, turned...).Trust(abc, []int{1}, nil, Full)
	if e, floor := caseOf(t, got, trust.OnlyShares), caseOf(t, got, trust.Anything); e.Against == "" || got.Rejected == "" || got.Classes[0].Share.Low != nil || floor.Accuracy.Low != nil || floor.Missing == "" {
		t.Errorf("%+v", got)
	}
	other := slices.Clone(candidates)
	other[1].Target = narrow(rotated(candidates[1].Target))
	if e := caseOf(t, compared(t, other...).Trust(abc, []int{1}, nil, Full), trust.OnlyShares); *e.Accuracy.Value > 0.65 {
		t.Errorf("%+v", e)
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
	got := compared(t, aligned).Trust(abc, []int{0}, nil, Full)
	for _, c := range got.Cases {
		if c.Accuracy != (trust.Number{}) || !strings.HasPrefix(c.Missing, "all runs were aligned with the target") {
			t.Errorf("%+v", c)
		}
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
	for _, c := range compared(t, lacking).Trust(abc, []int{0}, nil, Full).Cases {
		if c.Accuracy != (trust.Number{}) || !strings.Contains(c.Missing, "a class has no held-out row") {
			t.Errorf("%+v", c)
		}
	}
}

// Too few rows for a floor are said.
func TestTooFewRowsForAFloor(t *testing.T) {
	candidates, _ := notAligned(t)
	few := candidates[0]
	few.HeldOut, few.HeldOutLabels = few.HeldOut[:3*9], []int{0, 1, 2, 0, 1, 2, 0, 1, 2}
	if c := caseOf(t, compared(t, few).Trust(abc, []int{0}, nil, Full), trust.Anything); c.Accuracy.Low != nil || !strings.Contains(c.Missing, "9 source rows") {
		t.Errorf("%+v", c)
	}
}

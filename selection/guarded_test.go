package selection_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"iwda/selection"
)

// The guarded risk takes an earlier epoch from one and a half standard errors of the
// difference on, under the target's class shares; other rules always do.
func TestTakesEarlier(t *testing.T) {
	q := []float64{0.25, 0.75}
	last := selection.Evidence{Losses: []float64{1, 2}, Errors: []float64{4, 0}}         // risk 1.75 ± 1
	earlier := selection.Evidence{Losses: []float64{1, 0}, Errors: []float64{0, 4 / 3.}} // risk 0.25 ± 1
	if got := last.RiskError(q); math.Abs(got-1) > 1e-12 {
		t.Fatalf("error of the risk %v, want 1", got)
	}
	for _, c := range []struct {
		of   float64 // the loss of class 1 in the last epoch
		want bool
	}{{2, false}, {2.8, false}, {2.9, true}} { // 0.75 · 2.83 = 1.5 · √2
		last.Losses[1] = c.of
		if got := selection.TakesEarlier(selection.GuardedRisk, selection.Judged{Evidence: earlier}, selection.Judged{Evidence: last}, q); got != c.want {
			t.Errorf("a difference of %v ± √2: %v, want %v", last.Risk(q)-earlier.Risk(q), got, c.want)
		}
		if !selection.TakesEarlier("iwv-y", selection.Judged{Evidence: earlier}, selection.Judged{Evidence: last}, q) {
			t.Error("iwv-y keeps the last epoch")
		}
	}
	if selection.TakesEarlier(selection.GuardedRisk, selection.Judged{Evidence: last}, selection.Judged{Evidence: last}, q) {
		t.Error("an epoch is clearly below itself")
	}
	for earlier, want := range map[float64]bool{0.5: false, 0.53: false, 0.55: true} {
		if got := selection.TakesEarlier(selection.GuardedAMI, selection.Judged{Value: earlier}, selection.Judged{Value: 0.5}, q); got != want {
			t.Errorf("a class AMI of %v before one of 0.5: %v, want %v", earlier, got, want)
		}
	}
}

// Rules that start from the class-weighted risk are the better the lower, and no name is one of
// two rules.
func TestRuleCriterion(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range selection.RuleNames() {
		c, err := selection.RuleCriterion(name)
		if err != nil || seen[name] || selection.RuleIsHigher(name) != c.Higher {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		seen[name] = true
	}
	for name, want := range map[string]string{selection.GuardedRisk: selection.ClassWeightedRisk.Name, selection.TargetRisk: selection.TargetRisk} {
		if c, _ := selection.RuleCriterion(name); c.Name != want || selection.RuleIsHigher(name) {
			t.Errorf("%s starts from %s", name, c.Name)
		}
	}
	if _, err := selection.RuleCriterion("accuracy"); err == nil || selection.RuleIsHigher("accuracy") {
		t.Errorf("a rule that is none: %v", err)
	}
}

// The standard error of a class's mean loss is that of its rows: losses log 2 and log 4 have a
// mean of 1.5 log 2 and a standard error of half their distance; a single row's is its loss.
func TestErrorsOfEvidence(t *testing.T) {
	log2 := math.Log(2)
	e, err := selection.Gather(selection.Input{
		SourceLogits: mat.NewDense(3, 2, []float64{0, 0, 0, math.Log(3), 0, 0}), SourceLabels: []int{0, 0, 1},
		TargetLogits: mat.NewDense(1, 2, []float64{0, 0}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1.5 * log2, log2, 0.5 * log2, log2} {
		if got := append(e.Losses, e.Errors...)[i]; math.Abs(got-want) > 1e-12 {
			t.Errorf("losses %v, errors %v; number %d should be %v", e.Losses, e.Errors, i, want)
		}
	}
}

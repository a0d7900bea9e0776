package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/experiments/store"
	"iwda/inference/selection"
	"iwda/internal/convert"
	"iwda/internal/must"
	"iwda/weightest/calibration"
)

// The label-shift problem of these tests: three classes on a line, of which the first is
// frequent in the source and rare in the target.
var (
	sourceShares = []float64{0.7, 0.2, 0.1}
	targetShares = []float64{0.1, 0.3, 0.6}
	centres      = []float64{0, 2, 4}
)

// draw returns places on the line and their classes.
func draw(random *rand.Rand, shares []float64, n int) (x []float64, classes []int) {
	for range n {
		u, class := random.Float64(), 0
		for u > shares[class] && class < len(shares)-1 {
			u -= shares[class]
			class++
		}
		x, classes = append(x, centres[class]+random.NormFloat64()), append(classes, class)
	}
	return x, classes
}

// classifier returns the logits of places: log shares + log density, times a factor.
func classifier(x, shares []float64, sharpness float64) *mat.Dense {
	logits := mat.NewDense(len(x), len(shares), nil)
	for i, v := range x {
		for class, share := range shares {
			d := v - centres[class]
			logits.Set(i, class, sharpness*(math.Log(share)-d*d/2))
		}
	}
	return logits
}

// candidate returns a run of three classes that says this of rows (n×k).
func candidate(run string, heldOut *mat.Dense, labels []int, target *mat.Dense) Candidate {
	return Candidate{Run: run, Outputs: store.Outputs{Classes: 3, HeldOut: narrow(heldOut), HeldOutLabels: labels, Target: narrow(target)}}
}

func narrow(m *mat.Dense) (values []float32) {
	for _, v := range m.RawMatrix().Data {
		values = append(values, float32(v))
	}
	return values
}

// problem returns a candidate that is right about the source, a twin of it that is five
// times as sure, one that sees the rows through noise, and the true classes of the target.
func problem(t *testing.T) (candidates []Candidate, truth []int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 3))
	heldOut, labels := draw(random, sourceShares, 3000)
	target, truth := draw(random, targetShares, 5000)
	blurred := func(x []float64) []float64 {
		x = slices.Clone(x)
		for i := range x {
			x[i] += 2 * random.NormFloat64()
		}
		return x
	}
	blurredHeldOut, blurredTarget := blurred(heldOut), blurred(target)
	return []Candidate{
		candidate("source-only", classifier(heldOut, sourceShares, 1), labels, classifier(target, sourceShares, 1)),
		candidate("overconfident", classifier(heldOut, sourceShares, 5), labels, classifier(target, sourceShares, 5)),
		candidate("blurred", classifier(blurredHeldOut, sourceShares, 1), labels, classifier(blurredTarget, sourceShares, 1)),
	}, truth
}

// compared returns the comparison of candidates, of which the first says what all share.
func compared(t *testing.T, candidates ...Candidate) *Comparison {
	t.Helper()
	c, leftOut, err := New(candidates)
	if err != nil || leftOut != nil {
		t.Fatal(leftOut, err)
	}
	must.Do(t, c.TestShift())
	return c
}

// TestShared: shares and the test of label shift are those of the problem.
func TestShared(t *testing.T) {
	candidates, _ := problem(t)
	shared := compared(t, candidates[1]).Shared
	if temperature := shared.Calibration.Temperature(); math.Abs(temperature-5) > 0.5 {
		t.Errorf("temperature %v of a network five times too sure", temperature)
	}
	for class, want := range targetShares {
		if got := shared.Target()[class]; math.Abs(got-want) > 0.03 {
			t.Errorf("class %d: share %v, want %v", class, got, want)
		}
	}
	if shared.Test.Rejected() {
		t.Errorf("label shift: %s", shared.Test.Verdict())
	}
	// A target whose classes lie elsewhere is not explained by other shares.
	elsewhere, _ := draw(rand.New(rand.NewPCG(3, 4)), targetShares, 5000)
	for i := range elsewhere {
		elsewhere[i] = 2 + 2*(elsewhere[i]-2)
	}
	moved := candidates[0]
	moved.Target = narrow(classifier(elsewhere, sourceShares, 1))
	if other := compared(t, moved).Shared; !other.Test.Rejected() {
		t.Errorf("classes that lie elsewhere: %v", other.Test.Verdict())
	}
}

// TestChoose: the rule takes the candidate with the least loss on the target, and being
// sure is neither punished nor rewarded, but for the penalty of the calibration.
func TestChoose(t *testing.T) {
	candidates, truth := problem(t)
	choice := must.Have(compared(t, candidates...).Choose("target-risk", 0))(t)
	if choice.Best == 2 {
		t.Errorf("chose %s of %+v", choice.Judged[choice.Best].Run, choice.Judged)
	}
	// The value is an estimate of the calibrated cross-entropy on the target, and what chance
	// leaves unexplained.
	for i, c := range candidates {
		calibration := must.Have(calibration.Calibrate("bcts-ridge", convert.Slice[float64](c.HeldOut), c.HeldOutLabels, 3))(t)
		p, loss := calibration.Probabilities(convert.Slice[float64](c.Target)), 0.0
		for row, class := range truth {
			loss -= math.Log(p[3*row+class]) / float64(len(truth))
		}
		if got := choice.Judged[i].Value - choice.Judged[i].Unexplained; math.Abs(got-loss) > 0.1*loss || choice.Judged[i].Unexplained > 0.06 {
			t.Errorf("%s: value %v, loss on the target %v", c.Run, got, loss)
		}
	}
	first, sure, blurred := choice.Judged[0], choice.Judged[1], choice.Judged[2]
	if math.Abs(sure.Value-first.Value) > 2e-3 || math.Abs(sure.Certainty-first.Certainty) > 2e-3 {
		t.Errorf("being sure made a difference: %+v and %+v", sure, first)
	}
	if math.Abs(floats.Sum(sure.Shares)-1) > 1e-9 || sure.Shares[2] < 1.5*sure.Shares[0] {
		t.Errorf("predicted shares %v", sure.Shares)
	}
	if blurred.SourceAccuracy >= sure.SourceAccuracy || blurred.Agreement >= sure.Agreement || blurred.Certainty >= sure.Certainty || blurred.Divergence <= sure.Divergence {
		t.Errorf("guards: %+v and %+v", sure, blurred)
	}
}

// Where the classes of the target look different, a candidate that undoes that is chosen,
// although on the source it is no better.
func TestChooseAmongAligned(t *testing.T) {
	candidates, _ := problem(t)
	aligned := candidates[0]
	aligned.Run = "aligned"
	sourceOnly := candidates[0]
	sourceOnly.Target = slices.Clone(aligned.Target)
	for i := 0; i < len(sourceOnly.Target); i += 3 * 3 { // rows of which it is not sure
		clear(sourceOnly.Target[i : i+3])
	}
	both := compared(t, sourceOnly, aligned)
	if !both.Shared.Test.Rejected() {
		t.Fatal(both.Shared.Test.Verdict())
	}
	for rule, want := range map[string]string{"target-risk": "aligned", "iwv-y": "source-only"} {
		choice, err := both.Choose(rule, 0)
		if err != nil || choice.Judged[choice.Best].Run != want {
			t.Errorf("%s: %+v, %v", rule, choice.Judged, err)
		}
	}
}

// The risk is that of the shared shares, however rarely the model that they are from predicts
// a class of few held-out rows.
func TestRiskOfARareClass(t *testing.T) {
	candidates, _ := problem(t)
	c := candidates[0]
	few := Candidate{Run: "few rows", Outputs: store.Outputs{Classes: 3, HeldOut: slices.Clone(c.HeldOut[:3*40]), Target: c.Target}}
	for i := range 40 {
		few.HeldOutLabels = append(few.HeldOutLabels, min(c.HeldOutLabels[i], 1))
	}
	few.HeldOutLabels[39] = 2 // the only one, taken for another class
	copy(few.HeldOut[3*39:], []float32{4, 0, -4})
	alone := compared(t, few)
	shared := alone.Shared
	choice := must.Have(alone.Choose("iwv-y", 0))(t)
	p := shared.Calibration.Probabilities(convert.Slice[float64](few.HeldOut))
	var losses, rows [3]float64
	for i, class := range few.HeldOutLabels {
		losses[class] -= math.Log(p[3*i+class])
		rows[class]++
	}
	want := 0.0
	for class, q := range shared.Target() {
		want += q * losses[class] / rows[class]
	}
	if got := choice.Judged[0].Value; math.Abs(got-want) > 1e-9*want {
		t.Errorf("risk %v, want %v", got, want)
	}
	// A class without a row counts for nothing.
	if got := weightsOver(shared.Target(), []int{0, 0, 1, 0}); math.Abs(got[0]-shared.Target()[0]*4/3) > 1e-15 || got[2] != 0 {
		t.Errorf("weights %v of shares %v", got, shared.Target())
	}
}

func TestChooseByAnotherRule(t *testing.T) {
	candidates, _ := problem(t)
	c := compared(t, candidates[1:3]...)
	choice, err := c.Choose("source-accuracy", 0)
	if err != nil || choice.Judged[choice.Best].Run != "overconfident" || choice.Judged[1].Value != choice.Judged[1].SourceAccuracy || choice.Better != "highest" {
		t.Errorf("%+v, %v", choice, err)
	}
	must.Refuse(c.Choose("guess", 0))(t, "known are target-risk, iwv-y")
}

// Every rule that a configuration takes has a value of every run, and one that has none of any is
// an error that names it.
func TestEveryRuleHasValues(t *testing.T) {
	candidates, _ := problem(t)
	c := compared(t, candidates...)
	for _, rule := range selection.Names() {
		choice, err := c.Choose(rule, 0)
		if err != nil || len(choice.Problems) > 0 {
			t.Errorf("%s: %v, %v", rule, choice.Problems, err)
		}
		for _, j := range choice.Judged {
			if math.IsNaN(j.Value) {
				t.Errorf("%s: no value of %s", rule, j.Run)
			}
		}
	}
	c.inputs[1].Votes = nil
	if choice, err := c.Choose("ensv", 0); err != nil || choice.Best == 1 || len(choice.Problems) != 1 || !strings.Contains(choice.Problems[0], "overconfident cannot be judged: selection: ensv") {
		t.Errorf("one run without a value: %+v, %v", choice, err)
	}
	c.inputs[0].Votes, c.inputs[2].Votes = nil, nil
	must.Refuse(c.Choose("ensv", 0))(t, "the rule ensv cannot judge any run: source-only cannot be judged")
	if _, _, err := New(nil); err == nil {
		t.Error("no error where there is no run")
	}
}

// What all share is the first source-only run's, wherever it stands, and the first run's where
// there is none.
func TestReference(t *testing.T) {
	candidates, _ := problem(t)
	for i, method := range []string{"dann", "source-only", "iwdan"} {
		candidates[i].Run = "full/a-b/" + method + "/seed-1"
	}
	if got := compared(t, candidates...).Shared.Run; got != "full/a-b/source-only/seed-1" {
		t.Error(got)
	}
	if got := compared(t, candidates[0], candidates[2]).Shared.Run; got != "full/a-b/dann/seed-1" {
		t.Error(got)
	}
}

// Methods are compared by the mean over their seeds, but for those that could not be judged.
func TestMethods(t *testing.T) {
	c := &Comparison{Candidates: []Candidate{
		{Run: "full/a-b/source-only/seed-1"}, {Run: "full/a-b/iwdan/seed-1"}, {Run: "full/a-b/iwdan/seed-2"}, {Run: "full/a-b/iwdan/seed-3"}, {Run: "full/a-b/iwcdan/seed-1"},
	}}
	got := c.methods([]float64{0.5, 1, math.NaN(), 0.25, math.NaN()})
	want := []Method{{"source-only", []int{0}, 0.5}, {"iwdan", []int{1, 3}, 0.625}, {"iwcdan", nil, math.NaN()}}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	if got := (Choice{Methods: got, Used: 3}).Method(); got.Name != "iwdan" {
		t.Error(got)
	}
}

// Of methods whose best runs are as good, within the tolerance, the last one is used.
func TestPreferLater(t *testing.T) {
	lowest := map[string][]float64{"source-only": {1.3}, "iwdan": {0.9, 1}, "iwcdan": {2, 1.05}, "iwjan": {math.NaN()}}
	negative := map[string][]float64{"source-only": {-0.5}, "iwdan": {-0.45}, "iwcdan": {-0.3}}
	few := map[string][]float64{"source-only": {1.3}, "iwdan": {0.9, 1}}
	for _, test := range []struct {
		of         map[string][]float64
		tolerance  float64
		best, used int
	}{
		{lowest, 0, 1, 1}, {lowest, 0.16, 1, 1}, {lowest, 0.17, 1, 4}, {lowest, 0.9, 1, 4},
		{few, 0.9, 1, 1}, // the best run of a method, not its last one
		{negative, 0.05, 0, 0}, {negative, 0.11, 0, 1}, {negative, 0.5, 0, 2},
	} {
		var c Comparison
		var values []float64
		choice := Choice{Best: test.best, Used: test.best}
		for _, method := range []string{"source-only", "iwdan", "iwcdan", "iwjan"} {
			for seed, value := range test.of[method] {
				run := fmt.Sprintf("full/a-b/%s/seed-%d", method, seed+1)
				c.Candidates, values = append(c.Candidates, Candidate{Run: run}), append(values, value)
				choice.Judged = append(choice.Judged, Judgement{Run: run, Value: value})
			}
		}
		choice.Methods = c.methods(values)
		choice.preferLater(test.tolerance)
		if choice.Used != test.used {
			t.Errorf("tolerance %v: %s of %+v", test.tolerance, choice.Judged[choice.Used].Run, choice.Judged)
		}
	}
}

// A class without a held-out row gets no bias, and a network that says NaN is an error.
func TestCandidatesOutOfOrder(t *testing.T) {
	candidates, _ := problem(t)
	c := candidates[0]
	c.HeldOutLabels = slices.Clone(c.HeldOutLabels)
	for i, class := range c.HeldOutLabels {
		c.HeldOutLabels[i] = min(class, 1)
	}
	if shared := compared(t, c).Shared; shared.Calibration.Form != "ts" {
		t.Errorf("no row of a class: %+v", shared.Calibration)
	}
	c.HeldOut = slices.Clone(c.HeldOut)
	c.HeldOut[3*7+1] = float32(math.NaN())
	if _, _, err := New([]Candidate{c}); err == nil || !strings.Contains(err.Error(), "source-only: calibration on held-out source rows: weightest: invalid row: source row 7 gives class 1 the logit NaN") {
		t.Errorf("NaN: error %v", err)
	}
	both, leftOut, err := New([]Candidate{c, candidates[1]})
	if err != nil || len(leftOut) != 1 || both.Judges("source-only") || !both.Judges("overconfident") || both.Shared.Run != "overconfident" {
		t.Errorf("one of two with NaN: %+v without %v, %v", both, leftOut, err)
	}
}

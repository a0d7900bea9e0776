package adapt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/experiments/model"
	"iwda/selection"
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

// problem returns a candidate that is right about the source, a twin of it that is five
// times as sure, one that sees the rows through noise, and the true classes of the target.
func problem(t *testing.T) (candidates []Candidate, truth []int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
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
		{"source-only", classifier(heldOut, sourceShares, 1), labels, classifier(target, sourceShares, 1)},
		{"overconfident", classifier(heldOut, sourceShares, 5), labels, classifier(target, sourceShares, 5)},
		{"blurred", classifier(blurredHeldOut, sourceShares, 1), labels, classifier(blurredTarget, sourceShares, 1)},
	}, truth
}

// The intervals of the target's shares hold them, as wide as chance with so many rows
// makes them, and those of the weights follow.
func TestClassIntervals(t *testing.T) {
	candidates, _ := problem(t)
	shared, err := NewShared(candidates[0])
	if err != nil {
		t.Fatal(err)
	}
	about := model.Metadata{Classes: []string{"a", "b", "c"}, Shares: model.Shares{Source: sourceShares, Target: shared.TargetShares}}
	shares, err := classShares(about, candidates[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range shares {
		truth := targetShares[i]
		if s.Interval.Low > s.Target || s.Interval.High < s.Target || truth < s.Interval.Low-0.01 || truth > s.Interval.High+0.01 {
			t.Errorf("%s: %v, estimated %v in %v", s.Class, truth, s.Target, *s.Interval)
		}
		// That of the share of 5000 rows whose classes were known is the narrowest.
		if width, least := s.Interval.High-s.Interval.Low, 3.9*math.Sqrt(truth*(1-truth)/5000); width < 0.8*least || width > 5*least {
			t.Errorf("%s: an interval of %v, with known classes %v", s.Class, width, least)
		}
		if w := s.WeightInterval(); math.Abs(w.Low*s.Source-s.Interval.Low) > 1e-12 || math.Abs(w.High*s.Source-s.Interval.High) > 1e-12 {
			t.Errorf("%s: weight in %v", s.Class, w)
		}
	}
	if err := bound(make([]ClassShare, mostBounded+1), candidates[0], nil); err == nil {
		t.Error("no error for too many classes")
	}
	for want, change := range map[string]func(*model.Metadata){
		"no estimate of the target's class shares": func(m *model.Metadata) { m.Shares.Target = nil },
		"2 classes, but shares of 3 in the source": func(m *model.Metadata) { m.Classes = m.Classes[:2] },
	} {
		other := about
		change(&other)
		if shares, err := classShares(other, candidates[0]); shares != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v, want %q", shares, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "classes.csv")
	shares[2].Interval = nil
	if err := writeClasses(path, append(shares[2:], ClassShare{Class: "none"})); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	want := fmt.Sprintf("class,source_share,estimated_target_share,target_share_low,target_share_high,weight,weight_low,weight_high\n"+
		"c,0.100000,%.6f,,,%.6f,,\nnone,0.000000,0.000000,,,0.000000,,\n", shares[2].Target, shares[2].Target/0.1)
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}

// TestShared: shares and the test of label shift are those of the problem.
func TestShared(t *testing.T) {
	candidates, _ := problem(t)
	shared, err := NewShared(candidates[1])
	if err != nil {
		t.Fatal(err)
	}
	if temperature := shared.Calibration.Temperature(); math.Abs(temperature-5) > 0.5 {
		t.Errorf("temperature %v of a network five times too sure", temperature)
	}
	for class, want := range targetShares {
		if got := shared.TargetShares[class]; math.Abs(got-want) > 0.03 {
			t.Errorf("class %d: share %v, want %v", class, got, want)
		}
	}
	if !shared.Test.Explained() {
		t.Errorf("label shift: %s", shared.Test.Verdict())
	}
	// A target whose classes lie elsewhere is not explained by other shares.
	elsewhere, _ := draw(rand.New(rand.NewPCG(3, 4)), targetShares, 5000)
	for i := range elsewhere {
		elsewhere[i] = 2 + 2*(elsewhere[i]-2)
	}
	moved := candidates[0]
	moved.TargetLogits = classifier(elsewhere, sourceShares, 1)
	if other, err := NewShared(moved); err != nil || other.Test.Explained() {
		t.Errorf("classes that lie elsewhere: %v, %v", other.Test.Verdict(), err)
	}
}

// TestChoose: the rule takes the candidate with the least loss on the target, and being
// sure is neither punished nor rewarded, but for the penalty of the calibration.
func TestChoose(t *testing.T) {
	candidates, truth := problem(t)
	shared, err := NewShared(candidates[0])
	if err != nil {
		t.Fatal(err)
	}
	choice, err := Choose(selection.TargetRisk, candidates, shared)
	if err != nil {
		t.Fatal(err)
	}
	if choice.Best == 2 {
		t.Errorf("chose %s of %+v", choice.Judged[choice.Best].Run, choice.Judged)
	}
	// The value is an estimate of the calibrated cross-entropy on the target, and what chance
	// leaves unexplained.
	for i, c := range candidates {
		calibration, err := calibration.Calibrate("bcts-ridge", c.SourceLogits.RawMatrix().Data, c.SourceLabels, 3)
		if err != nil {
			t.Fatal(err)
		}
		p, loss := calibration.Probabilities(c.TargetLogits.RawMatrix().Data), 0.0
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
	target := mat.DenseCopyOf(aligned.TargetLogits)
	for i := range target.RawMatrix().Rows { // rows of which it is not sure
		if row := target.RawRowView(i); i%3 == 0 {
			floats.Scale(0, row)
		}
	}
	sourceOnly := candidates[0]
	sourceOnly.TargetLogits = target
	shared, err := NewShared(sourceOnly)
	if err != nil {
		t.Fatal(err)
	}
	if shared.Test.Explained() {
		t.Fatal(shared.Test.Verdict())
	}
	for rule, want := range map[string]string{selection.TargetRisk: "aligned", "iwv-y": "source-only"} {
		choice, err := Choose(rule, []Candidate{sourceOnly, aligned}, shared)
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
	few := Candidate{Run: "few rows", SourceLogits: mat.NewDense(40, 3, nil), TargetLogits: c.TargetLogits}
	for i := range 40 {
		few.SourceLogits.SetRow(i, c.SourceLogits.RawRowView(i))
		few.SourceLabels = append(few.SourceLabels, min(c.SourceLabels[i], 1))
	}
	few.SourceLabels[39] = 2 // the only one, taken for another class
	few.SourceLogits.SetRow(39, []float64{4, 0, -4})
	shared, err := NewShared(few)
	if err != nil {
		t.Fatal(err)
	}
	choice, err := Choose("iwv-y", []Candidate{few}, shared)
	if err != nil {
		t.Fatal(err)
	}
	p := shared.Calibration.Probabilities(few.SourceLogits.RawMatrix().Data)
	var losses, rows [3]float64
	for i, class := range few.SourceLabels {
		losses[class] -= math.Log(p[3*i+class])
		rows[class]++
	}
	want := 0.0
	for class, q := range shared.TargetShares {
		want += q * losses[class] / rows[class]
	}
	if got := choice.Judged[0].Value; math.Abs(got-want) > 1e-9*want {
		t.Errorf("risk %v, want %v", got, want)
	}
	// A class without a row counts for nothing.
	if got := shared.weightsOver([]int{0, 0, 1, 0}); math.Abs(got[0]-shared.TargetShares[0]*4/3) > 1e-15 || got[2] != 0 {
		t.Errorf("weights %v of shares %v", got, shared.TargetShares)
	}
}

func TestChooseByAnotherRule(t *testing.T) {
	candidates, _ := problem(t)
	shared, err := NewShared(candidates[0])
	if err != nil {
		t.Fatal(err)
	}
	choice, err := Choose("source-accuracy", slices.Clone(candidates[1:3]), shared)
	if err != nil || choice.Judged[choice.Best].Run != "overconfident" || choice.Judged[1].Value != choice.Judged[1].SourceAccuracy {
		t.Errorf("%+v, %v", choice, err)
	}
	for rule, want := range map[string]string{"guess": "known are iwv-y", "dev": "the rule dev cannot be used here"} {
		if _, err := Choose(rule, candidates, shared); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", rule, err)
		}
	}
}

// A class without a held-out row gets no bias, and a network that says NaN is an error.
func TestCandidatesOutOfOrder(t *testing.T) {
	candidates, _ := problem(t)
	c := candidates[0]
	c.SourceLabels = slices.Clone(c.SourceLabels)
	for i, class := range c.SourceLabels {
		c.SourceLabels[i] = min(class, 1)
	}
	if shared, err := NewShared(c); err != nil || shared.Calibration.Form != "ts" {
		t.Errorf("no row of a class: %+v, %v", shared.Calibration, err)
	}
	c.SourceLogits = mat.DenseCopyOf(c.SourceLogits)
	c.SourceLogits.Set(7, 1, math.NaN())
	if _, err := NewShared(c); err == nil || !strings.Contains(err.Error(), "source-only: selection: SourceLogits: row 7, column 1 is NaN") {
		t.Errorf("NaN: error %v", err)
	}
}

package trust

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/inference/classshares"
	"iwda/internal/must"
	"iwda/weightest/intervals"
	"iwda/weightest/shifttest"
)

// ill is a classifier of two classes, with a signal of that strength, on source and target rows of which
// these shares are ill.
func ill(t *testing.T, signal, inSource, inTarget float64) (c Classifier, truth []int, shifted shifttest.LabelShift) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, share float64) (rows classshares.Rows, labels []int) {
		for range n {
			y := 0
			if random.Float64() < share {
				y = 1
			}
			z := signal * (random.NormFloat64() + signal*(float64(y)-0.5)) // log-odds if classes are as frequent
			rows.Values, labels = append(rows.Values, 0, float32(z)), append(labels, y)
		}
		return rows, labels
	}
	c.HeldOut, c.Labels = draw(1500, inSource)
	c.Rows, truth = draw(1200, inTarget)
	var err error
	if c.Shares, err = classshares.Fit(2, c.HeldOut, c.Labels, c.Rows, classshares.Settings{}); err != nil {
		t.Fatal(err)
	}
	corrected := c.Classifier
	corrected.Calibration = c.Corrected(c.Target())
	of := func(rows classshares.Rows) (classes []int) {
		p := corrected.Of(rows)
		for i := range len(p) / 2 {
			classes = append(classes, floats.MaxIdx(p[2*i:2*i+2]))
		}
		return classes
	}
	c.OwnHeldOut, c.Own = of(c.HeldOut), of(c.Rows)
	if shifted, err = shifttest.LabelShiftTest(c.Sample, shifttest.LabelShiftSettings{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	return c, truth, shifted
}

func (c Classifier) known(t testing.TB, test shifttest.LabelShift) Known {
	t.Helper()
	claimed, corrected := 0.0, must.Have(c.Correct(0, len(c.Own)))(t)
	for i, class := range c.Own {
		claimed += corrected[2*i+class] / float64(len(c.Own))
	}
	return Of([]string{"no", "sepsis"}, c, Predictions{c.Own, c.Sample.Target(), claimed}, Evidence{Test: test, Bootstrap: intervals.BootstrapSettings{Replicas: 100, Level: 0.95, Seed: 1}})
}

// A weak signal of a rare class finds none of its rows: that is the headline, and no need is met, however
// many predictions are right.
func TestLost(t *testing.T) {
	c, truth, test := ill(t, 0.5, 0.09, 0.12)
	k := c.known(t, test)
	right := 0.0
	for i, class := range c.Own {
		if class == truth[i] {
			right += 1 / float64(len(truth))
		}
	}
	if right < 0.85 {
		t.Fatalf("%v are right", right)
	}
	if said := k.Headline(); !strings.HasPrefix(said, `no row is predicted as "sepsis"; `) && !strings.HasPrefix(said, "only ") || !strings.HasSuffix(said, "% should be") {
		t.Errorf("%q", said)
	}
	answers := k.Answers(nil)
	if Together(answers) != No || answers[1].Answer != No {
		t.Errorf("%+v", answers)
	}
	unmet := (*Unmet)(nil)
	if err := Check(answers); !errors.As(err, &unmet) || unmet.ExitStatus() != 3 {
		t.Errorf("%v", err)
	}
	if a := k.Cases[0].Accuracy; *a.Low > right || *a.High < right {
		t.Errorf("%v, but %v are right", a, right)
	}
}

// A class of which no row is predicted may be lost, though its share is estimated to be below what is worth finding.
func TestPerhapsLost(t *testing.T) {
	share, low, high := 0.01, 0.0, 0.11
	k := Known{Rows: 1000, Classes: []Class{{Name: "no", Predicted: 1, Share: Number{Value: new(float64)}}, {Name: "sepsis", Share: Number{&share, &low, &high}}}}
	if lost := k.Answers(nil)[1]; lost.Answer != Untold || lost.Because != `no row is predicted as "sepsis"; up to 11% may be` {
		t.Errorf("%+v", lost)
	}
	k.Classes[1].Predicted = 0.005
	if lost := k.Answers(nil)[1]; lost.Answer != Yes {
		t.Errorf("%+v", lost)
	}
	k.Classes[1].Predicted, high = 0, 0.015
	if lost := k.Answers(nil)[1]; lost.Answer != Yes {
		t.Errorf("%+v", lost)
	}
}

// Predictions are not said to be worse than always one class by a share that nothing is known of.
func TestNotWorseThanWhatIsNotKnown(t *testing.T) {
	for low, want := range map[float64]string{0.01: Untold, 0.8: No} {
		k := Known{Rows: 1000, Classes: []Class{{Name: "no", Predicted: 0.6, Share: NumberOf(0.85, low, 1)}, {Name: "yes", Predicted: 0.4, Share: NumberOf(0.15, 0, 1-low)}}}
		k.Cases = []Case{{If: OnlyShares, Accuracy: NumberOf(0.5, 0.22, 0.74)}}
		if better := k.Answers(nil)[0]; better.Answer != want {
			t.Errorf("%+v, want %s", better, want)
		}
	}
}

// Whoever assumes nothing knows no more than who assumes that class shares alone differ.
func TestFloorBelowInterval(t *testing.T) {
	for _, apart := range []float64{0.5, 1, 4} {
		c, _, test := ill(t, apart, 0.3, 0.5)
		k := c.known(t, test)
		shares, anything := k.Cases[0].Accuracy.Low, k.Cases[2].Accuracy.Low
		if k.Rejected != "" || shares == nil || anything != nil && *anything > *shares {
			t.Errorf("%v apart: at least %v, and at least %v if only class shares differ; %s", apart, k.Cases[2].Accuracy, k.Cases[0].Accuracy, k.Rejected)
		}
	}
}

// Claims far from what follows from shares and recalls, too high or too low, change nothing.
func TestClaims(t *testing.T) {
	c, _, test := ill(t, 4, 0.3, 0.5)
	doubtful := slices.Repeat([]float64{0.4, 0.6}, len(c.Own))
	for i, class := range c.Own {
		doubtful[2*i+class], doubtful[2*i+1-class] = 0.6, 0.4
	}
	cases := Of([]string{"no", "sepsis"}, c, Predictions{c.Own, doubtful, 0.6}, Evidence{Test: test}).Cases
	if floor := cases[2].Accuracy.Low; floor == nil || *floor < 0.7 || *cases[1].Accuracy.Value != *floor {
		t.Errorf("%+v", cases)
	}
	usual := Evidence{Test: test, Bootstrap: intervals.BootstrapSettings{Replicas: 100, Level: 0.95, Seed: 1}}
	said := func(claimed float64) Number {
		return Of([]string{"no", "sepsis"}, c, Predictions{c.Own, c.Sample.Target(), claimed}, usual).Cases[0].Accuracy
	}
	want := c.known(t, test).Cases[0].Accuracy
	for _, claimed := range []float64{0.5, 0.7} {
		if got := said(claimed); math.Abs(*got.Value-*want.Value) > 0.02 || math.Abs(*got.Low-*want.Low) > 0.02 {
			t.Errorf("claims of %v make %v of %v", claimed, got, want)
		}
	}
}

// A strong signal is enough, and needs are answered by the numbers that are given.
func TestNeeds(t *testing.T) {
	c, _, test := ill(t, 4, 0.3, 0.5)
	k := c.known(t, test)
	if all := Together(k.Answers(nil)); all != Yes || k.Lost() != "" || Check(k.Answers(nil)) != nil {
		t.Errorf("%v: %+v", all, k.Answers(nil))
	}
	if said := k.Headline(); !strings.Contains(said, "of the predictions should be right, if only class shares differ") {
		t.Errorf("%q", said)
	}
	for text, want := range map[string]string{
		"accuracy >= 0.9": Yes, "accuracy>=0.999": No, " recall( sepsis ) >= 0.9": Yes, "recall(\"sepsis\") >= 0.99": Untold, "precision(no) >= 0.5": Yes,
		"share(sepsis) within 0.1": Yes, "share(sepsis) within 0.001": Untold,
	} {
		needs := must.Have(ParseNeeds([]string{text}, []string{"no", "sepsis"}))(t)
		if got := k.Answers(needs); len(got) != 1 || got[0].Answer != want || got[0].Because == "" {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
	untold := []Answer{{Answer: Yes}, {Answer: Untold}}
	unmet := (*Unmet)(nil)
	if !errors.As(Check(untold), &unmet) || unmet.ExitStatus() != 4 || Together(append(untold, Answer{Answer: No})) != No {
		t.Error(unmet)
	}
	for text, want := range map[string]string{"accuracy > 0.9": "want accuracy >= 0.9", "recall(x) >= 0.5": `there is no class "x"`, "accuracy >= 90": "no share from 0 to 1", "": "want accuracy"} {
		if _, err := ParseNeeds([]string{text}, []string{"no", "sepsis"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// If more than class shares changed, no estimate of shares, recall or precision answers anything, and the
// headline says what follows from a selection of rows.
func TestRejected(t *testing.T) {
	c, _, test := ill(t, 4, 0.3, 0.5)
	test.P, test.DegreesOfFreedom = 1e-6, 3
	k := c.known(t, test)
	if k.Rejected == "" || k.Cases[0].Against == "" || k.Cases[1].For == "" || k.Classes[1].Share.Low != nil || k.Classes[1].Recall.Low != nil {
		t.Errorf("%+v", k)
	}
	if said := k.Headline(); !strings.HasPrefix(said, "more than the class shares changed; about ") {
		t.Errorf("%q", said)
	}
	// With half of the rows predicted as either class a floor above three quarters is above the share of any.
	for floor, want := range map[float64]string{0.74: Untold, 0.76: Yes} {
		k.Cases[2].Accuracy.Low, k.Classes[0].Predicted, k.Classes[1].Predicted = &floor, 0.5, 0.5
		if a := k.Answers(nil)[0]; a.Answer != want || !strings.Contains(a.Because, "no class then has more than 7") {
			t.Errorf("a floor of %v: %+v, want %s", floor, a, want)
		}
	}
	needs, _ := ParseNeeds([]string{"recall(sepsis) >= 0.1", "share(sepsis) within 0.9"}, nil)
	for _, a := range k.Answers(needs) {
		if a.Answer != Untold {
			t.Errorf("%+v", a)
		}
	}
	if k := Nothing([]string{"a"}, "nobody knows"); k.Headline() == "" || k.Cases[2].Missing != "nobody knows" {
		t.Errorf("%+v", k)
	}
}

package classshares_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/inference/classshares"
	"iwda/internal/convert"
	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/shifttest"
)

// The problem of these tests: three classes on a line, of which the first is frequent in the
// source and rare in the target.
var (
	sourceShares = []float64{0.7, 0.2, 0.1}
	targetShares = []float64{0.1, 0.3, 0.6}
)

// onLine draws n rows of those class shares and returns what a classifier says of them that
// knows the source, its logits times a factor, with their classes.
func onLine(random *rand.Rand, shares []float64, n int, sharpness float64) (rows classshares.Rows, classes []int) {
	for range n {
		u, class := random.Float64(), 0
		for u > shares[class] && class < len(shares)-1 {
			u -= shares[class]
			class++
		}
		x := 2*float64(class) + random.NormFloat64()
		for c, share := range sourceShares {
			d := x - 2*float64(c)
			rows.Values = append(rows.Values, float32(sharpness*(math.Log(share)-d*d/2)))
		}
		classes = append(classes, class)
	}
	return rows, classes
}

// A classifier that is five times too sure is calibrated to one that is not, the shares are near
// the truth, and what is read stays as it was.
func TestFit(t *testing.T) {
	for _, sharpness := range []float64{1, 5} {
		random := rand.New(rand.NewPCG(1, 2))
		heldOut, labels := onLine(random, sourceShares, 3000, sharpness)
		target, _ := onLine(random, targetShares, 5000, sharpness)
		before := slices.Clone(target.Values)
		s := must.Have(classshares.Fit(3, heldOut, labels, target, classshares.Settings{}))(t)
		if math.Abs(s.Temperature()-sharpness) > 0.1*sharpness {
			t.Errorf("temperature %v of logits times %v", s.Temperature(), sharpness)
		}
		if floats.Distance(s.Target(), targetShares, math.Inf(1)) > 0.03 {
			t.Errorf("shares %v, want %v", s.Target(), targetShares)
		}
		if logits := s.Logits(target); math.Abs(logits.At(7, 1)-(s.Scales[1]*float64(target.Values[7*3+1])+s.Biases[1])) > 1e-12 || !slices.Equal(target.Values, before) {
			t.Error("other logits, or the rows were changed")
		}
	}
}

// The test of label shift reads what the classifier says, whatever calibration was fitted; of probabilities that
// are rounded too, and without a calibration those of the sample.
func TestLabelShiftOfProbabilitiesAsGiven(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	heldOut, labels := onLine(random, sourceShares, 600, 2)
	target, _ := onLine(random, targetShares, 900, 2)
	how, found := shifttest.LabelShiftSettings{Seed: 1}, map[string]shifttest.LabelShift{}
	for _, form := range []string{calibration.None, "ts", classshares.DefaultCalibration} {
		s := must.Have(classshares.Fit(3, heldOut, labels, target, classshares.Settings{Calibration: form}))(t)
		found[form] = must.Have(s.TestLabelShift(how))(t)
		if as := must.Have(shifttest.LabelShiftTest(s.Sample, how))(t); form != "ts" && (as.P == found[form].P) != (form == calibration.None) {
			t.Errorf("%s: p = %v of the sample and %v of what was given", form, as.P, found[form].P)
		}
	}
	if found["ts"].P != found[calibration.None].P || found[classshares.DefaultCalibration].P != found[calibration.None].P || !found["ts"].Tested() {
		t.Errorf("%+v", found)
	}
	rounded := func(rows classshares.Rows) classshares.Rows {
		probabilities := calibration.Identity(3).Probabilities(convert.Slice[float64](rows.Values))
		for i, p := range probabilities {
			probabilities[i] = math.Round(20*p) / 20
		}
		return classshares.Rows{Values: convert.Slice[float32](probabilities), Probabilities: true}
	}
	s := must.Have(classshares.Fit(3, rounded(heldOut), labels, rounded(target), classshares.Settings{}))(t)
	if test, err := s.TestLabelShift(how); err != nil || !test.Tested() {
		t.Errorf("%+v, %v", test, err)
	}
}

// Without a held-out row of a class no bias is fitted, and the probabilities speak for the
// shares in training.
func TestMissingClass(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	heldOut, labels := onLine(random, sourceShares, 3000, 5)
	for i, label := range labels {
		labels[i] = min(label, 1)
	}
	for _, trained := range [][]float64{nil, {0.5, 0.25, 0.25}} {
		c, err := classshares.Calibrate(3, heldOut, labels, classshares.Settings{Trained: trained})
		if err != nil || c.Form != "ts" || trained != nil && !slices.Equal(c.SpeaksFor, trained) || trained == nil && c.SpeaksFor[2] != 0 {
			t.Errorf("%+v, %v", c, err)
		}
		if _, err := classshares.Calibrate(3, heldOut, labels, classshares.Settings{Calibration: classshares.DefaultCalibration}); !errors.Is(err, weightest.ErrMissingClass) {
			t.Errorf("a calibration that was asked for: %v", err)
		}
	}
	for _, wrong := range [][]float64{{1, 1}, {1, 0, 1}, {1, math.NaN(), 1}} {
		if _, err := classshares.Calibrate(3, heldOut, labels, classshares.Settings{Trained: wrong}); err == nil {
			t.Errorf("shares in training %v", wrong)
		}
	}
	labels[4] = 3
	if _, err := classshares.Calibrate(3, heldOut, labels, classshares.Settings{}); !errors.Is(err, weightest.ErrInvalidRow) {
		t.Errorf("label 3 of 3 classes: %v", err)
	}
}

// What a classifier of equal shares says is turned into what one of the source's shares would,
// so that the estimate of the target's is that of calibrated probabilities.
func TestSampleOfABalancedClassifier(t *testing.T) {
	z := func(p ...float64) (rows classshares.Rows) {
		for _, p := range p {
			rows.Values = append(rows.Values, float32(math.Log(p)), float32(math.Log(1-p)))
		}
		return rows
	}
	labels := []int{0, 0, 0, 1} // shares 3/4 and 1/4
	source, target := z(0.9, 0.8, 0.6, 0.2), z(0.5)
	for name, c := range map[string]classshares.Classifier{
		"speaks for equal shares": {Calibration: calibration.Identity(2), SpeaksFor: []float64{0.5, 0.5}},
		"by its settings":         made(t, source, labels, []float64{0.5, 0.5}),
	} {
		sample := must.Have(c.Sample(source, labels, target))(t)
		rows, _ := sample.Source()
		// 0.9·3/4 and 0.1·1/4; 0.2·3/4 and 0.8·1/4; 0.5·3/4 and 0.5·1/4
		for what, pair := range map[string][2]float64{"first": {rows[0], 27. / 28}, "last": {rows[6], 3. / 7}, "target's": {sample.Target()[0], 0.75}} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				t.Errorf("%s: %s row: %v, want %v", name, what, pair[0], pair[1])
			}
		}
	}
	sample, err := made(t, source, labels, nil).Sample(source, labels, target)
	if err != nil || math.Abs(sample.Target()[0]-0.5) > 1e-6 {
		t.Errorf("uncorrected: %v, %v", sample.Target(), err)
	}
}

func made(t *testing.T, heldOut classshares.Rows, labels []int, trained []float64) classshares.Classifier {
	t.Helper()
	return must.Have(classshares.Calibrate(2, heldOut, labels, classshares.Settings{Calibration: calibration.None, Trained: trained}))(t)
}

// Held-out rows that are told apart by far determine no calibration, and the probabilities go
// on speaking for the shares of the loss: the estimate is that for these, and not the one that
// takes them for the held-out rows'.
func TestSeparatedRows(t *testing.T) {
	heldOut, target, labels := classshares.Rows{Values: make([]float32, 100)}, classshares.Rows{Values: make([]float32, 800)}, make([]int, 50)
	for i := range 50 {
		labels[i] = i / 40 // shares of 0.8 and 0.2
		heldOut.Values[2*i+labels[i]] = 90
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		target.Values[2*i+i%2] = float32(0.5 + random.NormFloat64())
	}
	balanced := []float64{0.5, 0.5}
	got, err := classshares.Fit(2, heldOut, labels, target, classshares.Settings{Trained: balanced})
	if err != nil || got.Form != calibration.None || !slices.Equal(got.SpeaksFor, balanced) {
		t.Fatalf("calibration %+v, %v", got, err)
	}
	wrong, err := classshares.Fit(2, heldOut, labels, target, classshares.Settings{Trained: []float64{0.8, 0.2}})
	if err != nil || math.Abs(wrong.Target()[0]-got.Target()[0]) < 0.05 {
		t.Errorf("shares %v whether the loss was balanced or not, %v", wrong.Target(), err)
	}
}

// Corrected probabilities are those times q/p, and 0 for a class that q lacks.
func TestCorrected(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	heldOut, labels := onLine(random, sourceShares, 500, 2)
	c := must.Have(classshares.Calibrate(3, heldOut, labels, classshares.Settings{}))(t)
	for _, q := range [][]float64{targetShares, {0.4, 0.6, 0}} {
		want := must.Have(weightest.Correct(c.Of(heldOut), q, c.SpeaksFor))(t)
		got := c.Corrected(q).Probabilities(convert.Slice[float64](heldOut.Values))
		if floats.Distance(got, want, math.Inf(1)) > 1e-12 {
			t.Errorf("for %v %v, want %v", q, got[:6], want[:6])
		}
	}
}

func TestEvenly(t *testing.T) {
	rows := classshares.Rows{Values: []float32{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}}
	if got := rows.Evenly(2, 2).Values; len(got) != 4 || got[0] != got[1] || got[2] != got[3] || got[0] >= got[2] {
		t.Error(got)
	}
	if got := rows.Evenly(2, 5).Values; len(got) != 10 {
		t.Error(got)
	}
}

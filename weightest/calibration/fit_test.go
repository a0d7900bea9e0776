package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/internal/weighttest"
)

// randomLogits draws labels and logits that tell them to some degree, over-confident
// and biased.
func randomLogits(r *rand.Rand, n, k int) ([]float64, []int) {
	logits, labels := make([]float64, n*k), make([]int, n)
	for i := range n {
		labels[i] = i % k
		for j := range k {
			logits[i*k+j] = 3*r.NormFloat64() + float64(j%3)
		}
		logits[i*k+labels[i]] += 2
	}
	return logits, labels
}

// The optimality conditions, by differences of losses that are computed here once more,
// under every constraint: s ≥ 0, and s of negative use at 0.
func TestCalibrateIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	for _, k := range []int{2, 3, 7} {
		logits, labels := randomLogits(r, 300, k)
		for i := range labels {
			logits[i*k] = -logits[i*k] // no scale but 0 is of use to class 0
		}
		for _, name := range []string{"ts", "bcts", "nbvs", "vs"} {
			got, err := Calibrate(name, logits, labels, k)
			if err != nil || got.Note != "" {
				t.Fatalf("%s, %d classes: %v %s", name, k, err, got.Note)
			}
			if strings.HasSuffix(name, "vs") && got.Scales[0] != 0 {
				t.Errorf("%s: scale %v of a logit that misleads", name, got.Scales[0])
			}
			base := meanLogLoss(got, logits, labels)
			for range 50 {
				moved := got
				moved.Scales, moved.Biases = slices.Clone(got.Scales), slices.Clone(got.Biases)
				common := 1e-3 * r.NormFloat64()
				for j := range k {
					if strings.HasSuffix(name, "vs") {
						moved.Scales[j] = max(0, moved.Scales[j]+1e-3*r.NormFloat64())
					} else {
						moved.Scales[j] += common
					}
					if name == "bcts" || name == "vs" {
						moved.Biases[j] += 1e-3 * r.NormFloat64()
					}
				}
				if loss := meanLogLoss(moved, logits, labels); loss < base-1e-14 {
					t.Fatalf("%s, %d classes: log-loss %v, near it %v", name, k, base, loss)
				}
			}
		}
	}
}

func meanLogLoss(c Calibration, logits []float64, labels []int) float64 {
	k := len(c.Scales)
	var loss float64
	for i, row := range c.Probabilities(logits) {
		if i%k == labels[i/k] {
			loss -= math.Log(row)
		}
	}
	return loss / float64(len(labels))
}

func TestCalibrateFallsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	logits, labels := randomLogits(r, 90, 3)
	constant := make([]float64, len(logits))
	separated, misleading := slices.Clone(logits), slices.Clone(logits)
	for i, label := range labels {
		separated[i*3+label] = 30
		misleading[i*3+label] -= 20
	}
	single := make([]int, len(labels))
	ofClass0 := slices.Clone(logits)
	for i := range single {
		ofClass0[i*3] = 20
	}
	for name, test := range map[string]struct {
		form   string
		logits []float64
		labels []int
		want   string
		text   string
	}{
		"separated, vs":    {"vs", separated, labels, "none", "vs has no optimum, as it separates the rows"},
		"separated, bcts":  {"bcts", separated, labels, "none", "ts instead; ts has no optimum, as it separates"},
		"separated, nbvs":  {"nbvs", separated, labels, "none", "ts instead"},
		"separated, ts":    {"ts", separated, labels, "none", "none instead"},
		"constant, ts":     {"ts", constant, labels, "none", "the rows do not tell its parameters"},
		"constant, bcts":   {"bcts", constant, labels, "none", "the rows do not tell its parameters"},
		"misleading, ts":   {"ts", misleading, labels, "none", "do not tell their labels"},
		"misleading, bcts": {"bcts", misleading, labels, "none", "do not tell their labels"},
		"one class, ts":    {"ts", ofClass0, single, "none", "separates the rows"},
	} {
		got, err := Calibrate(test.form, test.logits, test.labels, 3)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Form != test.want || !strings.Contains(got.Note, test.text) {
			t.Errorf("%s: %s, %q, want %s with %q", name, got.Form, got.Note, test.want, test.text)
		}
		for _, p := range got.Probabilities(test.logits) {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("%s: probability %v", name, p)
			}
		}
	}
}

// What bcts-ridge is for: with few rows a class its biases stay small where the classifier has
// none, whatever class shares it speaks for; with many rows they are those of bcts.
func TestCalibrateRidge(t *testing.T) {
	const k = 6
	shares := []float64{0.4, 0.25, 0.15, 0.1, 0.06, 0.04}
	// Logits of z = 2e_y + noise are right for equal shares, once each is doubled.
	draw := func(rows int) (logits []float64, labels []int) {
		r := rand.New(rand.NewPCG(51, uint64(rows)))
		for i := range rows {
			label := 0
			for left := (float64(i) + 0.5) / float64(rows); left > shares[label]; label++ {
				left -= shares[label]
			}
			labels = append(labels, label)
			for j := range k {
				z := r.NormFloat64()
				if j == label {
					z += 2
				}
				logits = append(logits, z)
			}
		}
		return logits, labels
	}
	wanted := make([]float64, k) // log shares
	for j, share := range shares {
		wanted[j] = math.Log(share)
	}
	floats.AddConst(-floats.Sum(wanted)/k, wanted)
	fit := func(name string, rows int) []float64 {
		logits, labels := draw(rows)
		c, err := Calibrate(name, logits, labels, k)
		if err != nil || c.Form != name {
			t.Fatal(c, err)
		}
		return c.Biases
	}
	few := map[string]float64{}
	for _, name := range []string{"bcts", "bcts-ridge"} {
		few[name] = floats.Distance(fit(name, 50), wanted, 2)
	}
	if few["bcts-ridge"] > 0.5*few["bcts"] {
		t.Errorf("distances from the logarithms of the shares: %v", few)
	}
	if many := floats.Distance(fit("bcts-ridge", 60000), fit("bcts", 60000), 2); many > 0.02 {
		t.Errorf("with 60,000 rows the biases are %v apart", many)
	}
	// The same rows, spoken of by a classifier for other shares.
	logits, labels := draw(50)
	other := slices.Clone(logits)
	for i := range labels {
		for j := range k {
			other[i*k+j] += 0.7 * math.Log((float64(histogram(labels, k)[j])+0.5)/50)
		}
	}
	plain := calibrate(t, "bcts-ridge", logits, labels, k)
	moved := calibrate(t, "bcts-ridge", other, labels, k)
	if d := weighttest.LargestDifference(plain.Probabilities(logits), moved.Probabilities(other)); d > 1e-9 {
		t.Errorf("probabilities differ by %v where the classifier speaks for other shares", d)
	}
}

func histogram(labels []int, k int) []int {
	counts := make([]int, k)
	for _, label := range labels {
		counts[label]++
	}
	return counts
}

// TestCalibrateAtScaleZero has rows of which half are right: the scale's optimum is 0, and
// what rounding leaves of it is no calibration.
func TestCalibrateAtScaleZero(t *testing.T) {
	for _, form := range []string{"ts", "bcts"} {
		c, err := Calibrate(form, []float64{1, 0, 0, 1, 1, 0, 0, 1}, []int{0, 1, 1, 0}, 2)
		if err != nil || c.Form != "none" || !strings.Contains(c.Note, "do not tell their labels") {
			t.Errorf("%s: %+v, %v; want none, as the rows' logits do not tell their labels", form, c, err)
		}
	}
}

// Logits that are far too small are not held to the scale 1 if the rows tell theirs, and
// resamples are not either. Few rows leave the penalty, as do logits that are too large.
func TestOtherUnit(t *testing.T) {
	// Logits 2z of z = 2e_y + noise are right.
	r := rand.New(rand.NewPCG(44, 1))
	logits, labels := make([]float64, 3*400), make([]int, 400)
	for i := range logits {
		labels[i/3] = i / 3 % 3
		logits[i] = 2 * r.NormFloat64()
		if i%3 == labels[i/3] {
			logits[i] += 4
		}
	}
	scaled := func(factor float64, rows int) ([]float64, []int) {
		other := slices.Clone(logits[:3*rows])
		floats.Scale(factor, other)
		return other, labels[:rows]
	}
	fit := func(factor float64, rows int) Calibration {
		other, labels := scaled(factor, rows)
		c := calibrate(t, "bcts-ridge", other, labels, 3)
		return c
	}
	usual := fit(1, 400)
	for _, factor := range []float64{0.01, 0.1, 0.3} {
		c := fit(factor, 400)
		if ratio := c.Scales[0] * factor / usual.Scales[0]; c.Form != "bcts-ridge-free" || !strings.Contains(c.Note, "no logarithms of probabilities") || math.Abs(ratio-1) > 0.05 {
			t.Errorf("logits times %v: %s of scale %v, which is %v times what it should be; %s", factor, c.Form, c.Scales[0], ratio, c.Note)
		}
		other, labels := scaled(factor, 400)
		r := must.Have(c.OnResamples(other, labels))(t)
		random, counts := rand.New(rand.NewPCG(44, 2)), make([]int, 400)
		for range 400 {
			counts[random.IntN(400)]++
		}
		if again := r.Fit(counts, random); math.Abs(again.Scales[0]/c.Scales[0]-1) > 0.4 {
			t.Errorf("logits times %v: scale %v in a resample, %v in the sample", factor, again.Scales[0], c.Scales[0])
		}
	}
	for _, c := range []Calibration{usual, fit(0.7, 400), fit(5, 400), fit(100, 400), fit(0.1, 12)} {
		if c.Form != "bcts-ridge" || c.Note != "" {
			t.Errorf("%s of scale %v, %s", c.Form, c.Scales[0], c.Note)
		}
	}
}

// Logits of a network that has diverged are too large for a gradient to be told to ten digits.
func TestCalibrateHugeLogits(t *testing.T) {
	logits := []float64{
		28264224, -48182992, 19914318, -86111376, 44105732, 42008868, 86431104, -62968796, -23461698,
		-6224204.5, 3269455, 2955057.75, -26170618, 8192714, 17977128, -17323274, 2863582, 14458822,
		-28039734, 13345297, 14695523, -28550734, 13832273, 14719915, 461624.15625, -3804900, 3342970,
	}
	labels := []int{2, 1, 0, 1, 2, 2, 1, 1, 0}
	for _, form := range []string{"ts", "bcts-ridge"} {
		c, err := Calibrate(form, logits, labels, 3)
		if err != nil || !(meanLogLoss(c, logits, labels) < math.Log(3)) {
			t.Errorf("%s: %+v, %v", form, c, err)
		}
	}
	// The squares of these are finite only just.
	const k = 10
	logits, labels = weighttest.ShiftedLogits(rand.New(rand.NewPCG(77, 18)), 1000, slices.Repeat([]float64{1. / k}, k))
	floats.Scale(1e150, logits)
	for _, form := range []string{"ts", "bcts", "bcts-ridge", "vs"} {
		c, err := Calibrate(form, logits, labels, k)
		if err != nil || c.Form != form || !(meanLogLoss(c, logits, labels) < math.Log(k)) {
			t.Errorf("logits to 1e150, %s: %s, %v", form, c.Form, err)
		}
	}
}

// Classes that are too many for the Hessian have the optimum too, which their gradient shows: without penalties of a form, of one that
// is shrunk, and of one whose scale is freed.
func TestManyClasses(t *testing.T) {
	const k, n = weightest.MostDense + 20, 3 * (weightest.MostDense + 20)
	r := rand.New(rand.NewPCG(7, 1))
	logits, labels := make([]float64, 0, n*k), make([]int, n)
	for i := range labels {
		labels[i] = i % k
		for j := range k {
			z := r.NormFloat64()
			if j == i%k {
				z += 3
			}
			logits = append(logits, z)
		}
	}
	for name, want := range map[string]string{"ts": "ts", "bcts": "bcts", "bcts-ridge": "bcts-ridge-free"} {
		c, err := Calibrate(name, logits, labels, k)
		if err != nil || c.Form != want || c.Gradient > 1e-10 {
			t.Errorf("%s: %s of gradient %v, %v: %s", name, c.Form, c.Gradient, err, c.Note)
		}
	}
	if _, err := Identity(k).OnResamples(logits, labels); err != nil {
		t.Error("without parameters:", err)
	}
	if _, err := (Calibration{Form: "ts", Scales: make([]float64, k), Biases: make([]float64, k)}).OnResamples(logits, labels); err == nil {
		t.Error("no error of resamples")
	}
}

func calibrate(t testing.TB, name string, logits []float64, labels []int, k int) Calibration {
	t.Helper()
	return must.Have(Calibrate(name, logits, labels, k))(t)
}

package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/must"
)

// few returns logits of three classes, too sure by half and biased, with labels.
func few(n int) (logits []float64, labels []int) {
	random := rand.New(rand.NewPCG(5, 5))
	for i := range n {
		for j := range 3 {
			z := 0.3 * float64(j)
			if j == i%3 {
				z += 2.5
			}
			logits = append(logits, 1.5*(z+1.5*random.NormFloat64()))
		}
		labels = append(labels, i%3)
	}
	return logits, labels
}

// A refit is the fit to the rows that the counts repeat.
func TestResamplerFitsRepeatedRows(t *testing.T) {
	logits, labels := few(300)
	random := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"ts", "bcts", "nbvs", "vs"} {
		c := calibrate(t, name, logits, labels, 3)
		r := must.Have(c.OnResamples(logits, labels))(t)
		for range 10 {
			counts := make([]int, len(labels))
			var repeated []float64
			var theirs []int
			for i := range counts {
				counts[i] = random.IntN(3)
				for range counts[i] {
					repeated, theirs = append(repeated, logits[3*i:3*i+3]...), append(theirs, labels[i])
				}
			}
			want := calibrate(t, name, repeated, theirs, 3)
			got := r.Fit(counts, random)
			// A hundredth of a standard error is some 0.001.
			if !floats.EqualApprox(got.Scales, want.Scales, 0.004) || !floats.EqualApprox(got.Biases, want.Biases, 0.004) {
				t.Errorf("%s: %v and %v, want %v and %v", name, got.Scales, got.Biases, want.Scales, want.Biases)
			}
		}
	}
}

// Where a resample has three times the mistakes, a step of the sample's Hessian goes too far, and
// a shorter one does not. Margins are 1, so that the scale is the logarithm of the odds.
func TestResamplerTakesShorterSteps(t *testing.T) {
	const rows = 100
	logits, labels, counts := make([]float64, 2*rows), make([]int, rows), make([]int, rows)
	for i := range rows {
		logits[2*i], counts[i] = 1, 1
	}
	labels[0], counts[0] = 1, 3
	c := calibrate(t, "ts", logits, labels, 2)
	r := must.Have(c.OnResamples(logits, labels))(t)
	got := r.Fit(counts, rand.New(rand.NewPCG(1, 1))).Scales[0]
	if want := math.Log(99. / 3); math.Abs(got-want) > 0.02 || math.Abs(c.Scales[0]-math.Log(99)) > 1e-6 {
		t.Errorf("scale %v, want %v; of the sample it is %v", got, want, c.Scales[0])
	}
}

// The centre of a penalty is drawn as far off as the rows show the truth to be: biases of half
// a unit are found, and with few rows the penalty is believed.
func TestResamplerSpreads(t *testing.T) {
	for _, c := range []struct {
		rows      int
		low, high float64 // of the biases' deviation
	}{{30, 0.15, 0.5}, {6000, 0.3, 0.6}} {
		logits, labels := few(c.rows)
		fitted := calibrate(t, "bcts-ridge", logits, labels, 3)
		r := must.Have(fitted.OnResamples(logits, labels))(t)
		if s := r.spread; s[0] < scaleDeviation || s[0] > 2*scaleDeviation || s[1] < c.low || s[1] > c.high {
			t.Errorf("%d rows: scale %.2f, biases %.2f", c.rows, s[0], s[1])
		}
	}
	if r, err := Identity(3).OnResamples([]float64{1, 2, 3}, []int{0}); r != nil || err != nil {
		t.Errorf("a calibration without parameters: %v, %v", r, err)
	}
}

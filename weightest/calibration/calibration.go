// Package calibration makes a classifier's probabilities right on its held-out source rows,
// as estimates of class shares need them, weightest.MLLS above all: Calibrate fits a
// Calibration to their labels.
package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/convert"
	"iwda/internal/simd"
	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

// Calibration makes probabilities of logits z (k):
//
//	p = softmax(s∘z + b).
type Calibration struct {
	Form   string    // the form that was fitted
	Scales []float64 // s, length k, not negative
	Biases []float64 // b, length k, of sum 0
	// Gradient is the largest entry of the gradient of the loss, in the form's parameters and
	// projected on s ≥ 0: 0 at the optimum.
	Gradient float64
	// Note says why Form is not the one that was asked for; empty where it is.
	Note string
}

// Temperature returns T = 1/s, where all scales are the same.
func (c Calibration) Temperature() float64 { return 1 / c.Scales[0] }

// Probabilities returns the calibrated probabilities of logits, both row-major n×k. It
// panics where the length is no multiple of k.
func (c Calibration) Probabilities(logits []float64) []float64 {
	k := len(c.Scales)
	if len(logits)%k != 0 {
		panic(fmt.Sprintf("calibration: %d logits are no rows of %d classes", len(logits), k))
	}
	p := make([]float64, len(logits))
	rows := &panels.Panels{Rows: len(p) / k, Classes: k}
	rows.EachGroup(16*k, func(_, firstPanel, lastPanel int) {
		storage := make([]float64, (k+2)*panels.Height)
		for i := firstPanel; i < lastPanel; i++ {
			first, height := rows.Extent(i)
			c.calibrate(p[first*k:(first+height)*k], logits[first*k:], storage)
		}
	})
	return p
}

// calibrate sets the rows of p, those of a panel at most.
func (c Calibration) calibrate(p, logits, storage []float64) {
	k := len(c.Scales)
	height := len(p) / k
	panel := storage[2*panels.Height:]
	column := func(j int) []float64 { return panel[j*height : (j+1)*height] }
	largest, sum := storage[:height], storage[panels.Height:panels.Height+height]
	for row := range height {
		largest[row], sum[row] = math.Inf(-1), 0
	}
	simd.Transpose(panel, logits, height, k, height, k)
	for j := range k {
		simd.Raise(largest, column(j), simd.Affine{Scale: c.Scales[j], Shift: c.Biases[j]})
	}
	for j := range k {
		simd.AddExp(column(j), column(j), largest, sum, simd.Affine{Scale: c.Scales[j], Shift: c.Biases[j]})
	}
	for row, total := range sum {
		sum[row] = 1 / total
	}
	for j := range k {
		floats.Mul(column(j), sum)
	}
	simd.Transpose(p, panel, k, height, k, height)
}

// form is a family of calibrations.
type form struct {
	name    string
	vector  bool   // a scale for each class instead of one for all
	biases  bool   // biases that are not 0
	shrunk  bool   // biases that a penalty draws towards what class shares explain, and a scale towards 1
	free    bool   // a scale that none draws
	simpler string // what is fitted instead where this one has no optimum
}

// None is the name of the calibration that leaves probabilities as they are.
const None = "none"

// forms are in the order of Names.
var forms = []form{
	{name: None},
	{name: "ts", simpler: None},
	{name: "bcts", biases: true, simpler: "ts"},
	{name: "bcts-ridge", biases: true, shrunk: true, simpler: "ts"},
	{name: "nbvs", vector: true, simpler: "ts"},
	{name: "vs", vector: true, biases: true, simpler: "bcts"},
}

// freed is bcts-ridge for logits of another unit; see Calibrate.
var freed = form{name: "bcts-ridge-free", biases: true, shrunk: true, free: true, simpler: "ts"}

// Names returns the names that Calibrate knows.
func Names() []string {
	return convert.Each(forms, func(f form) string { return f.name })
}

// Calibrate fits the calibration of the name to held-out source rows: logits, row-major
// n×k, and n labels, by the least mean of -log p_y:
//
//   - none: s = 1, b = 0;
//   - ts: one s = 1/T for all classes, b = 0 (temperature scaling; Guo, Pleiss, Sun and
//     Weinberger 2017);
//   - bcts: one s = 1/T, and b (bias-corrected temperature scaling; Alexandari, Kundaje
//     and Shrikumar 2020);
//   - bcts-ridge: the same with the penalty (s-1)²/2σ²n + ‖Mb‖²/2τ²n, σ = 0.25 and τ = 0.3, for
//     few rows a class. M takes away the mean of the biases and their part along the logarithms
//     of the classes' shares in these rows, so that a classifier that speaks for other shares
//     is brought to these by one parameter and not by k. With many rows it is bcts
//     (research/comparisons/calibration.md). If the rows alone tell the scale as well as the
//     penalty does, up to a quarter of it, and say that it is above 2, the logits are no
//     logarithms of probabilities, as similarities are not: then it has no penalty, and Form
//     is bcts-ridge-free;
//   - nbvs: s, and b = 0 ("no-bias vector scaling", the same);
//   - vs: s and b (vector scaling; Guo et al.).
//
// In s and b the problem is convex; s ≥ 0, and Σ b = 0, as b is unique up to a constant.
// The published optimisers stop short of the optimum, by 0.5 in a bias of vs with 65
// classes; this one goes on to a gradient below 1e-10.
//
// Scales of their own for each class make nbvs and vs depend on a constant added to a
// row's logits: logits are taken as they are, and where a classifier gives
// probabilities alone, CenteredLogs of them.
//
// A form that has no optimum is replaced by the next simpler one, and Note says so: the
// rows are separated (every label has the largest logit, so that T → 0), the losses
// too flat to tell the parameters, or the best common scale 0. The error wraps
// ErrMissingClass with the number of a class without rows, whose bias would fall
// without bound, for bcts and vs, ErrInvalidRow where a logit is not finite or a label
// no class, ErrNoStatistics without rows, or ErrNoConvergence. Where [FindFurthest] finds a row, that
// error and Note name it. An unknown name is an
// error that lists those known. Calibrate panics where the lengths do not fit.
func Calibrate(name string, logits []float64, labels []int, k int) (Calibration, error) {
	f, err := formOf(name)
	if err != nil {
		return Calibration{}, err
	}
	if err := checkLabelled(logits, labels, k); err != nil {
		return Calibration{}, err
	}
	loss, err := newLogLoss(logits, labels, k)
	if err != nil {
		return Calibration{}, err
	}
	if class := slices.Index(loss.counts, 0); f.biases && class >= 0 {
		return Calibration{}, fmt.Errorf("%w: class %d has no held-out row, and %s would fit a bias to it", weightest.ErrMissingClass, class, name)
	}
	var notes []string
	for {
		c, err := loss.fit(f)
		var flat *noOptimum
		switch {
		case err == nil:
			if c.Form == freed.name {
				notes = append(notes, fmt.Sprintf("the held-out rows' logits are no logarithms of probabilities until multiplied by %.2g; %s draws that factor to 1, which is left out", c.Scales[0], f.name))
			}
			c.Note = strings.Join(notes, "; ")
			return c, nil
		case !errors.As(err, &flat):
			if far := FindFurthest(logits, labels, k); far != nil {
				err = fmt.Errorf("%w; %s", err, far.Describe(uint64(far.Row), fmt.Sprint(far.Class)))
			}
			return Calibration{}, err
		}
		if far := FindFurthest(logits, labels, k); far != nil && len(notes) == 0 {
			notes = append(notes, far.Describe(uint64(far.Row), fmt.Sprint(far.Class)))
		}
		notes = append(notes, fmt.Sprintf("%s has no optimum, as %s: %s instead", f.name, flat.because, f.simpler))
		if f, err = formOf(f.simpler); err != nil {
			return Calibration{}, err
		}
	}
}

func formOf(name string) (form, error) {
	for _, f := range append(forms, freed) {
		if f.name == name {
			return f, nil
		}
	}
	return form{}, fmt.Errorf("calibration: no calibration %q; there are %s", name, strings.Join(Names(), ", "))
}

func checkLabelled(logits []float64, labels []int, k int) error {
	if len(logits) != len(labels)*k {
		panic(fmt.Sprintf("calibration: %d logits for %d rows of %d classes", len(logits), len(labels), k))
	}
	if len(labels) == 0 {
		return fmt.Errorf("%w: no held-out rows to calibrate on", weightest.ErrNoStatistics)
	}
	return weightest.CheckLabels(labels, k)
}

func checkFinite(logits []float64, k int) error {
	at := slices.IndexFunc(logits, func(z float64) bool { return math.IsNaN(z) || math.IsInf(z, 0) })
	if at < 0 {
		return nil
	}
	return fmt.Errorf("%w: source row %d gives class %d the logit %v", weightest.ErrInvalidRow, at/k, at%k, logits[at])
}

// probabilityFloor is what CenteredLogs takes a smaller probability for, since log 0 is
// infinite: the smallest float32 of full precision.
const probabilityFloor = 0x1p-126

// CenteredLogs returns the logits of a classifier of which probabilities alone are
// known, row-major n×k: the logarithms of the probabilities, at least of
// 2⁻¹²⁶, with another one in the place of 0, less their mean over the row. It panics where the
// length is no multiple of k.
func CenteredLogs(probabilities []float64, k int, zero float64) []float64 {
	if len(probabilities)%k != 0 {
		panic(fmt.Sprintf("calibration: %d probabilities are no rows of %d classes", len(probabilities), k))
	}
	logs := make([]float64, len(probabilities))
	for first := 0; first < len(logs); first += k {
		row := logs[first : first+k]
		for j, p := range probabilities[first : first+k] {
			if p == 0 {
				p = zero
			}
			row[j] = math.Log(max(p, probabilityFloor))
		}
		floats.AddConst(-floats.Sum(row)/float64(k), row)
	}
	return logs
}

// Zero is the probability that stands for 0 in a classifier's logarithms: half of the smallest one that it
// gives any of these rows. A forest of a hundred trees says 0 for what is rarer than one in a hundred, and
// nearest neighbours for more; that such rows were impossible is not what they found. It is at least what
// CenteredLogs takes.
func Zero[T float32 | float64](probabilities []T) float64 {
	smallest := math.Inf(1)
	for _, p := range probabilities {
		if p > 0 {
			smallest = min(smallest, float64(p))
		}
	}
	return max(probabilityFloor, min(1, smallest)/2)
}

// HasBiases reports whether the calibration of the name has a bias for each class, so that its
// probabilities speak for the class shares of the rows of the fit, whatever those before it
// spoke for.
func HasBiases(name string) bool {
	f, err := formOf(name)
	return err == nil && f.biases
}

// Identity returns the calibration None of k classes.
func Identity(k int) Calibration {
	return Calibration{Form: None, Scales: slices.Repeat([]float64{1}, k), Biases: make([]float64, k)}
}

package floor

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// critic is a linear classifier of standardised features: logits x·W + b.
type critic struct {
	weight *mat.Dense // d×k
	bias   []float64  // k
}

func (c critic) logits(features *mat.Dense) *mat.Dense {
	var logits mat.Dense
	logits.Mul(features, c.weight)
	for i := range logits.RawMatrix().Rows {
		floats.Add(logits.RawRowView(i), c.bias)
	}
	return &logits
}

func (c critic) predict(features *mat.Dense) []int {
	logits := c.logits(features)
	classes := make([]int, logits.RawMatrix().Rows)
	for i := range classes {
		classes[i] = floats.MaxIdx(logits.RawRowView(i))
	}
	return classes
}

// loss is a part of what a critic makes least: a sum over rows.
type loss struct {
	features *mat.Dense // n×d
	// row returns the loss of row i with logits z (k), and writes its gradient over them.
	row func(i int, z []float64) float64
}

// agreement is the weighted mean of -ln softmax_y, y the predictions.
func agreement(features *mat.Dense, predicted []int, weights []float64) loss {
	return loss{features, func(i int, z []float64) float64 {
		w, y := weights[i]/float64(len(weights)), predicted[i]
		zy := z[y]
		total := softmax(z)
		z[y]--
		floats.Scale(w, z)
		return w * (total - zy)
	}}
}

// contradiction is the mean of -ln(1 - softmax_y), which is Bayes consistent for any number of
// classes (Marchant and others 2025).
func contradiction(features *mat.Dense, predicted []int) loss {
	return loss{features, func(i int, z []float64) float64 {
		w, y := 1/float64(len(predicted)), predicted[i]
		others := slices.Clone(z)
		others[y] = math.Inf(-1)
		all, without := softmax(z), softmax(others)
		floats.Sub(z, others)
		floats.Scale(w, z)
		return w * (all - without)
	}}
}

// softmax writes the probabilities over logits, and returns the logarithm of their sum.
func softmax(z []float64) float64 {
	total := floats.LogSumExp(z)
	for j, v := range z {
		z[j] = math.Exp(v - total)
	}
	return total
}

const (
	penalty  = 1e-3 // half of it times the squared weights
	rounds   = 200
	steepest = 1e-5
)

// train returns the critic that makes the sum of the losses and the penalty least, from 0 on.
func train(k int, losses ...loss) (critic, error) {
	d := losses[0].features.RawMatrix().Cols
	at := func(x []float64) critic { return critic{mat.NewDense(d, k, x[:d*k]), x[d*k:]} }
	var last []float64
	value, gradient := 0., make([]float64, (d+1)*k)
	compute := func(x []float64) {
		if !slices.Equal(x, last) {
			value, last = objective(at(x), at(gradient), losses), append(last[:0], x...)
		}
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func: func(x []float64) float64 { compute(x); return value },
		Grad: func(into, x []float64) { compute(x); copy(into, gradient) },
	}, make([]float64, len(gradient)), &optimize.Settings{GradientThreshold: steepest, MajorIterations: rounds, Converger: optimize.NeverTerminate{}}, &optimize.LBFGS{})
	// A line search that finds nothing lower ends where rounding begins.
	if err != nil && (result == nil || result.Stats.MajorIterations == 0) || math.IsNaN(result.F) {
		return critic{}, errors.Join(errors.New("floor: the critic learns nothing"), err)
	}
	return at(result.X), nil
}

// objective returns the losses and the penalty of a critic, and writes their gradient.
func objective(c, gradient critic, losses []loss) (value float64) {
	weights := c.weight.RawMatrix().Data
	value = penalty / 2 * floats.Dot(weights, weights)
	gradient.weight.Scale(penalty, c.weight)
	clear(gradient.bias)
	for _, l := range losses {
		z := c.logits(l.features)
		for i := range z.RawMatrix().Rows {
			value += l.row(i, z.RawRowView(i))
			floats.Add(gradient.bias, z.RawRowView(i))
		}
		var part mat.Dense
		part.Mul(l.features.T(), z)
		gradient.weight.Add(gradient.weight, &part)
	}
	return value
}

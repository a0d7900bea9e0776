// Package regression solves multinomial logistic regression: the linear classifier that makes
//
//	F(W, b) = -(1/n) Σ_i log softmax(W x_i + b)_{y_i} + ‖W‖²/(2 C n)
//
// least, to its minimum, of two classes with twice that penalty, as of one vector of weights between
// them, with C = 1 unless cross-validation speaks for another ([Fit]). Products
// are libtorch's, in float64; nothing is random.
package regression

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"iwda/internal/evenly"
	"iwda/torch"
)

// Rows are n labelled rows of d values.
type Rows struct {
	Values  []float32 // n×d, row after row
	Labels  []int     // n classes, from 0
	Classes int       // k
	// Groups are the numbers of the groups of rows that belong together, which are in one fold; nil if
	// each row is a group of its own.
	Groups []int
}

// Classifier is a linear classifier.
type Classifier struct {
	Weight []float64 // k×d
	Bias   []float64 // k
	// C is the inverse strength of the penalty.
	C float64
	// Crossed are the logits of some of the rows, CrossedRows, each by a classifier that was
	// not solved for it, with the same C: as good as those of rows that were held out.
	Crossed     []float64 // len(CrossedRows)×k
	CrossedRows []int     // numbers of rows
	// CrossedOthers are the logits of the other rows, row i by the classifier of fold i mod 5. They
	// compare with Crossed: a classifier of all rows is surer than those of four fifths.
	CrossedOthers []float64 // m×k
}

// The strengths C that are tried, from the strongest penalty on, and how.
var strengths = []float64{1e-3, 1e-2, 0.1, 1, 10, 100}

const (
	usual   = 3 // the place of C = 1
	clearly = 2 // standard errors
	folds   = 5
	// mostTried bounds the values of a row times rows times classes that folds read, mostCrossed
	// their rows, and mostSolved the first for all rows that are solved for in the end.
	mostTried   = 8e6
	mostCrossed = 10_000
	mostSolved  = 1e9
	fewest      = 100 // rows, whatever these bounds say
)

// Fit returns the classifier with C = 1, unless another strength has a mean cross-entropy over
// folds, each of which is predicted by a classifier of the other rows, that is lower by more than
// two standard errors of the difference. Of many rows some are read, drawn evenly over the classes.
// The other rows, m×d, which may be none, teach it nothing. An error is that of the context, or of
// an optimiser that does not arrive.
func Fit(ctx context.Context, rows Rows, others []float32) (Classifier, error) {
	k, size := rows.Classes, float64(rows.size()*rows.Classes)
	order := byClass(rows.Labels)
	tried := evenly.Of(order, max(fewest, min(int(mostTried/size), mostCrossed)))
	crossed, logits := rows.part(tried), make([][]float64, len(strengths))
	solved := make([][][]float64, min(folds, len(tried))) // each fold's solutions, one a strength
	of := crossed.folds(len(solved))
	for fold := range solved {
		var learnt []int
		for place, row := range tried {
			if of[place] != fold {
				learnt = append(learnt, row)
			}
		}
		var err error
		if solved[fold], err = rows.part(learnt).path(ctx); err != nil {
			return Classifier{}, err
		}
	}
	for strength := range logits {
		logits[strength] = byFolds(solved, of, strength, crossed.Values, k)
	}
	best := bestStrength(logits, crossed.Labels, k)
	var result Classifier
	err := rows.part(evenly.Of(order, max(fewest, int(mostSolved/size)))).problem(func(p *problem) (err error) {
		result, err = p.solve(ctx, strengths[best], nil)
		return err
	})
	result.Crossed, result.CrossedRows, result.CrossedOthers = logits[best], tried, byFolds(solved, nil, best, others, k)
	return result, err
}

// bestStrength returns the place of the strength that Fit takes, from the logits of rows (n×k) by
// each.
func bestStrength(logits [][]float64, labels []int, k int) int {
	losses, means := make([][]float64, len(logits)), make([]float64, len(logits))
	for s, of := range logits {
		for i, y := range labels {
			row := of[i*k : (i+1)*k]
			losses[s] = append(losses[s], floats.LogSumExp(row)-row[y])
		}
		means[s] = stat.Mean(losses[s], nil)
	}
	best := floats.MinIdx(means)
	gain := floats.SubTo(make([]float64, len(labels)), losses[usual], losses[best])
	if mean, deviation := stat.MeanStdDev(gain, nil); mean > clearly*stat.StdErr(deviation, float64(len(gain))) {
		return best
	}
	return usual
}

func (r Rows) size() int { return len(r.Values) / len(r.Labels) }

// part returns some of the rows.
func (r Rows) part(rows []int) Rows {
	d := r.size()
	p := Rows{Values: make([]float32, 0, len(rows)*d), Classes: r.Classes}
	for _, i := range rows {
		p.Values, p.Labels = append(p.Values, r.Values[i*d:(i+1)*d]...), append(p.Labels, r.Labels[i])
	}
	if r.Groups != nil {
		p.Groups = evenly.Pick(r.Groups, rows)
	}
	return p
}

// folds returns the fold of each row, which take turns unless rows have groups.
func (r Rows) folds(folds int) []int {
	if r.Groups != nil {
		return evenly.Folds(r.Labels, r.Groups, folds)
	}
	of := evenly.All(len(r.Labels))
	for place := range of {
		of[place] %= folds
	}
	return of
}

// path returns the solutions, one a strength, each looked for from the one before on.
func (r Rows) path(ctx context.Context) (solutions [][]float64, err error) {
	err = r.problem(func(p *problem) error {
		var at []float64
		for _, c := range strengths {
			solved, err := p.solve(ctx, c, at)
			if err != nil {
				return err
			}
			at = slices.Concat(solved.Weight, solved.Bias)
			solutions = append(solutions, at)
		}
		return nil
	})
	return solutions, err
}

// byFolds returns the logits of rows (n×d), n×k, each by what its fold has solved for a strength, row i
// of fold i mod the number of folds if none are given.
func byFolds(solved [][][]float64, of []int, strength int, values []float32, k int) []float64 {
	d := len(solved[0][strength])/k - 1
	all := make([]float64, len(values)/d*k)
	for fold := range solved {
		var part []float32
		var rows []int
		for i := range len(values) / d {
			if of == nil && i%len(solved) == fold || of != nil && of[i] == fold {
				part, rows = append(part, values[i*d:(i+1)*d]...), append(rows, i)
			}
		}
		if rows == nil {
			continue
		}
		torch.Tidy(func() {
			x := torch.FromSlice(part, len(rows), d).To(torch.Float64, torch.CPU)
			logits := torch.ToSlice[float64](linear(x, solved[fold][strength], k))
			for i, row := range rows {
				copy(all[row*k:], logits[i*k:(i+1)*k])
			}
		})
	}
	return all
}

// byClass returns the rows of class after class, each in its order: those that are drawn evenly have
// the classes' shares.
func byClass(labels []int) []int {
	order := evenly.All(len(labels))
	slices.SortStableFunc(order, func(a, b int) int { return labels[a] - labels[b] })
	return order
}

// problem is the regression of some rows.
type problem struct {
	n, d, k int
	x       torch.Tensor // n×d, float64
	wanted  torch.Tensor // n×k, one-hot labels
}

// problem makes that of the rows for f, within which its tensors live.
func (r Rows) problem(f func(*problem) error) (err error) {
	torch.Tidy(func() {
		torch.NoGrad(func() {
			n, d := len(r.Labels), r.size()
			oneHot := make([]float64, n*r.Classes)
			for i, y := range r.Labels {
				oneHot[i*r.Classes+y] = 1
			}
			err = f(&problem{
				n: n, d: d, k: r.Classes,
				x:      torch.FromSlice(r.Values, n, d).To(torch.Float64, torch.CPU),
				wanted: torch.FromSlice(oneHot, n, r.Classes),
			})
		})
	})
	return err
}

// linear returns the logits of rows x (n×d) by a solution, n×k.
func linear(x torch.Tensor, at []float64, k int) torch.Tensor {
	d := len(at)/k - 1
	return x.Linear(torch.FromSlice(at[:k*d], k, d), torch.FromSlice(at[k*d:], k))
}

// value returns F, and writes its gradient.
func (p *problem) value(at, gradient []float64, c float64) (value float64) {
	torch.Tidy(func() {
		logs := linear(p.x, at, p.k).LogSoftmax(1)
		value = -logs.Mul(p.wanted).Sum().Item() / float64(p.n)
		residuals := logs.Exp().Sub(p.wanted).Scale(1 / float64(p.n))
		torch.CopyToSlice(gradient[:p.k*p.d], residuals.Transpose(0, 1).MatMul(p.x))
		torch.CopyToSlice(gradient[p.k*p.d:], residuals.SumDim(0, false))
	})
	weight, penalty := at[:p.k*p.d], 1/(c*float64(p.n))
	if p.k == 2 {
		penalty *= 2
	}
	floats.AddScaled(gradient[:p.k*p.d], penalty, weight)
	return value + penalty/2*floats.Dot(weight, weight)
}

// solve returns the minimum, looked for from a start on, nil for 0.
func (p *problem) solve(ctx context.Context, c float64, start []float64) (Classifier, error) {
	const (
		steepest = 1e-5 // of the largest entry of the gradient at the minimum
		rounds   = 1000
	)
	if start == nil {
		start = make([]float64, p.k*(p.d+1))
	}
	last, gradient, value := []float64(nil), make([]float64, len(start)), 0.
	compute := func(at []float64) {
		if !slices.Equal(at, last) {
			value, last = p.value(at, gradient, c), append(last[:0], at...)
		}
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func: func(at []float64) float64 { compute(at); return value },
		Grad: func(into, at []float64) { compute(at); copy(into, gradient) },
		Status: func() (optimize.Status, error) {
			if ctx.Err() != nil {
				return optimize.Failure, ctx.Err()
			}
			return optimize.NotTerminated, nil
		},
	}, start, &optimize.Settings{GradientThreshold: steepest, MajorIterations: rounds, Converger: optimize.NeverTerminate{}}, &optimize.LBFGS{})
	// A line search that finds nothing lower ends where rounding begins.
	if err != nil && ctx.Err() == nil && result != nil && result.Stats.MajorIterations > 0 {
		err = nil
	}
	if err != nil || math.IsNaN(result.F) {
		return Classifier{}, errors.Join(fmt.Errorf("regression: no minimum for C = %v", c), err)
	}
	return Classifier{Weight: slices.Clone(result.X[:p.k*p.d]), Bias: slices.Clone(result.X[p.k*p.d:]), C: c}, nil
}

// Package regression solves multinomial logistic regression: the linear classifier that makes
//
//	F(W, b) = -(1/n) Σ_i log softmax(W x_i + b)_{y_i} + ‖W‖²/(2 C n)
//
// least, to its minimum, of two classes with twice that penalty, as of one vector of weights between
// them, with C = 1 unless cross-validation speaks for another ([Fit]). Nothing is random.
package regression

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/internal/parallel"
	"iwda/internal/simd"
	"iwda/learners"
)

// Classifier is a linear classifier.
type Classifier struct {
	Weight []float64 // k×d
	Bias   []float64 // k
	// C is the inverse strength of the penalty.
	C float64
}

// The names of a classifier's tensors in a network's state.
const (
	WeightTensor = "classifier.weight" // k×d
	BiasTensor   = "classifier.bias"   // k
)

// The strengths C that are tried, from the strongest penalty on, and how.
var strengths = []float64{1e-3, 1e-2, 0.1, 1, 10, 100}

const (
	usual   = 3 // the place of C = 1
	clearly = 2 // standard errors
	folds   = 5
	// mostTried bounds the values of a row times rows times classes that folds read, unless these rows were fewer than
	// two a class: then there are two folds. mostSolved bounds it for all rows that are solved for, of which mostKept
	// bounds the values.
	mostTried  = 8e6
	mostSolved = 1e9
	mostKept   = 1 << 27
	fewest     = 100 // rows, whatever these bounds say
)

// Fit is a [learners.Learner], whose model is a [Classifier] with C = 1, unless another strength has a mean
// cross-entropy over folds, each of which is predicted by a classifier of the other rows, that is lower
// by more than two standard errors of the difference. Weaker penalties than those with which it rises are not tried. Of many rows some are read, drawn evenly over the
// classes, two of each of many classes. Crossed is by the classifiers of the folds, with the same C. An error is that of the context, of
// more classes than rows that can be learnt from, of values that are not finite, or of an optimiser that does not arrive.
func Fit(ctx context.Context, rows learners.Rows, others []float32, threads int, _ *rand.PCG) (learners.Fitted, error) {
	fail := func(err error) (learners.Fitted, error) { return learners.Fitted{}, fmt.Errorf("regression: %w", err) }
	if err := rows.Check(false); err != nil {
		return fail(err)
	}
	k, d := rows.Classes, rows.Columns()
	order := byClass(rows.Labels)
	most, enough, folds := extent(len(order), d, k)
	if k > most {
		return fail(fmt.Errorf("%d classes of %d columns are too many: only %d rows could be learnt from; use another method", k, d, most))
	}
	tried := evenly.Of(order, enough)
	crossed := rows.Part(tried)
	of := foldsOf(crossed, folds)
	problems := make([]*problem, min(folds, len(tried))) // each without a fold
	held, paths, failed := make([][]int, len(problems)), make([][][]float64, len(problems)), make([]error, len(problems))
	var logits, losses [][]float64
	judge := func(fold, strength int, c Classifier) {
		for i, row := range slices.Collect(slices.Chunk(c.Logits(crossed.Part(held[fold]).Values, d, 1), k)) {
			copy(logits[strength][held[fold][i]*k:], row)
		}
	}
	parallel.Each(threads, len(problems), func(_, fold int) {
		var learnt []int
		for row := range tried {
			if of[row] == fold {
				held[fold] = append(held[fold], row)
			} else {
				learnt = append(learnt, row)
			}
		}
		problems[fold] = newProblem(crossed, learnt, 1)
		paths[fold] = make([][]float64, len(strengths))
	})
	for s, c := range strengths {
		logits = append(logits, make([]float64, len(tried)*k))
		parallel.Each(threads, len(problems), func(_, fold int) {
			if paths[fold][s], failed[fold] = problems[fold].minimum(ctx, c, paths[fold][max(0, s-1)], near); failed[fold] == nil {
				judge(fold, s, problems[fold].classifier(paths[fold][s], c))
			}
		})
		if err := cmp.Or(failed...); err != nil {
			return fail(err)
		}
		losses = append(losses, lossesOf(logits[s], crossed.Labels, k))
		if s >= usual && floats.Sum(losses[s]) > floats.Sum(losses[s-1]) {
			break // weaker penalties would be worse still, and take longest
		}
	}
	best := bestStrength(losses)
	result := learners.Fitted{Crossed: learners.Crossed{Rows: tried, Logits: logits[best], Others: make([][]float64, len(problems))}}
	parallel.Each(threads, len(problems), func(_, fold int) {
		var c Classifier
		c, failed[fold] = problems[fold].solve(ctx, strengths[best], paths[fold][best])
		judge(fold, best, c)
		result.Crossed.Others[fold] = c.Logits(others, d, 1)
	})
	all, err := newProblem(rows, evenly.Of(order, most), threads).solve(ctx, strengths[best], paths[0][best])
	if err := cmp.Or(append(failed, err)...); err != nil {
		return fail(err)
	}
	result.Model = all
	return result, nil
}

// extent returns how many of n rows are learnt from at most, and how many are judged in how many folds.
func extent(n, d, k int) (most, judged, parts int) {
	size := float64(d * k)
	most = max(fewest, min(int(mostSolved/size), mostKept/(d+k)))
	if judged = max(fewest, min(int(mostTried/size), learners.MostCrossed)); judged < min(2*k, n) {
		return most, min(2*k, most), 2
	}
	return most, judged, folds
}

// lossesOf returns the cross-entropies of logits (n×k).
func lossesOf(logits []float64, labels []int, k int) (losses []float64) {
	for i, y := range labels {
		row := logits[i*k : (i+1)*k]
		losses = append(losses, floats.LogSumExp(row)-row[y])
	}
	return losses
}

// bestStrength returns the place of the strength that Fit takes, from the losses of n rows by each.
func bestStrength(losses [][]float64) int {
	best := floats.MinIdx(convert.Each(losses, func(of []float64) float64 { return stat.Mean(of, nil) }))
	gain := floats.SubTo(make([]float64, len(losses[best])), losses[usual], losses[best])
	if mean, deviation := stat.MeanStdDev(gain, nil); mean > clearly*stat.StdErr(deviation, float64(len(gain))) {
		return best
	}
	return usual
}

// foldsOf returns the fold of each row, of class after class, which take turns unless rows have groups.
func foldsOf(rows learners.Rows, folds int) []int {
	if rows.Groups != nil {
		return learners.Folds(rows, folds)
	}
	of := evenly.All(len(rows.Labels))
	for place := range of {
		of[place] %= folds
	}
	return of
}

// byClass returns the rows of class after class, each in its order: those that are drawn evenly have
// the classes' shares.
func byClass(labels []int) []int {
	order := evenly.All(len(labels))
	slices.SortStableFunc(order, func(a, b int) int { return labels[a] - labels[b] })
	return order
}

// Logits returns those of rows (n×d), n×k. The threads change no result.
func (c Classifier) Logits(values []float32, d, threads int) []float64 {
	k := len(c.Bias)
	var vectors []float64
	for y, bias := range c.Bias {
		vectors = append(append(vectors, c.Weight[y*d:(y+1)*d]...), bias)
	}
	logits := make([]float64, len(values)/d*k)
	parallel.Each(threads, blocks(len(values)/d), func(_, b int) {
		x := blockOf(convert.Slice[float64](values[b*blockRows*d:min(len(values), (b+1)*blockRows*d)]), d)
		z := make([]float64, k*x.rows)
		x.logits(z, vectors)
		simd.Transpose(logits[b*blockRows*k:], z, k, x.rows, k, x.rows)
	})
	return logits
}

// Tensors returns the weight and the bias.
func (c Classifier) Tensors() []learners.Tensor {
	return []learners.Tensor{{Name: WeightTensor, Values: convert.Slice[float32](c.Weight), Width: len(c.Weight) / len(c.Bias)}, {Name: BiasTensor, Values: convert.Slice[float32](c.Bias)}}
}

// Package perceptron trains small networks of tables: a hidden layer of rectified linear units with dropout
// (Srivastava et al. 2014), and a linear classifier on it. Each fold of the rows has a network that has not
// learnt from it; the model is the mean of their logits, which is one network with all their units. Held-out
// rows say when all of them stop (Prechelt 1998). Columns are taken to be standardised.
package perceptron

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/evenly"
	"iwda/internal/parallel"
	"iwda/learners"
)

// Settings are how networks are trained.
type Settings struct {
	Hidden   int     // units of each network
	Dropout  float64 // probability with which a step leaves out a unit, a multiple of 1/256
	Rate     float64 // of Adam (Kingma and Ba 2015), at the beginning
	Decay    float64 // of weights, but not of biases: what a step multiplies by the rate and takes off (Loshchilov and Hutter 2019)
	Batch    int     // rows of a step, at most; fewer if a pass had less than eight steps
	Folds    int     // in which rows are held out
	Patience int     // rounds without a lower loss of held-out rows after which the rate is halved
	Halvings int     // of the rate, after which the next one ends training
	Rounds   int     // at most
}

// Usual returns the settings that suit most tables.
func Usual() Settings {
	return Settings{Hidden: 128, Dropout: 0.25, Rate: 2e-3, Decay: 0.1, Batch: 128, Folds: 5, Patience: 4, Halvings: 2, Rounds: 200}
}

const (
	// A round is a pass over the rows, or over so many of them, or several over few.
	mostOfRound, fewestSteps = 1 << 14, 16
	// mostRead bounds rows times columns and classes, and what stands beside these: of more rows some are
	// read, drawn evenly.
	mostRead = 1 << 27
	// mostWeights bounds columns times units: five networks with what their training keeps are below a
	// gigabyte.
	mostWeights = 1 << 22
)

// Fit is a [learners.Learner], whose model is a [Model] and whose Crossed is by its networks, each alone. An
// error is that of the context, of values that are not finite, of too many columns or classes, or of rows in one group,
// of which none can be held out.
func (s Settings) Fit(ctx context.Context, rows learners.Rows, others []float32, threads int, random *rand.PCG) (learners.Fitted, error) {
	fail := func(err error) (learners.Fitted, error) { return learners.Fitted{}, fmt.Errorf("perceptron: %w", err) }
	if err := learners.CheckClasses(rows.Classes); err != nil {
		return fail(err)
	}
	d, k := rows.Columns(), rows.Classes
	if most := mostWeights / s.Hidden; d > most {
		return fail(fmt.Errorf("%d columns, more than the %d that a network is trained for: choose another method", d, most))
	}
	if err := rows.Check(false); err != nil {
		return fail(err)
	}
	read := evenly.Rows(len(rows.Labels), mostRead/(d+k))
	if len(read) < len(rows.Labels) {
		rows = rows.Part(read)
	}
	fold := learners.Folds(rows, s.Folds)
	folds := slices.Max(fold) + 1
	if folds < 2 {
		return fail(fmt.Errorf("all %d rows are of one group, so none can be held out: give groups that differ", len(rows.Labels)))
	}
	trainers, held := make([]*trainer, folds), make([][]int, folds)
	for of := range trainers {
		var learnt []int
		for i := range fold {
			if fold[i] != of {
				learnt = append(learnt, i)
			}
		}
		trainers[of] = newTrainer(rows, learnt, s, rand.NewPCG(random.Uint64(), random.Uint64()))
	}
	judgedRows := evenly.Rows(len(fold), learners.MostCrossed)
	for _, i := range judgedRows {
		held[fold[i]] = append(held[fold[i]], i)
	}
	losses, failed := make([]float64, folds), make([]error, folds)
	best, least, since, rate := make([]network, folds), math.Inf(1), 0, s.Rate
	for round := 0; ; round++ {
		parallel.Each(threads, folds, func(_, of int) { losses[of] = trainers[of].loss(held[of]) })
		switch loss := floats.Sum(losses); {
		case loss < least:
			least, since = loss, 0
			for of, t := range trainers {
				best[of] = t.network.clone()
			}
		case since+1 < s.Patience:
			since++
		default:
			since, rate = 0, rate/2
		}
		if round == s.Rounds || rate < s.Rate/math.Exp2(float64(s.Halvings)+0.5) {
			break
		}
		parallel.Each(threads, folds, func(_, of int) { failed[of] = trainers[of].round(ctx, rate) })
		if err := cmp.Or(failed...); err != nil {
			return fail(err)
		}
	}
	result := learners.Fitted{Model: merged(best), Crossed: learners.Crossed{Others: make([][]float64, folds)}}
	judged := make([][]float64, folds)
	parallel.Each(threads, folds, func(_, of int) {
		judged[of] = best[of].logits(rows.Part(held[of]).Values, d)
		result.Crossed.Others[of] = best[of].logits(others, d)
	})
	next := make([]int, folds)
	for _, i := range judgedRows {
		of := fold[i]
		result.Crossed.Rows = append(result.Crossed.Rows, read[i])
		result.Crossed.Logits = append(result.Crossed.Logits, judged[of][next[of]:next[of]+k]...)
		next[of] += k
	}
	return result, nil
}

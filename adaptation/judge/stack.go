package judge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"iwda/experiments/store"
	"iwda/inference/sets"
	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/weightest"
)

// leastVote is the weight below which a run has no vote.
const leastVote = 0.01

// leastProbability keeps logarithms finite.
const leastProbability = 1e-30

// stack returns the weights of runs in the mean of their calibrated probabilities: those under which this
// mean makes the labels of source rows most likely that all of the runs have judged without learning from them
// (stacking: Wolpert 1992; of densities: Smyth and Wolpert 1999). A run that only
// makes the others worse has 0. The weights are nil, for equal ones, if the runs have judged other rows, as
// networks do that are trained in steps. Common are the numbers of those rows, ascending. Gain is how many standard
// errors the mean logarithm of the labels' probabilities is above that of the first run alone.
func (c *Comparison) stack(runs []int) (weights []float64, common []int, gain float64, err error) {
	if common = c.common(runs); len(common) == 0 || len(runs) < 2 {
		return nil, nil, 0, nil
	}
	likelihoods := make([]float64, len(common)*len(runs)) // of each row's label by each run
	for j, run := range runs {
		in := c.inputs[run]
		for i, place := range placesOf(c.Candidates[run], common) {
			logits := in.SourceLogits.RawRowView(place)
			likelihoods[i*len(runs)+j] = max(leastProbability, math.Exp(logits[in.SourceLabels[place]]-floats.LogSumExp(logits)))
		}
	}
	weights, err = weightest.MostLikely(len(runs), likelihoods)
	if err != nil {
		return nil, nil, 0, err
	}
	for j, weight := range weights {
		if weight < leastVote {
			weights[j] = 0
		}
	}
	floats.Scale(1/floats.Sum(weights), weights)
	gains := make([]float64, 0, len(common))
	for row := range slices.Chunk(likelihoods, len(runs)) {
		gains = append(gains, math.Log(floats.Dot(weights, row)/row[0]))
	}
	mean, deviation := stat.MeanStdDev(gains, nil)
	const rounding = 1e-9 // which is all that runs differ by that say the same
	return weights, common, mean / max(rounding, stat.StdErr(deviation, float64(len(gains)))), nil
}

// common returns the numbers of the source rows that all of the runs have judged, ascending.
func (c *Comparison) common(runs []int) (common []int) {
	for i, run := range runs {
		rows := slices.Sorted(slices.Values(c.Candidates[run].HeldOutRows))
		if i > 0 {
			rows = slices.DeleteFunc(rows, func(row int) bool { _, among := slices.BinarySearch(common, row); return !among })
		}
		common = rows
	}
	return common
}

// mixed returns what runs say together, of these source rows and of the target, by their votes: the logarithms
// of the mean of their calibrated probabilities.
func (c *Comparison) mixed(runs []int, votes []float64, rows []int) Candidate {
	first := c.Candidates[runs[0]]
	k := first.Classes
	m := Candidate{Run: "all classifiers together", Outputs: store.Outputs{
		Classes: k, HeldOut: make([]float32, len(rows)*k), HeldOutRows: rows, Target: make([]float32, len(first.Target)), TargetCrossed: make([]float32, len(first.Compared())),
		TargetLabels: first.TargetLabels, TargetGroups: first.TargetGroups,
	}}
	if first.Known != nil {
		m.Known = &store.WithoutLabels{TrainedShares: first.Known.TrainedShares, Calibration: first.Known.Calibration}
	}
	for j, run := range runs {
		of := c.Candidates[run]
		heldOut := make([]float32, 0, len(m.HeldOut))
		for _, place := range placesOf(of, rows) {
			heldOut = append(heldOut, of.HeldOut[place*k:(place+1)*k]...)
		}
		for _, part := range []struct{ to, from []float32 }{{m.HeldOut, heldOut}, {m.Target, of.Target}, {m.TargetCrossed, of.Compared()}} {
			for i, p := range c.classifiers[run].Probabilities(convert.Slice[float64](part.from)) {
				part.to[i] += float32(votes[j] * p)
			}
		}
	}
	m.HeldOutLabels, m.HeldOutGroups = labelsOf(first, rows)
	for _, part := range [][]float32{m.HeldOut, m.Target, m.TargetCrossed} {
		for i, p := range part {
			part[i] = float32(math.Log(max(float64(p), leastProbability)))
		}
	}
	return m
}

// Thresholds returns those of package sets, of each of its levels, for the sets of what the chosen runs say together,
// uncorrected: by what they say of source rows that they have not learnt from. They are nil if the runs have not all
// judged the same rows.
func (c *Comparison) Thresholds(of Choice) (all []sets.Thresholds, err error) {
	predicting := of.Predicting()
	votes, rows := of.Votes, c.common(predicting)
	switch {
	case slices.ContainsFunc(predicting, func(i int) bool { return Aligns(MethodOf(c.Candidates[i].Run)) || c.Candidates[i].HeldOutRows == nil }):
		return nil, nil
	case votes == nil && len(predicting) > 1:
		return nil, nil
	case votes == nil:
		votes = []float64{1}
	}
	first := c.Candidates[predicting[0]]
	k := first.Classes
	labels, groups := labelsOf(first, rows)
	probabilities := make([]float64, len(rows)*k)
	for j, run := range predicting {
		said := c.classifiers[run].Of(c.Candidates[run].heldOut())
		for i, place := range placesOf(c.Candidates[run], rows) {
			floats.AddScaled(probabilities[i*k:(i+1)*k], votes[j], said[place*k:(place+1)*k])
		}
	}
	const rounding = 1e-9 // of sums in another order, where rows have the same probability
	for _, level := range sets.Levels {
		thresholds, err := sets.Fit(k, probabilities, labels, groups, level)
		if err != nil {
			return nil, err
		}
		floats.Scale(1-rounding, thresholds)
		all = append(all, thresholds)
	}
	return all, nil
}

// placesOf returns where a run has the judged source rows of these ascending numbers.
func placesOf(run Candidate, rows []int) []int {
	places := make([]int, len(rows))
	for i, row := range run.HeldOutRows {
		if place, among := slices.BinarySearch(rows, row); among {
			places[place] = i
		}
	}
	return places
}

// labelsOf returns the labels of these rows, and their groups; nil if none are known.
func labelsOf(run Candidate, rows []int) (labels, groups []int) {
	places := placesOf(run, rows)
	if run.HeldOutGroups != nil {
		groups = evenly.Pick(run.HeldOutGroups, places)
	}
	return evenly.Pick(run.HeldOutLabels, places), groups
}

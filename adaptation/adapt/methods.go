package adapt

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/adaptation/judge"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
	"iwda/experiments/model"
	"iwda/experiments/plan"
)

// assumes says what a run takes for granted.
func assumes(run config.Resolved) string {
	method, _ := config.ParseMethod(run.Method) // that of a planned run is known
	var said []string
	switch run.Network.Normalise {
	case normalise.OfSource:
		said = append(said, "columns mean the same in both domains")
	case normalise.Standard:
		said = append(said, "columns may have moved or been stretched")
	case normalise.Matched:
		said = append(said, "columns may have moved or been stretched, each by itself")
	}
	switch {
	case method.Alignment.Properties().Certain:
		said = append(said, "the target's classes are well separated")
	case method.Alignment != config.NoAlignment:
		said = append(said, "each class looks the same after alignment")
	}
	switch {
	case method.Weights != config.NoWeights:
		said = append(said, "class shares may differ")
	case method.Alignment != config.NoAlignment:
		said = append(said, "class shares are similar")
	}
	if said == nil {
		return "each class looks the same in both domains"
	}
	return strings.Join(said, "; ")
}

// comparison is what the methods say of the target's rows beside what predicts.
type comparison struct {
	methods []string  // that have runs
	assumed []string  // by each
	used    []int     // what predicts
	changed []float64 // the share of rows on which each method says otherwise
	differ  []float64 // the share on which the seeds of each do not all say the same
	within  float64   // the share on which the runs that predict don't
}

// compareMethods says what each method and what is chosen predict of the rows that the candidates
// hold, corrected alike: only what they assume tells them apart.
func compareMethods(choice judge.Choice, runs []plan.Run, models []model.Metadata, candidates []judge.Candidate) (comparison, error) {
	k := candidates[0].Classes
	probabilities := func(members []int, votes []float64) (sum []float64, differ float64, err error) {
		var first []int // classes of the first member
		var other []bool
		differing := 0
		for j, i := range members {
			p, err := models[i].Probabilities(candidates[i].Target, corrected(models[i].Shares, choice.Correction))
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", candidates[i].Run, err)
			}
			classes := largest(k, p)
			if sum == nil {
				sum, first, other = make([]float64, len(p)), classes, make([]bool, len(classes))
			}
			for row, class := range classes {
				if class != first[row] && !other[row] {
					other[row] = true
					differing++
				}
			}
			vote := 1.
			if votes != nil {
				vote = votes[j]
			}
			floats.AddScaled(sum, vote, p)
		}
		return sum, float64(differing) / float64(len(first)), nil
	}
	p, within, err := probabilities(choice.Predicting(), choice.Votes)
	if err != nil {
		return comparison{}, err
	}
	compared := comparison{used: largest(k, p), within: within}
	for _, m := range choice.Methods {
		if len(m.Runs) == 0 {
			continue
		}
		p, differ, err := probabilities(m.Runs, nil)
		if err != nil {
			return comparison{}, err
		}
		compared.add(m.Name, assumes(runs[m.Runs[0]].Config), largest(k, p), differ)
	}
	return compared, nil
}

// corrected are the class shares for which the probabilities of a run are corrected,
// nil for none.
func corrected(s model.Shares, c judge.Correction) []float64 {
	if s.Target == nil {
		return nil
	}
	return c.Shares(s.Classifier, s.Target)
}

// largest are the classes of the largest of each row's k probabilities.
func largest(k int, p []float64) (classes []int) {
	for row := range slices.Chunk(p, k) {
		classes = append(classes, floats.MaxIdx(row))
	}
	return classes
}

// add counts where a method says otherwise by its classes.
func (c *comparison) add(name, assumed string, classes []int, differ float64) {
	changed := 0
	for i, class := range classes {
		if class != c.used[i] {
			changed++
		}
	}
	c.methods, c.assumed = append(c.methods, name), append(c.assumed, assumed)
	c.changed, c.differ = append(c.changed, float64(changed)/float64(len(classes))), append(c.differ, differ)
}

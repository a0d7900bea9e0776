// Package selection chooses among trained models without labels of the target.
//
// A [Criterion] maps what one candidate says of held-out source rows, which have labels,
// and of target rows, which have none, to a number ([Criterion.Value]); the candidate with
// the best number is chosen ([Criterion.Best]). A candidate is a run, a method or a setting.
//
// Under label shift most published criteria reward equal class shares and so choose wrongly:
// every criterion says when it fails. The default, [TargetRisk], is the share of the target's
// predictions that no class shares explain, plus [ClassWeightedRisk],
//
//	IWV-y = (1/n) Σ_i w_{y_i} ℓ_i,
//
// the class-weighted cross-entropy of the held-out source rows, which estimates the target's
// risk where P(x|y), or the distribution of the features given y, is that of the source. Its
// weights must come from one model that all candidates share, fixed beforehand: estimated
// from the candidate itself, a collapsed classifier explains itself perfectly.
//
// Everything is float64, without libtorch; nothing is random: the same input gives the same
// bits. Entropies and losses are in natural logarithms.
package selection

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"iwda/internal/convert"
)

// Criterion judges candidates without labels of the target.
type Criterion struct {
	Name string
	// About says in a line what the value is.
	About string
	// Higher tells whether a higher value is better.
	Higher bool
	// Cost is the number of operations in the numbers n of rows and k of classes.
	Cost string
	// Fails says when the choice is wrong, above all under label shift.
	Fails string

	needs []need
	value func(Input) (float64, error)
}

// criteria holds every criterion, the default first.
var criteria = []Criterion{
	TargetRisk,
	ClassWeightedRisk,
	sourceAccuracy, sourceAccuracyMacro,
	priorDivergence,
	unexplainedShare,
	ensembleAgreement,
	entropyCriterion, informationMaximisation, nuclearNorm, classConfusion,
}

// All returns every criterion, the default first.
func All() []Criterion { return slices.Clone(criteria) }

// Names returns the names of all criteria, in the order of [All].
func Names() []string {
	return convert.Each(criteria, func(c Criterion) string { return c.Name })
}

// Find returns the criterion of that name, and an error that lists the known ones where
// there is none.
func Find(name string) (Criterion, error) {
	if i := slices.Index(Names(), name); i >= 0 {
		return criteria[i], nil
	}
	return Criterion{}, fmt.Errorf("selection: no criterion %q; known are %s", name, strings.Join(Names(), ", "))
}

// Needs are the parts of an Input that the criterion reads.
func (c Criterion) Needs() []string {
	return convert.Each(c.needs, func(n need) string { return n.what })
}

// ErrMissing is wrapped by the error of a criterion that an [Input] does not hold enough
// for: a part of it is not there, or it has too few rows.
var ErrMissing = errors.New("not enough to judge by")

// Value returns the criterion's value of a candidate, which is finite. It is an error if
// the input lacks what the criterion needs, which wraps [ErrMissing], or if a logit is not
// finite. Parts that do not fit each other panic.
func (c Criterion) Value(in Input) (float64, error) {
	in.mustFit()
	if err := in.checkFinite(); err != nil {
		return 0, fmt.Errorf("selection: %s: %w", c.Name, err)
	}
	for _, n := range c.needs {
		if !n.there(in) {
			return 0, fmt.Errorf("selection: %s: %w: it needs %s", c.Name, ErrMissing, n.what)
		}
	}
	value, err := c.value(in)
	if err != nil {
		return 0, fmt.Errorf("selection: %s: %w", c.Name, err)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("selection: %s: its value is %v", c.Name, value)
	}
	return value, nil
}

// Best returns the index of the best value, the first of equal ones. NaN stands for a
// candidate that could not be judged and is never best; -1 says that none could be.
func (c Criterion) Best(values []float64) int {
	best := -1
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if best < 0 || c.Higher && v > values[best] || !c.Higher && v < values[best] {
			best = i
		}
	}
	return best
}

// need is a part of an Input that a criterion reads.
type need struct {
	what  string
	there func(Input) bool
}

var (
	sourceRows    = need{"the logits and labels of held-out source rows", func(in Input) bool { return in.SourceLogits != nil }}
	targetRows    = need{"the logits of target rows", func(in Input) bool { return in.TargetLogits != nil }}
	classWeights  = need{"class weights, of one model that all candidates share", func(in Input) bool { return in.ClassWeights != nil }}
	targetShares  = need{"estimated class shares of the target, of one model that all candidates share", func(in Input) bool { return in.TargetShares != nil }}
	ensembleVotes = need{"the predictions of the ensemble of all candidates, see Vote", func(in Input) bool { return in.Votes != nil }}
)

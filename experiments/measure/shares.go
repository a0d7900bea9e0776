package measure

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/store"
	"iwda/losses/form"
	"iwda/weightest"
)

// Shares are the class shares and class weights that a run knows of.
type Shares struct {
	Name           string    // of the source; "" of the only one, or of all together
	Sources        []*Shares // of each source of several; nil of one
	Source, Target []float64 // of the rows that are trained on; the target's are nil where it has no labels
	Truth          []float64 // the true weights; nil where the target has no labels
	Known          []float64 // the target's shares by weights.shares; nil where these are not given
	Fixed          []float64 // weights of the losses all along, true or known ones; nil for the estimate
	Weights        []float64 // w by the estimate; all are 1 before the first one
}

// NewShares are those of a run before its first step, of all its sources together and of each. An oracle without
// target labels is an error.
func NewShares(run config.Resolved, about *domains.About) (s Shares, err error) {
	if s, err = newShares(run, about); err != nil || about.Parts == nil {
		return s, err
	}
	for _, source := range about.Sources() {
		of, err := newShares(run, &source.About)
		if err != nil {
			return s, err
		}
		of.Name = source.Name
		s.Sources = append(s.Sources, &of)
	}
	return s, nil
}

func newShares(run config.Resolved, about *domains.About) (s Shares, err error) {
	k := len(about.Classes)
	method, _ := config.ParseMethod(run.Method)
	s = Shares{Source: about.Labels.Source.Shares(k), Weights: slices.Repeat([]float64{1}, k)}
	if about.Labels.Target.Known() > 0 {
		s.Target = about.Labels.Target.Shares(k)
		if s.Truth, err = weightest.Oracle(s.Source, s.Target); err != nil {
			return s, err
		}
	} else if method.Weights == config.OracleWeights {
		return s, fmt.Errorf("%s uses the true class shares of the target, of which no row has a label", method.Name)
	}
	if shares := run.Weights.Shares; shares != nil {
		if s.Known, err = shares.Of(about.Classes); err != nil {
			return s, err
		}
		if s.Fixed, err = weightest.Oracle(s.Source, s.Known); err != nil {
			return s, fmt.Errorf("weights.shares: %w", err)
		}
	}
	if method.Weights == config.OracleWeights {
		s.Fixed = s.Truth
	}
	return s, nil
}

// EachSource are those of each source, or of the only one.
func (s *Shares) EachSource() []*Shares {
	if s.Sources == nil {
		return []*Shares{s}
	}
	return s.Sources
}

// Combine sets the weights of several sources together: those that give the mean of the target's class shares that
// each of them estimates.
func (s *Shares) Combine() {
	if s.Sources == nil {
		return
	}
	target, estimates := make([]float64, len(s.Source)), 0.0
	for _, source := range s.Sources {
		if shares := source.Estimate(); shares != nil {
			floats.Add(target, shares)
			estimates++
		}
	}
	if estimates == 0 {
		return
	}
	floats.Scale(1/estimates, target)
	s.Weights = floats.DivTo(make([]float64, len(target)), target, s.Source)
}

// Estimate returns the class shares of the target that follow from the weights, nil before the first
// estimate, while all weights are one.
func (s *Shares) Estimate() []float64 {
	if !slices.ContainsFunc(s.Weights, func(weight float64) bool { return weight != 1 }) {
		return nil
	}
	return normalised(floats.MulTo(make([]float64, len(s.Source)), s.Weights, s.Source))
}

// normalised scales numbers, of which one is positive, to a sum of 1.
func normalised(shares []float64) []float64 {
	floats.Scale(1/floats.Sum(shares), shares)
	return shares
}

// LeastWeight stands for a smaller weight in the shares of a classifier: one of 0 leaves a
// class out of the loss, and what the network then says of it follows from no share.
const LeastWeight = 1e-3

// Trained are the class shares for which the classifier's own probabilities speak. A
// loss that counts the source's rows of class y by a factor r_y is that of a sample of
// which a part D_S(y)·r_y is of class y; see "Predictions under other class shares" in
// docs/reference/methods.md.
//
// A step has as many rows of each of several sources.
func (s *Shares) Trained(run config.Resolved) []float64 {
	if s.Sources != nil {
		mean := make([]float64, len(s.Source))
		for _, source := range s.Sources {
			floats.Add(mean, source.Trained(run))
		}
		return normalised(mean)
	}
	method, _ := config.ParseMethod(run.Method)
	if !method.WeightClassification {
		return slices.Clone(s.Source)
	}
	shares := slices.Repeat([]float64{1}, len(s.Source))
	if form.Classification(run.Losses.Classification) == form.WeightedBalanced {
		weights := s.Weights
		if s.Fixed != nil {
			weights = s.Fixed
		}
		for y, weight := range weights {
			shares[y] = max(weight, LeastWeight)
		}
	}
	return normalised(shares)
}

// Distance is that of the estimate to the true weights, if these are known.
func (s *Shares) Distance() store.Optional[float64] {
	if s.Truth == nil {
		return store.Optional[float64]{}
	}
	return store.Measured(weightest.Distance(s.Weights, s.Truth))
}

// Describe sets in a line of metrics how far the weights are from the true and from equal ones.
func (s *Shares) Describe(m *store.Metrics) {
	m.WeightDistance = s.Distance().OrNaN()
	m.LargestWeight = store.Measured(slices.Max(s.Weights))
	m.EffectiveSampleSize = store.Measured(weightest.EffectiveSampleSize(s.Weights, s.Source))
}

// conclude sets the weights and what is known of them in a result.
func (s *Shares) conclude(r *store.Result) {
	r.Weights, r.TrueWeights, r.WeightDistance = s.Weights, s.Truth, s.Distance()
	r.LabelDistributions = store.LabelDistributions{Source: s.Source, Target: s.Target}
	if s.Target != nil {
		r.JSD = store.Measured(datasets.JSD(s.Source, s.Target))
	}
	for _, source := range s.Sources {
		var of store.Result
		source.conclude(&of)
		r.Sources = append(r.Sources, store.SourceResult{
			Name: source.Name, Shares: source.Source, Weights: of.Weights, TrueWeights: of.TrueWeights, WeightDistance: of.WeightDistance, JSD: of.JSD,
		})
	}
}

// Package normalisation does to rows of features what a configuration says that happens to
// them before the network, see network.normalise.
package normalisation

import (
	"fmt"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
	"iwda/experiments/model"
)

// Normalisation is what happens to rows of either domain before the network.
type Normalisation struct {
	way            string
	source, target normalise.Statistics // where [config.Standardises]
}

// New takes each domain's statistics from its training rows. Only network.normalise, scale
// and clip count.
func New(network config.Network, source, target datasets.Set) (Normalisation, error) {
	n := Normalisation{way: network.Normalise}
	var ofSource, ofTarget normalise.Range
	if network.Clip > 0 {
		ofSource, ofTarget, _ = normalise.Ranges(source, target, network.Clip)
		source, target = normalise.Clipped(source, ofSource), normalise.Clipped(target, ofTarget)
	}
	switch n.way {
	case config.Standardise, config.Centre:
		n.source, n.target = normalise.StatisticsOf(source), normalise.StatisticsOf(target)
		if n.way == config.Centre {
			normalise.StretchAlike(&n.source, &n.target)
		}
		normalise.LeaveOut(&n.source, &n.target)
	case config.Match:
		matched, err := normalise.Match(source, target)
		if err != nil {
			return Normalisation{}, fmt.Errorf("network.normalise is %s: %w", n.way, err)
		}
		n.source, n.target = matched.Source, matched.Target
	}
	if network.Scale == config.SharedScale {
		normalise.ShareScale(&n.source, &n.target)
	}
	n.source.Range, n.target.Range = ofSource, ofTarget
	return n, nil
}

// Source returns a view of rows of the source as the network sees them.
func (n Normalisation) Source(set datasets.Set) datasets.Set { return n.view(set, n.source) }

// Target returns a view of rows of the target as the network sees them.
func (n Normalisation) Target(set datasets.Set) datasets.Set { return n.view(set, n.target) }

func (n Normalisation) view(set datasets.Set, by normalise.Statistics) datasets.Set {
	switch {
	case config.Standardises(n.way):
		return normalise.Standardised(set, by)
	case n.way == config.UnitLength:
		return normalise.UnitLength(set)
	}
	return set
}

// Saved is the normalisation as a model keeps it.
func (n Normalisation) Saved() model.Normalisation {
	switch {
	case config.Standardises(n.way):
		return model.Normalisation{Kind: model.Standardised, Source: model.StatisticsOf(n.source), Target: model.StatisticsOf(n.target)}
	case n.way == config.UnitLength:
		return model.Normalisation{Kind: model.UnitLength}
	}
	return model.Normalisation{Kind: model.NotNormalised}
}

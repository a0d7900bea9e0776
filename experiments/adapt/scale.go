package adapt

import (
	"math/rand/v2"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
	"iwda/experiments/model"
	"iwda/experiments/normalisation"
	"iwda/selection"
)

// probed bounds what a probe reads, and by how much it has to be better.
const (
	probedRows  = 8000   // of the source at most
	mostProbed  = 60_000 // values times classes, up to which a probe takes some seconds
	clearlyLess = 0.1    // of the target-risk
)

// normalised decides how features are normalised: first what brings the domains to each
// other, then whether columns keep their size beside each other. The latter, and whether the
// target's columns are all stretched alike, is found by probes, the networks' own way of
// learning from a share of the source's rows, and their target-risk.
func normalised(source, target datasets.Set, c Columns) Normalisation {
	decided := agreement(normalise.Clipped(source, c.ofSource), normalise.Clipped(target, c.ofTarget))
	if few(source, target) || datasets.Size(source.Shape())*len(source.ClassNames()) > mostProbed {
		return decided
	}
	clip := 0.0
	if len(c.Clipped) > 0 {
		clip = clipAt
	}
	lowest, err := decided.probed(source, target, clip)
	if err != nil {
		return decided
	}
	best, limit := decided, lowest-clearlyLess
	for _, other := range decided.others(clip > 0) {
		if risk, err := other.probed(source, target, clip); err == nil && risk < min(lowest, limit) {
			best, lowest = other, risk
		}
	}
	return best
}

// others are the ways that stand beside the one that was decided on: with one scale for all
// columns, and, where the domains do not match, with one stretch for all of the target's; and
// the same without clipping, as values far from all others may be what matters.
func (n Normalisation) others(clipped bool) (others []Normalisation) {
	add := func(way, because string) {
		other := Normalisation{Way: way, Scale: config.SharedScale, Because: because}
		others = append(others, other)
		if clipped {
			other.Unclipped = true
			others = append(others, other)
		}
	}
	const kept = "Columns keep their size beside each other, by which a linear classifier did clearly better."
	add(n.Way, n.Because+" "+kept)
	if n.Way == config.Standardise {
		add(config.Centre, "Each domain's columns are brought to mean 0, and the target's are all stretched alike. "+kept)
	}
	return others
}

// probed returns the target-risk of a probe that learns from some of the source's rows, so
// normalised; see [selection.TargetRisk].
func (n Normalisation) probed(source, target datasets.Set, clip float64) (float64, error) {
	if n.Unclipped {
		clip = 0
	}
	source, target = datasets.Evenly(source, probedRows), datasets.Evenly(target, testedRows)
	kept, held := datasets.HoldOutRows(datasets.LabelsOf(source), len(source.ClassNames()), testedShare, rand.New(datasets.Stream(1, "normalise")))
	learnt, heldOut := datasets.Subset(source, kept), datasets.Subset(source, held)
	by, err := normalisation.New(config.Network{Normalise: n.Way, Scale: n.Scale, Clip: clip}, learnt, target)
	if err != nil {
		return 0, err
	}
	p := fitProbe(by.Source(learnt), rand.New(datasets.Stream(1, "probe")))
	return targetRisk(Candidate{
		Run:          "a linear classifier",
		SourceLogits: p.logits(valuesOf(by.Source(heldOut))), SourceLabels: datasets.LabelsOf(heldOut).Classes(),
		TargetLogits: p.logits(valuesOf(by.Target(target))),
	})
}

// targetRisk is that of a candidate by the class shares that it estimates itself.
func targetRisk(c Candidate) (float64, error) {
	in, _, err := c.calibrated()
	if err != nil {
		return 0, err
	}
	sample, err := in.Sample()
	if err != nil {
		return 0, err
	}
	solution, err := model.TargetShares(sample)
	if err != nil {
		return 0, err
	}
	in.ClassWeights = Shared{TargetShares: solution.TargetDistribution}.weightsOver(c.SourceLabels)
	risk, err := selection.ClassWeightedRisk.Value(in)
	if err != nil {
		return 0, err
	}
	criterion, err := selection.Find("unexplained")
	if err != nil {
		return 0, err
	}
	unexplained, err := criterion.Value(in)
	return risk + unexplained, err
}

package adapt

import (
	"math"
	"math/rand/v2"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
	"iwda/experiments/judge"
	"iwda/experiments/normalisation"
)

// What a probe reads, and by how much of the target-risk another normalisation has to be better;
// research/comparisons/normalisation.md has the comparison.
const (
	probedRows = 8000   // of the source, some more where classes are rare
	mostProbed = 60_000 // values times classes, up to which a probe takes some seconds

	lessByScale = 0.05
	lessByMap   = 0.1 // more, as the target-risk hardly sees a map that moves classes apart
)

// normalised decides how features are normalised: what brings the domains to each other, and
// whether their columns keep their size beside each other. That, and whether all of the
// target's columns are stretched alike, is found by probes, which learn from a share of the
// source's rows as the networks will, and their target-risk.
func normalised(source, target datasets.Set, c Columns) Normalisation {
	decided := agreement(normalise.Clipped(source, c.ofSource), normalise.Clipped(target, c.ofTarget))
	if few(source, target) || datasets.Size(source.Shape())*len(source.ClassNames()) > mostProbed {
		return decided
	}
	risk, err := probed(source, target, decided.network(c))
	if err != nil {
		return decided
	}
	best, lowest := decided, math.Inf(1)
	for _, other := range decided.withSharedScale() {
		less := lessByScale
		if other.Way != decided.Way {
			less = lessByMap
		}
		otherRisk, err := probed(source, target, other.network(c))
		if err == nil && otherRisk < min(risk-less, lowest) {
			best, lowest = other, otherRisk
		}
	}
	return best
}

// withSharedScale returns what stands beside the normalisation that was decided on: the same
// with one scale for all columns, and, where the domains do not match, with one stretch for all
// of the target's columns as well.
func (n Normalisation) withSharedScale() []Normalisation {
	const kept = " Columns keep their size beside each other, by which a linear classifier does clearly better here."
	others := []Normalisation{{n.Way, config.SharedScale, n.Because + kept}}
	if n.Way == config.Standardise {
		others = append(others, Normalisation{config.Centre, config.SharedScale, "Each domain's columns are brought to mean 0, and all of the target's are stretched alike." + kept})
	}
	return others
}

// probed returns the target-risk of a probe that learns from some of the source's rows, so
// normalised; see [judge.Candidate.TargetRisk].
func probed(source, target datasets.Set, how config.Network) (float64, error) {
	k := len(source.ClassNames())
	source, target = datasets.Subset(source, spacedRows(datasets.LabelsOf(source), k, probedRows)), datasets.Evenly(target, testedRows)
	learnt, heldOut := withoutTested(source)
	by, err := normalisation.New(how, learnt, target)
	if err != nil {
		return 0, err
	}
	p := fitProbe(by.Source(learnt), rand.New(datasets.Stream(1, "probe")))
	return judge.Candidate{
		Run:          "a linear classifier",
		SourceLogits: p.logits(normalise.Values(by.Source(heldOut))), SourceLabels: datasets.LabelsOf(heldOut).Classes(),
		TargetLogits: p.logits(normalise.Values(by.Target(target))),
	}.TargetRisk()
}

// spacedRows returns some so many labelled rows, those of each of k classes evenly spaced, but
// no fewer than ten of a class that has them: one of them is to be held out, others learnt from.
func spacedRows(labels datasets.Labels, k, most int) (rows []int) {
	const fewestOfClass = 10
	seen, wanted, counts := make([]int, k), make([]int, k), labels.Counts(k)
	for class, n := range counts {
		wanted[class] = min(n, max(fewestOfClass, n*most/labels.Len()))
	}
	for i := range labels.Len() {
		class, known := labels.At(i)
		if !known {
			continue
		}
		if before := seen[class] * wanted[class] / counts[class]; (seen[class]+1)*wanted[class]/counts[class] > before {
			rows = append(rows, i)
		}
		seen[class]++
	}
	return rows
}

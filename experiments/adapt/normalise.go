package adapt

import (
	"fmt"
	"math/rand/v2"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
	"iwda/weightest"
	"iwda/weightest/shifttest"
)

// Normalisation is how features are normalised, and why.
type Normalisation struct {
	Way     string // of network.normalise
	Scale   string // of network.scale
	Because string // sentences
}

// AskedFor is the normalisation that a user has decided on.
func AskedFor(way, scale string) Normalisation {
	return Normalisation{Way: way, Scale: scale, Because: "How they are normalised was asked for, whatever the data say."}
}

// network has the settings of network that say so. One scale clips nothing: no column's
// divisor depends on values far from all others alone.
func (n Normalisation) network(c Columns) config.Network {
	how := config.Network{Normalise: n.Way, Scale: n.Scale}
	if config.Standardises(n.Way) && n.Scale == "" && len(c.Clipped) > 0 {
		how.Clip = clipAt
	}
	return how
}

const (
	// matchedAt is the p-value from which on the target counts as matched; research/comparisons/normalisation.md
	// has the comparison of both numbers.
	matchedAt = 0.01
	// fewestOfAClass is the number of rows a class, on average and in either domain, below which
	// the map may take one class for the whole target, and no test tells; research/comparisons/normalisation.md
	// has the comparisons.
	fewestOfAClass = 40
	// leastGain is the number of nats a value by which the map may make the target less likely
	// than its own means and deviations do; where it collapses, more are lost. Columns that
	// depend on each other lose some, too.
	leastGain = -0.15
	// testedRows bounds the rows of the target that the test reads: it is as good with them.
	testedRows = 10_000
	// testedShare is the share of the source's rows that stands for the source.
	testedShare = 0.2
	// mostCoefficients is the number of values times classes up to which the test takes
	// seconds.
	mostCoefficients = 200_000
	// mostValues is the number of values of a row up to which the map takes seconds, by whose
	// cube it grows: 4,096 take a minute, in each of the runs.
	mostValues = 2048
)

// agreement decides between [config.Match] and [config.Standardise]: the former takes
// for granted that the target is the source's classes in other shares, but for what moves
// or stretches a column.
func agreement(source, target datasets.Set) Normalisation {
	own := func(format string, values ...any) Normalisation {
		return Normalisation{Way: config.Standardise, Because: "Each domain is standardised with its own mean and deviation: " + fmt.Sprintf(format, values...)}
	}
	if d := datasets.Size(source.Shape()); d > mostValues || d*len(source.ClassNames()) > mostCoefficients {
		return own("to match them under other class shares was not tried with so many values and classes.")
	}
	if few(source, target) {
		return own("to match them under other class shares takes at least %d rows of so many classes.", fewestOfAClass*len(source.ClassNames()))
	}
	gain, test, err := matchedTest(source, target)
	switch {
	case err != nil:
		return own("whether they match under other class shares could not be tested (%v).", err)
	case gain < leastGain*float64(datasets.Size(source.Shape())):
		return own("to match them under other class shares would make the target far less likely, by %.3g nats a row.", -gain)
	case test.P < matchedAt:
		return own("they do not match under other class shares (p = %.2g).", test.P)
	}
	found := fmt.Sprintf("nothing speaks against that (p = %.2g).", test.P)
	if !test.Tested() {
		found = "so few rows say nothing against that, and could not."
	}
	return Normalisation{Way: config.Match, Because: "The target's columns are moved and stretched to agree with the source's under its own class shares: " + found}
}

// few tells whether one of the domains has too few rows to decide anything by them.
func few(source, target datasets.Set) bool {
	return min(source.Len(), target.Len()) < fewestOfAClass*len(source.ClassNames())
}

// matchedTest asks whether the target's rows, once matched, are those of the source's
// classes in other shares. It reads the posteriors of the discriminant that the map was made
// with. Source rows from which neither was made stand for the source. gain is that of the
// map, see [normalise.Matched].
func matchedTest(source, target datasets.Set) (gain float64, test shifttest.LabelShift, err error) {
	k := len(source.ClassNames())
	learnt, heldOut := withoutTested(source)
	m, err := normalise.Match(learnt, target)
	if err != nil {
		return 0, shifttest.LabelShift{}, err
	}
	sample := weightest.NewSample(k)
	if err := sample.AddSource(m.Posteriors(heldOut, m.Source), datasets.LabelsOf(heldOut).Classes()); err != nil {
		return 0, shifttest.LabelShift{}, err
	}
	if err := sample.AddTarget(m.Posteriors(datasets.Evenly(target, testedRows), m.Target)); err != nil {
		return 0, shifttest.LabelShift{}, err
	}
	test, err = shifttest.LabelShiftTest(sample, shifttest.LabelShiftSettings{Seed: 1})
	return m.Gain, test, err
}

// withoutTested divides the source's rows into those to learn from and the share that stands
// for the source.
func withoutTested(source datasets.Set) (learnt, tested datasets.Set) {
	kept, held := datasets.HoldOutRows(datasets.LabelsOf(source), len(source.ClassNames()), testedShare, rand.New(datasets.Stream(1, "normalise")))
	return datasets.Subset(source, kept), datasets.Subset(source, held)
}

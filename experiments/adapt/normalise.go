package adapt

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/judge"
	"iwda/experiments/store"
	"iwda/weightest"
	"iwda/weightest/shifttest"
)

// Normalisation is how features are normalised, but for what is clipped, and why.
type Normalisation struct {
	normalise.Settings
	Because string // sentences
}

// askedFor is the normalisation that a user has decided on.
func askedFor(way, scale string) Normalisation {
	return Normalisation{normalise.Settings{Way: way, Scale: scale}, "How they are normalised was asked for, whatever the data say."}
}

// clipping returns the settings with what is clipped. One scale clips nothing: no column's
// divisor depends on values far from all others alone.
func (n Normalisation) clipping(c Columns) normalise.Settings {
	how := n.Settings
	if normalise.Standardises(n.Way) && n.Scale == "" && len(c.Clipped) > 0 {
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

	// What a probe reads, and by how much of the target-risk another normalisation has to be
	// better; research/comparisons/normalisation.md has the comparison.
	probedRows  = 8000   // of the source, some more where classes are rare
	mostProbed  = 60_000 // values times classes, up to which a probe takes some seconds
	lessByScale = 0.05
	lessByMap   = 0.1 // more, as the target-risk hardly sees a map that moves classes apart
)

// normalised decides how features are normalised: what brings the domains to each other, and
// whether their columns keep their size beside each other. That, and, where the domains do not
// match, whether all of the target's columns are stretched alike, is found by probes, which learn
// from a share of the source's rows as the networks will, and their target-risk.
func normalised(source, target datasets.Set, c Columns) Normalisation {
	decided := agreement(normalise.Clipped(source, c.ofSource), normalise.Clipped(target, c.ofTarget))
	if few(source, target) || datasets.Size(source.Shape())*len(source.ClassNames()) > mostProbed {
		return decided
	}
	risk, err := probed(source, target, decided.clipping(c))
	if err != nil {
		return decided
	}
	best, lowest := decided, math.Inf(1)
	tryShared := func(way, because string, less float64) {
		const kept = " Columns keep their size beside each other, by which a linear classifier does clearly better here."
		other := Normalisation{normalise.Settings{Way: way, Scale: normalise.SharedScale}, because + kept}
		if otherRisk, err := probed(source, target, other.clipping(c)); err == nil && otherRisk < min(risk-less, lowest) {
			best, lowest = other, otherRisk
		}
	}
	tryShared(decided.Way, decided.Because, lessByScale)
	if decided.Way == normalise.Standard {
		tryShared(normalise.Centred, "Each domain's columns are brought to mean 0, and all of the target's are stretched alike.", lessByMap)
	}
	return best
}

// agreement decides between [normalise.Matched] and [normalise.Standard]: the former takes
// for granted that the target is the source's classes in other shares, but for what moves
// or stretches a column.
func agreement(source, target datasets.Set) Normalisation {
	own := func(format string, values ...any) Normalisation {
		return Normalisation{normalise.Settings{Way: normalise.Standard}, "Each domain is standardised with its own mean and deviation: " + fmt.Sprintf(format, values...)}
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
	return Normalisation{normalise.Settings{Way: normalise.Matched}, "The target's columns are moved and stretched to agree with the source's under its own class shares: " + found}
}

// few tells whether one of the domains has too few rows to decide anything by them.
func few(source, target datasets.Set) bool {
	return min(source.Len(), target.Len()) < fewestOfAClass*len(source.ClassNames())
}

// matchedTest asks whether the target's rows, once matched, are those of the source's
// classes in other shares. It reads the posteriors of the discriminant that the map was made
// with. Source rows from which neither was made stand for the source. gain is that of the
// map, see [normalise.Match].
func matchedTest(source, target datasets.Set) (gain float64, test shifttest.LabelShift, err error) {
	k := len(source.ClassNames())
	learnt, heldOut := withoutTested(source)
	m, err := normalise.NewMatch(learnt, target)
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

// probed returns the target-risk of a probe that learns from some of the source's rows, so
// normalised; see [judge.Candidate.TargetRisk].
func probed(source, target datasets.Set, how normalise.Settings) (float64, error) {
	k := len(source.ClassNames())
	source, target = datasets.Subset(source, spacedRows(datasets.LabelsOf(source), k, probedRows)), datasets.Evenly(target, testedRows)
	learnt, heldOut := withoutTested(source)
	by, err := normalise.Fit(how, learnt, target)
	if err != nil {
		return 0, err
	}
	p := fitProbe(by.OnSource(learnt), rand.New(datasets.Stream(1, "probe")))
	narrow := func(logits *mat.Dense) (values []float32) {
		for _, z := range logits.RawMatrix().Data {
			values = append(values, float32(z))
		}
		return values
	}
	return judge.Candidate{Run: "a linear classifier", Outputs: store.Outputs{
		Classes: k,
		HeldOut: narrow(p.logits(normalise.Values(by.OnSource(heldOut)))), HeldOutLabels: datasets.LabelsOf(heldOut).Classes(),
		Target: narrow(p.logits(normalise.Values(by.OnTarget(target)))),
	}}.TargetRisk()
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

// probe is a softmax regression of k classes on d columns, which says how well a small network
// can learn from rows as they are normalised, in a second and not a minute.
type probe struct {
	weights *mat.Dense // k×d
	biases  []float64
}

// How a probe learns: as the networks of [Data.Experiment] do, with plain cross-entropy.
const (
	probeSteps    = 1200
	probeBatch    = 128
	probeRate     = 0.02
	probeHalvings = 3 // of the rate
	probeMomentum = 0.9
	probeDecay    = 5e-4
)

// fitProbe trains one by stochastic gradient descent on a set all of whose rows have labels.
func fitProbe(set datasets.Set, random *rand.Rand) probe {
	k, d, size := len(set.ClassNames()), datasets.Size(set.Shape()), min(probeBatch, set.Len())
	labels, rows := datasets.LabelsOf(set).Classes(), normalise.Values(set)
	p := probe{mat.NewDense(k, d, nil), make([]float64, k)}
	batch, gradient, velocity := mat.NewDense(size, d, nil), mat.NewDense(k, d, nil), mat.NewDense(k, d, nil)
	biasVelocity, order := make([]float64, k), []int(nil)
	for step := range probeSteps {
		if len(order) < size {
			order = random.Perm(set.Len())
		}
		chosen := order[:size]
		order = order[size:]
		for i, row := range chosen {
			batch.SetRow(i, rows.RawRowView(row))
		}
		residuals := p.logits(batch)
		floats.Scale(probeMomentum, biasVelocity)
		for i, row := range chosen {
			residual := residuals.RawRowView(i)
			total := floats.LogSumExp(residual)
			for class, logit := range residual {
				residual[class] = math.Exp(logit-total) / float64(size)
			}
			residual[labels[row]] -= 1 / float64(size)
			floats.Add(biasVelocity, residual)
		}
		gradient.Mul(residuals.T(), batch)
		v, w := velocity.RawMatrix().Data, p.weights.RawMatrix().Data
		floats.Scale(probeMomentum, v)
		floats.Add(v, gradient.RawMatrix().Data)
		floats.AddScaled(v, probeDecay, w)
		rate := math.Ldexp(probeRate, -step*(probeHalvings+1)/probeSteps)
		floats.AddScaled(w, -rate, v)
		floats.AddScaled(p.biases, -rate, biasVelocity)
	}
	return p
}

// logits of rows (n×d), n×k.
func (p probe) logits(rows *mat.Dense) *mat.Dense {
	var logits mat.Dense
	logits.Mul(rows, p.weights.T())
	for i := range logits.RawMatrix().Rows {
		floats.Add(logits.RawRowView(i), p.biases)
	}
	return &logits
}

package shifttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

// LabelShift says whether changed class shares alone explain a target's predictions.
type LabelShift struct {
	// Statistic is J, how far the target's predictions are from those of the source's
	// classes in the best shares, in units of their random errors.
	Statistic float64
	// Bins is the number m' of bins of predicted class and certainty.
	Bins int
	// DegreesOfFreedom are m'-k, k the classes with source rows: those of the χ²
	// distribution that J follows under label shift, in large samples with every class
	// in the target. Where it is not positive, nothing can be tested and P is 1; so it is 0
	// where the classes have fewer than twelve source rows on average, with which little is found and much is false.
	DegreesOfFreedom int
	// P is the probability of a statistic at least as large under label shift.
	P float64
	// Resamples is the number of resamples under label shift that P was counted in; 0
	// where it is that of χ².
	Resamples int
	// TargetDistribution are the shares of all classes that fit best, length k; 0 for a
	// class without source rows.
	TargetDistribution []float64
}

// LabelShiftSettings are the options of LabelShiftTest.
type LabelShiftSettings struct {
	// Resamples is the largest number of resamples where P is counted; 0 means 500.
	// Fewer do where P is large.
	Resamples int
	Seed      uint64
}

// Significance is the p-value below which a test rejects.
const Significance = 0.05

// Tested returns whether there were rows and different predictions enough for the test to
// say anything. P is 1 where there were not.
func (l LabelShift) Tested() bool { return l.DegreesOfFreedom > 0 }

// Explained returns whether the test found nothing against label shift.
func (l LabelShift) Explained() bool { return l.P >= Significance }

// Verdict says the result in a sentence.
func (l LabelShift) Verdict() string {
	switch {
	case !l.Tested():
		return "too few rows, or too few different predictions, to tell whether label shift explains them"
	case l.Explained():
		return fmt.Sprintf("label shift explains these predictions (p = %.2f)", l.P)
	case l.P < 0.001:
		return "label shift does not explain these predictions (p < 0.001): the weights are not to be trusted"
	}
	return fmt.Sprintf("label shift does not explain these predictions (p = %.3f): the weights are not to be trusted", l.P)
}

// LabelShiftTest asks whether the target's predictions are those of the source's classes,
// in other shares. Under label shift a row of a class is predicted alike in both domains,
// so that the target's shares b of some bins satisfy b = A q with the shares A of each
// source class, and there are more bins than classes: those predicted as a class are
// three bins, of a third of them by that class's probability, unless there are too few.
// With the q on the simplex that makes
//
//	J(q) = (b - Aq)ᵀ Ω(q)⁻¹ (b - Aq)
//
// smallest, Ω(q) the covariance of b - Aq, J is χ² with m'-k degrees of freedom (a test
// of over-identifying restrictions: Sargan 1958; Hansen 1982) where the samples are
// large and no q is 0. Elsewhere p is counted in resamples (a posterior predictive p-value:
// Rubin 1984): each class's shares of the bins are drawn from what its source rows, and one
// row that is spread, leave possible; from these shares its source rows, and with q the
// target's. Taken from the source's rows as they are, bins without any would stay empty in each
// resample, and few held-out rows reject label shift nearly always.
//
// What the test cannot see is a change that leaves the bins' shares as they were, and one
// that some other q explains. The error wraps ErrNoStatistics where a domain has no row.
func LabelShiftTest(s *weightest.Sample, settings LabelShiftSettings) (LabelShift, error) {
	if err := s.RequireRows(); err != nil {
		return LabelShift{}, err
	}
	if settings.Resamples <= 0 {
		settings.Resamples = 500
	}
	counts := binCertainty(s)
	present := counts.dropAbsent()
	result := LabelShift{
		Bins:               len(counts.target),
		DegreesOfFreedom:   len(counts.target) - len(present),
		P:                  1,
		TargetDistribution: make([]float64, s.Classes()),
	}
	q := slices.Repeat([]float64{1 / float64(len(present))}, len(present))
	if len(counts.target) > 1 {
		var err error
		if result.Statistic, err = newMoments(counts, counts.pooled()).minimise(q, 0); err != nil {
			return LabelShift{}, err
		}
	}
	for i, y := range present {
		result.TargetDistribution[y] = q[i]
	}
	if counts.sourceRows() < fewestTested*float64(len(present)) {
		result.DegreesOfFreedom = min(result.DegreesOfFreedom, 0)
	}
	if !result.Tested() {
		return result, nil
	}
	if counts.areMany(q) {
		result.P = chiSquaredTail(result.Statistic, result.DegreesOfFreedom)
		return result, nil
	}
	var err error
	result.P, result.Resamples, err = counts.resampledP(q, result.Statistic, settings)
	return result, err
}

// dropAbsent leaves out the classes without source rows and returns the others.
func (c *binnedCounts) dropAbsent() (present []int) {
	var source [][]float64
	for y, counts := range c.source {
		if floats.Sum(counts) > 0 {
			present = append(present, y)
			source = append(source, counts)
		}
	}
	c.source = source
	return present
}

// pooled returns the bins' shares in both domains together.
func (c *binnedCounts) pooled() []float64 {
	shares := slices.Clone(c.target)
	for _, counts := range c.source {
		floats.Add(shares, counts)
	}
	floats.Scale(1/floats.Sum(shares), shares)
	return shares
}

// fewestTested is the number of source rows a class on average from which on the test finds what
// has changed, if that is much, and rejects label shift not much more often than it should;
// docs/labelshift.md has both. With fewer some class shares explain nearly everything.
const fewestTested = 12

func (c *binnedCounts) sourceRows() (rows float64) {
	for _, counts := range c.source {
		rows += floats.Sum(counts)
	}
	return rows
}

// areMany returns whether J is near χ²: no share is near 0, and every class has rows
// enough in both domains.
func (c *binnedCounts) areMany(q []float64) bool {
	const rows = 50
	for y, share := range q {
		if floats.Sum(c.source[y]) < rows || share*floats.Sum(c.target) < rows {
			return false
		}
	}
	return true
}

const (
	// resampleBatch is the number of resamples after which it is asked whether they are
	// enough.
	resampleBatch = 50
	// enoughLarger is the number of statistics above the sample's after which they are:
	// p is then known to a fifth of itself (Besag and Clifford 1991).
	enoughLarger = 25
)

// resampledP is the share of resamples under label shift with the class shares q whose
// statistic is at least as large, the sample itself counted as one of them.
func (c *binnedCounts) resampledP(q []float64, statistic float64, settings LabelShiftSettings) (p float64, resamples int, err error) {
	pooled := c.pooled()
	var done, larger int
	for done < settings.Resamples && larger < enoughLarger {
		batch := min(resampleBatch, settings.Resamples-done)
		values, failures := make([]float64, batch), make([]error, batch)
		panels.Each(batch, func(i int) {
			random := rand.New(rand.NewPCG(settings.Seed, uint64(done+i)))
			drawn, target := binnedCounts{}, make([]float64, len(c.target))
			for y, counts := range c.source {
				shares := dirichlet(counts, pooled, random)
				drawn.source = append(drawn.source, multinomial(floats.Sum(counts), shares, random))
				floats.AddScaled(target, q[y], shares)
			}
			drawn.target = multinomial(floats.Sum(c.target), target, random)
			// All that is asked is whether J is as large. Where the sample's is far too large, it
			// mostly is not at q already.
			values[i], failures[i] = newMoments(drawn, pooled).minimise(slices.Clone(q), statistic)
		})
		for i, value := range values {
			if failures[i] != nil {
				return 0, 0, failures[i]
			}
			if value >= statistic {
				larger++
			}
		}
		done += batch
	}
	return float64(larger+1) / float64(done+1), done, nil
}

// dirichlet draws a class's shares of the bins given its counts, and a row that is spread like
// both domains together.
func dirichlet(counts, pooled []float64, random *rand.Rand) []float64 {
	shares := make([]float64, len(counts))
	for i, rows := range counts {
		shares[i] = distuv.Gamma{Alpha: rows + pooled[i], Beta: 1, Src: random}.Rand()
	}
	floats.Scale(1/floats.Sum(shares), shares)
	return shares
}

// multinomial draws the counts of so many rows over bins in proportion to the shares.
func multinomial(rows float64, shares []float64, random *rand.Rand) []float64 {
	counts := make([]float64, len(shares))
	left := floats.Sum(shares)
	for i, share := range shares {
		if rows == 0 {
			break
		}
		counts[i] = rows
		if i+1 < len(shares) && share < left {
			counts[i] = distuv.Binomial{N: rows, P: math.Max(0, share/left), Src: random}.Rand()
		}
		rows -= counts[i]
		left -= share
	}
	return counts
}

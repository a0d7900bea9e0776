package shifttest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/evenly"
	"iwda/weightest"
)

// LabelShift says whether more than the class shares changed in a target's predictions.
type LabelShift struct {
	// Statistic is J, how far the target's predictions are from those of the source's
	// classes in the best shares, in units of their random errors.
	Statistic float64
	// Classes is the number k of classes with source rows, Bins the number m' of bins of predicted
	// class and certainty.
	Classes, Bins int
	// DegreesOfFreedom are m'-k: those of the χ² distribution that J nears under label shift, in
	// large samples with every class in the target. If they are 0, nothing can be tested and
	// P is 1; so too if the classes have fewer than twelve source rows on average, or those of the
	// target have too few, with which little is found and much is false, and with more than MostClasses.
	DegreesOfFreedom int
	// P is the probability of a statistic at least as large under label shift.
	P float64
	// Detectable is the loss of accuracy on the target, between 0 and 1, from which on the test finds
	// turned logits with a probability of 80% in simulated samples with as many rows a class; +Inf if it
	// finds none so, NaN if nothing was tested or label shift is rejected. Swaps of pairs of classes are
	// not meant: to this test they are nearly label shift.
	Detectable float64
	Beside     int // that of the settings
}

// LabelShiftSettings are the options of LabelShiftTest.
type LabelShiftSettings struct {
	// Resamples is the largest number of resamples where P is counted; 0 means 500.
	// Fewer do where P is large.
	Resamples int
	Seed      uint64
	// Beside is how many other tests the same is asked of: each rejects at its part of [Significance], so that
	// all together rarely reject what is right.
	Beside int
}

// Significance is the p-value below which a test rejects.
const Significance = 0.05

// MostClasses is the number of classes up to which the test is made. Its time grows with their cube:
// of 200 it takes half a minute.
const MostClasses = 225

// Tested returns whether the test says anything. P is 1 if it does not.
func (l LabelShift) Tested() bool { return l.DegreesOfFreedom > 0 }

// Untested says why nothing could be tested, "" if it could.
func (l LabelShift) Untested() string {
	switch {
	case l.Tested():
		return ""
	case l.Classes > MostClasses:
		return fmt.Sprintf("there are too many classes (more than %d)", MostClasses)
	}
	return "there are too few source rows, or too few different predictions,"
}

// Level is the p-value below which it rejects, and so do the tests beside it.
func (l LabelShift) Level() float64 { return Significance / float64(1+l.Beside) }

// Rejected returns whether the test found something against label shift.
func (l LabelShift) Rejected() bool { return l.P < l.Level() }

// Verdict says the result in a sentence.
func (l LabelShift) Verdict() string {
	switch {
	case !l.Tested():
		return l.Untested() + " to test for label shift"
	case l.P < 0.001:
		return "more than the class shares changed (p < 0.001): do not rely on the class weights"
	case l.Rejected():
		return fmt.Sprintf("more than the class shares changed (p = %.3f): do not rely on the class weights", l.P)
	}
	return fmt.Sprintf("the test found nothing against label shift (p = %.2f)%s", l.P, l.wouldHaveFound())
}

// wouldHaveFound says what Detectable is.
func (l LabelShift) wouldHaveFound() string {
	switch {
	case math.IsNaN(l.Detectable):
		return ""
	case math.IsInf(l.Detectable, 1):
		return ", but it could have missed even a large loss of accuracy"
	}
	return fmt.Sprintf("; it would have found a loss of accuracy of %.0f points or more", 100*l.Detectable)
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
// of over-identifying restrictions: Sargan 1958; Hansen 1982) in very large samples if no q is
// 0. With some hundred source rows it is above that, as Ω is an estimate from these. So p is
// counted in resamples (a parametric bootstrap), from the shares of the bins and of the classes that are
// likeliest under label shift by the rows of both domains. Taken from the source's rows alone, a bin in
// which a class has none by chance would be empty in each resample. If the target lacks the classes that
// have some there, nothing would explain its rows, and label shift would be rejected.
//
// Rows of a group count as so many on their own as vary as much, in the sample and in resamples, in which each
// group is as far from all groups as in the sample, to either side.
//
// What the test cannot see is a change that leaves the bins' shares as they were, and one
// that some other q fits. The error wraps ErrNoStatistics where a domain has no row.
func LabelShiftTest(s *weightest.Sample, settings LabelShiftSettings) (LabelShift, error) {
	if err := s.RequireRows(); err != nil {
		return LabelShift{}, err
	}
	if settings.Resamples <= 0 {
		settings.Resamples = 500
	}
	counts := binCertainty(s)
	counts.dropAbsent()
	k := len(counts.source)
	result := LabelShift{Classes: k, Bins: len(counts.target), P: 1, Detectable: math.NaN(), Beside: settings.Beside}
	if k > MostClasses {
		return result, nil
	}
	result.DegreesOfFreedom = max(0, result.Bins-k)
	q, pooled := slices.Repeat([]float64{1 / float64(k)}, k), counts.pooled()
	var err error
	if len(counts.target) > 1 {
		if result.Statistic, err = newMoments(counts, pooled).minimise(q, 0); err != nil {
			return LabelShift{}, err
		}
	}
	if counts.tooFewRows(q) {
		result.DegreesOfFreedom = 0
	}
	if !result.Tested() {
		return result, nil
	}
	result.P, err = newNull(&counts, pooled, q, settings.Seed).p(result.Statistic, settings.Resamples)
	if !result.Rejected() {
		result.Detectable = counts.detectable()
	}
	return result, err
}

// detectable returns the loss that is found by as many rows a class, of the domain with fewer;
// research/labelshift.md has the samples from which the table is: half of that, as classifiers may be worse.
func (c *binnedCounts) detectable() float64 {
	fewest := min(floats.Sum(c.target), c.sourceRows()) / float64(len(c.source))
	for _, found := range []struct{ rows, loss float64 }{{2000, 0.04}, {600, 0.08}} {
		if fewest >= found.rows {
			return found.loss
		}
	}
	return math.Inf(1)
}

// sourceRows returns the number of the source's rows.
func (c *binnedCounts) sourceRows() (rows float64) {
	for _, counts := range c.source {
		rows += floats.Sum(counts)
	}
	return rows
}

// dropAbsent leaves out the classes without source rows.
func (c *binnedCounts) dropAbsent() {
	var present []int
	var source [][]float64
	for y, counts := range c.source {
		if floats.Sum(counts) > 0 {
			present = append(present, y)
			source = append(source, counts)
		}
	}
	c.source = source
	if c.grouped != nil {
		c.grouped.source = evenly.Pick(c.grouped.source, present)
		c.grouped.number = evenly.Pick(c.grouped.number, present)
	}
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

const (
	// fewestTested is the number of source rows a class on average from which on the test finds what
	// has changed, if that is much, and rejects label shift not much more often than it should;
	// research/labelshift.md has both. With fewer some class shares fit nearly everything.
	fewestTested = 12
	// fewestOfTarget is that number of the target's classes, each counted by the square of its share, if
	// others have more than twice as many: theirs then decide alone, and label shift is rejected too often.
	fewestOfTarget = 16
)

// tooFewRows returns whether the source rows are too few to test with, if the target has class shares q.
func (c *binnedCounts) tooFewRows(q []float64) bool {
	rows := c.sourceRows() / float64(len(q))
	return rows < fewestTested || c.rowsOf(q) < min(fewestOfTarget, rows/2)
}

// rowsOf returns the number of source rows of a class on average, each counted by the square of its share q.
func (c *binnedCounts) rowsOf(q []float64) float64 {
	var squares, spread float64
	for y, counts := range c.source {
		squares += q[y] * q[y]
		spread += q[y] * q[y] / floats.Sum(counts)
	}
	return squares / spread
}

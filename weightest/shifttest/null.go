package shifttest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest/internal/panels"
)

// null draws samples of as many rows under label shift: from the shares of the bins in each class, and of
// the classes in the target, under which label shift makes the rows of both domains likeliest.
type null struct {
	*binnedCounts
	pooled  []float64   // the bins' shares in both domains together
	q       []float64   // the class shares at which the sample's J is smallest
	ofClass [][]float64 // k×bins
	shares  []float64   // length k
	seed    uint64
}

// newNull finds these shares by expectation maximisation from q. Each class has one more source row, which
// is spread like both domains together.
//
// It stops before the likelihood is largest; see steps.
func newNull(c *binnedCounts, pooled, q []float64, seed uint64) *null {
	const least = 1e-3 // a share of 0 would stay 0
	n := &null{binnedCounts: c, pooled: pooled, q: q, seed: seed, shares: make([]float64, len(q))}
	rows, joint := floats.Sum(c.target), make([]float64, len(q))
	ofSource := func() (rows [][]float64) {
		for _, counts := range c.source {
			rows = append(rows, floats.AddTo(make([]float64, len(counts)), counts, pooled))
		}
		return rows
	}
	n.ofClass = ofSource()
	for y, share := range q {
		floats.Scale(1/floats.Sum(n.ofClass[y]), n.ofClass[y])
		n.shares[y] = (share + least) / (1 + least*float64(len(q)))
	}
	for range c.steps(q) {
		ofClass, shares := ofSource(), make([]float64, len(q))
		for bin, count := range c.target {
			for y := range joint {
				joint[y] = n.shares[y] * n.ofClass[y][bin]
			}
			floats.Scale(count/floats.Sum(joint), joint)
			floats.Add(shares, joint)
			for y, part := range joint {
				ofClass[y][bin] += part
			}
		}
		for _, bins := range ofClass {
			floats.Scale(1/floats.Sum(bins), bins)
		}
		floats.Scale(1/rows, shares)
		n.ofClass, n.shares = ofClass, shares
	}
	return n
}

// steps is how many steps of expectation maximisation lead to the null, if the target has class shares q. With many
// bins a class of few source rows would go on to explain what is left of the target's rows, whatever they are: the
// resamples would then be of a target that is mostly of this class, and nothing would be found. The more rows the
// target has for each of the source, the less do the source's say in a step of what a class looks like, and the more
// steps it takes, fewer where few rows are of the target's classes: research/labelshift.md has by what numbers label
// shift is rejected as often as it should be.
func (c *binnedCounts) steps(q []float64) int {
	certainty := min(1, math.Sqrt(c.rowsOf(q)/100)) // of what these classes look like
	return int(30 * max(1, certainty*math.Pow(floats.Sum(c.target)/(5*c.sourceRows()), 2.0/3)))
}

// resample draws the counts of both domains.
func (n *null) resample(random *rand.Rand) binnedCounts {
	drawn, target := binnedCounts{}, make([]float64, len(n.target))
	for y := range n.source {
		floats.AddScaled(target, n.shares[y], n.ofClass[y])
	}
	if n.grouped != nil {
		return n.grouped.resample(n.ofClass, target, random)
	}
	for y, counts := range n.source {
		drawn.source = append(drawn.source, multinomial(floats.Sum(counts), n.ofClass[y], random))
	}
	drawn.target = multinomial(floats.Sum(n.target), target, random)
	return drawn
}

// statistics returns J of the resamples of these numbers, from the first to before the last. Of one whose J
// is below the given value it is any number between the two.
func (n *null) statistics(first, last int, below float64) ([]float64, error) {
	values, failures := make([]float64, last-first), make([]error, last-first)
	panels.Each(len(values), func(i int) {
		drawn := n.resample(rand.New(rand.NewPCG(n.seed, uint64(first+i))))
		values[i], failures[i] = newMoments(drawn, n.pooled).minimise(slices.Clone(n.q), below)
	})
	return values, cmp.Or(failures...)
}

const (
	// resampleBatch is the number of resamples after which it is asked whether they are
	// enough.
	resampleBatch = 50
	// enoughLarger is the number of statistics above the sample's after which they are:
	// p is then known to a fifth of itself (Besag and Clifford 1991).
	enoughLarger = 25
)

// p is the share of so many resamples, or fewer, whose J is at least the sample's, which counts as one of
// them. Where the sample's is far too large, theirs mostly is below it at q already.
func (n *null) p(statistic float64, resamples int) (float64, error) {
	var done, larger int
	for done < resamples && larger < enoughLarger {
		next := min(done+resampleBatch, resamples)
		values, err := n.statistics(done, next, statistic)
		if err != nil {
			return 0, err
		}
		for _, value := range values {
			if value >= statistic {
				larger++
			}
		}
		done = next
	}
	return float64(larger+1) / float64(done+1), nil
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
			counts[i] = distuv.Binomial{N: rows, P: max(0, share/left), Src: random}.Rand()
		}
		rows -= counts[i]
		left -= share
	}
	return counts
}

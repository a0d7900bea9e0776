package selection

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/convert"
	"iwda/weightest/shifttest"
)

// unexplainedShare is the share of a candidate's predictions on the target that no mixture of
// the source's classes explains; see [unexplained].
var unexplainedShare = Criterion{
	Name: "unexplained", Cost: "n·k, and at most n per round of the EM algorithm",
	About: "the share of the target's predictions that no mixture of the source's classes explains",
	Fails: "if a candidate has aligned a class with another one, by chance if rows are few, or if it is used alone: it is only a guard",
	needs: []need{sourceRows, targetRows},
	value: func(in Input) (float64, error) {
		source, target := softmax(in.SourceLogits, 1), softmax(in.TargetLogits, 1)
		return unexplained(source.RawMatrix().Data, in.SourceLabels, target.RawMatrix().Data, in.classes()), nil
	},
}

// unexplained returns the share of the target's predictions that no mixture of the source's
// classes explains: the total variation between the target's shares t of some bins and A q,
// where A are the shares of each source class (bins×classes) and q, the mixture, is the one
// under which the target's rows are most likely. Rows are binned by the predicted class and
// how certain it is, so that the bins of a class have as many rows of both domains together.
//
// It is 0, up to the chance of finite samples, where the domains differ in class shares alone,
// or where their features have been aligned class by class.
func unexplained(source []float64, labels []int, target []float64, k int) float64 {
	bins := shifttest.NewBins(k, source, target)
	binsOfRows := make([][]int, k)
	for i, class := range labels {
		binsOfRows[class] = append(binsOfRows[class], bins.Of(source[i*k:(i+1)*k]))
	}
	ofClasses := convert.Each(binsOfRows, newHistogram) // the columns of A
	ofTarget := make([]float64, k*shifttest.PerClass)
	for row := range slices.Chunk(target, k) {
		ofTarget[bins.Of(row)] += float64(k) / float64(len(target))
	}
	mixture := mostLikely(ofClasses, ofTarget)
	return floats.Distance(ofTarget, mixture, 1) / 2
}

// mostLikely returns the mixture of distributions under which that of the target is most
// likely, by the EM algorithm. Bins that none of them has are left out of the likelihood.
func mostLikely(distributions []histogram, target []float64) (mixture []float64) {
	const rounds = 1000
	shares := slices.Repeat([]float64{1 / float64(len(distributions))}, len(distributions))
	mixture = make([]float64, len(target))
	for range rounds {
		clear(mixture)
		for y, d := range distributions {
			for i, b := range d.bins {
				mixture[b] += shares[y] * d.shares[i]
			}
		}
		total := 0.0
		for y, d := range distributions {
			factor := 0.0
			for i, b := range d.bins {
				if mixture[b] > 0 {
					factor += target[b] * d.shares[i] / mixture[b]
				}
			}
			shares[y] *= factor
			total += shares[y]
		}
		if total == 0 {
			break
		}
		floats.Scale(1/total, shares)
	}
	return mixture
}

// histogram is a distribution over bins, of many classes' bins a few: those that have a share,
// rising.
type histogram struct {
	bins   []int
	shares []float64
}

// newHistogram returns that of rows in these bins, empty for none.
func newHistogram(rows []int) (h histogram) {
	slices.Sort(rows)
	for i, bin := range rows {
		if i == 0 || bin != rows[i-1] {
			h.bins, h.shares = append(h.bins, bin), append(h.shares, 0)
		}
		h.shares[len(h.shares)-1]++
	}
	floats.Scale(1/float64(len(rows)), h.shares)
	return h
}

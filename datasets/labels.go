package datasets

import "gonum.org/v1/gonum/stat"

// Counts returns the number of rows of each class, in label order.
func Counts(set Set) []int {
	counts := make([]int, len(set.ClassNames()))
	for i := range set.Len() {
		counts[set.Label(i)]++
	}
	return counts
}

// Labels returns the label of every row.
func Labels(set Set) []int {
	labels := make([]int, set.Len())
	for i := range labels {
		labels[i] = set.Label(i)
	}
	return labels
}

// LabelDistribution returns the share of each class, in label order: D(y) of the
// paper. It panics where the set is empty.
func LabelDistribution(set Set) []float64 {
	if set.Len() == 0 {
		panic("datasets: LabelDistribution: " + set.Name() + " is empty")
	}
	return Shares(Labels(set), len(set.ClassNames()))
}

// Shares is [LabelDistribution] of labels in [0, classes), of which there is at least
// one.
func Shares(labels []int, classes int) []float64 {
	counts := make([]int, classes)
	for _, label := range labels {
		counts[label]++
	}
	shares := make([]float64, classes)
	for c, count := range counts {
		shares[c] = float64(count) / float64(len(labels))
	}
	return shares
}

// JSD returns the Jensen-Shannon divergence of two distributions over the same
// classes,
//
//	(KL(p, m) + KL(q, m)) / 2,  m = (p + q) / 2
//
// with natural logarithms: 0 where they are equal, ln 2 where they share no class.
// It panics where the lengths differ.
func JSD(p, q []float64) float64 { return stat.JensenShannon(p, q) }

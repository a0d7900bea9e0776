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

// LabelDistribution returns the share of each class, in label order: D(y) of the
// paper. It panics where the set is empty.
func LabelDistribution(set Set) []float64 {
	if set.Len() == 0 {
		panic("datasets: LabelDistribution: " + set.Name() + " is empty")
	}
	counts := Counts(set)
	shares := make([]float64, len(counts))
	for c, count := range counts {
		shares[c] = float64(count) / float64(set.Len())
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

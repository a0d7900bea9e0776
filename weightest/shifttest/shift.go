// Package shifttest asks of a classifier's predictions on two domains whether anything
// shifted, ChiSquaredTest, KolmogorovSmirnovTest and MeansTest, and whether more than class shares
// did, LabelShiftTest. ColumnSums asks the same of the rows' columns.
package shifttest

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/clusters"
	"iwda/weightest"
)

// ChiSquared says whether the hard predictions of two domains follow one distribution.
type ChiSquared struct {
	// Statistic is Pearson's χ² of the 2×k' table of counts, without a correction for
	// continuity.
	Statistic float64
	// DegreesOfFreedom is k'-1, k' the number of columns that were left.
	DegreesOfFreedom int
	// P is the probability of a statistic at least as large where nothing shifted: 1
	// with a single column.
	P float64
}

// ChiSquaredTest is the test that a classifier predicts each class as often on the target
// as on the source, from the counts of its hard predictions (Lipton, Wang and Smola 2018;
// Rabanser, Günnemann and Lipton 2019). It finds changed class shares, but also every
// other shift that moves predictions.
//
// A class of which one domain is expected to show less than one row is counted with the
// others of that kind, and with the next rarest class while the sum is still as small:
// there the statistic is not χ². A class that one domain never predicts and the other
// one often does remains a column, since that is evidence.
//
// The error wraps ErrNoStatistics where a domain has no row.
func ChiSquaredTest(s *weightest.Sums) (ChiSquared, error) {
	if err := s.RequireRows(); err != nil {
		return ChiSquared{}, err
	}
	k := s.Classes()
	source, target := make([]float64, k), make([]float64, k)
	bySource, byTarget := s.HardCounts()
	for i, rows := range bySource {
		source[i%k] += float64(rows)
	}
	for class, rows := range byTarget {
		target[class] = float64(rows)
	}
	columns := mergeRareColumns(source, target)
	result := ChiSquared{Statistic: pearson(columns), DegreesOfFreedom: len(columns) - 1, P: 1}
	if result.DegreesOfFreedom > 0 {
		result.P = chiSquaredTail(result.Statistic, result.DegreesOfFreedom)
	}
	return result, nil
}

// mergeRareColumns returns the columns (source count, target count) of the classes that
// occur, the rare ones as one column.
func mergeRareColumns(source, target []float64) (columns [][2]float64) {
	n, m := floats.Sum(source), floats.Sum(target)
	// Expected in the smaller domain per pooled row.
	share := min(n, m) / (n + m)
	var classes []int
	for j := range source {
		if source[j]+target[j] > 0 {
			classes = append(classes, j)
		}
	}
	slices.SortStableFunc(classes, func(a, b int) int {
		return cmp.Compare(source[a]+target[a], source[b]+target[b])
	})
	var rare [2]float64
	for _, j := range classes {
		together := rare[0] + rare[1]
		if (source[j]+target[j])*share < 1 || together > 0 && together*share < 1 {
			rare[0] += source[j]
			rare[1] += target[j]
			continue
		}
		columns = append(columns, [2]float64{source[j], target[j]})
	}
	if rare[0]+rare[1] > 0 {
		columns = append(columns, rare)
	}
	return columns
}

// pearson returns Σ (observed - expected)²/expected over a table of two rows whose
// columns all have a positive sum.
func pearson(columns [][2]float64) float64 {
	var n, m float64
	for _, c := range columns {
		n += c[0]
		m += c[1]
	}
	var statistic float64
	for _, c := range columns {
		// With the column's sum s both deviations are ±(c₀m - c₁n)/(n+m), and the
		// expectations s·n/(n+m) and s·m/(n+m).
		deviation := c[0]*m - c[1]*n
		statistic += deviation * deviation / ((c[0] + c[1]) * n * m)
	}
	return statistic
}

// chiSquaredTail is the probability that χ² with the degrees of freedom is at least x.
func chiSquaredTail(x float64, degreesOfFreedom int) float64 {
	return distuv.ChiSquared{K: float64(degreesOfFreedom)}.Survival(x)
}

// KolmogorovSmirnov says whether the predicted probabilities of two domains follow one
// distribution.
type KolmogorovSmirnov struct {
	// Distances are the Kolmogorov-Smirnov distances of each class's probability,
	// length k: the largest difference of the two distribution functions.
	Distances []float64
	// ClassP are the p-values of each class on its own, length k.
	ClassP []float64
	// P is the smallest of them times the number of tests (Bonferroni), at most 1: the
	// p-value of "nothing shifted". Two classes are one test, as the probability of
	// one says that of the other.
	P float64
	// Class is the class with the smallest p-value, of several the one with the largest distance.
	Class int
}

// KolmogorovSmirnovTest is the test that each class's probability follows one distribution
// in both domains, corrected by Bonferroni (Rabanser, Günnemann and Lipton 2019). It costs
// a sort of each column.
//
// The p-values are exact where that takes some million operations, and Kolmogorov's
// limit otherwise, which then agrees to some percent, and for rows in groups, which count as so many on their
// own as vary as much. Both take values as all different:
// with ties they are too large, and the test is on the safe side.
//
// The error wraps ErrNoStatistics where a domain has no row.
func KolmogorovSmirnovTest(s *weightest.Sample) (KolmogorovSmirnov, error) {
	if err := s.RequireRows(); err != nil {
		return KolmogorovSmirnov{}, err
	}
	k := s.Classes()
	sourceRows, labels := s.Source()
	n, m := len(labels), len(s.Target())/k
	sourceGroups, targetGroups := s.Groups()
	result := KolmogorovSmirnov{Distances: make([]float64, k), ClassP: make([]float64, k)}
	source, target := make([]float64, n), make([]float64, m)
	for class := range k {
		column(source, sourceRows, k, class)
		column(target, s.Target(), k, class)
		steps := kolmogorovSteps(source, target)
		result.Distances[class] = float64(steps) / (float64(n) * float64(m))
		if result.ClassP[class] = kolmogorovP(n, m, steps); sourceGroups != nil || targetGroups != nil {
			rows, others := alone(source, sourceRows, class, sourceGroups), alone(target, s.Target(), class, targetGroups)
			result.ClassP[class] = kolmogorovLimit(result.Distances[class] * math.Sqrt(rows*others/(rows+others)))
		}
		p, least := result.ClassP[class], result.ClassP[result.Class]
		if p < least || p == least && result.Distances[class] > result.Distances[result.Class] { // many may be 0
			result.Class = class
		}
	}
	tests := k
	if k == 2 {
		tests = 1
	}
	result.P = min(1, float64(tests)*result.ClassP[result.Class])
	return result, nil
}

// alone is the number of rows on their own of which the shares with a class's probability, sorted, up to its quartiles
// vary as much as of those of groups, fewer as few groups tell the variance to the degrees of freedom of a Student's t (Korn
// and Graubard 1998).
func alone(sorted, probabilities []float64, class int, groups []int) float64 {
	n := len(sorted)
	if groups == nil {
		return float64(n)
	}
	upTo := make([]float64, 0, 3*n)
	for row := range slices.Chunk(probabilities, len(probabilities)/n) {
		for quarter := 1; quarter < 4; quarter++ {
			below := 0.0
			if row[class] <= sorted[quarter*n/4] {
				below = 1
			}
			upTo = append(upTo, below)
		}
	}
	inflation := clusters.Inflation(upTo, groups)
	student := distuv.StudentsT{Sigma: 1, Nu: clusters.Degrees(inflation, groups, n)}.Quantile(1 - Significance/2)
	return float64(n) / inflation * math.Pow(distuv.UnitNormal.Quantile(1-Significance/2)/student, 2)
}

// column copies one class's probabilities and sorts them.
func column(sorted, probabilities []float64, classes, class int) {
	for row := range sorted {
		sorted[row] = probabilities[row*classes+class]
	}
	slices.Sort(sorted)
}

package shifttest

import (
	"errors"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/clusters"
	"iwda/weightest"
)

// Means is the result of [MeansTest].
type Means struct {
	Statistic        float64 // Hotelling's T², 0 or more
	DegreesOfFreedom int     // dimensions in which probabilities differ from row to row, at most k - 1
	// P is the probability of a statistic at least as large if nothing shifted: 1 if a domain has one row.
	P float64
}

// flat is the share of the largest variance of probabilities below which a dimension has none.
const flat = 1e-9

// MeansTest is the test that the mean probabilities of the classes are the same in both domains
// (Hotelling 1931, with the pooled covariance). It finds changed class shares, and every other shift
// that moves these means. Of rows in groups the covariance is that of sums over these. Unlike [ChiSquaredTest] it sees a change if all rows are predicted as one class.
//
// The error wraps ErrNoStatistics if a domain has no row.
func MeansTest(s *weightest.Sample) (Means, error) {
	if err := s.RequireRows(); err != nil {
		return Means{}, err
	}
	probabilities, labels := s.Source()
	k, n := s.Classes(), len(labels)
	source, target := mat.NewDense(n, k, probabilities), mat.NewDense(len(s.Target())/k, k, s.Target())
	m, _ := target.Dims()
	if n < 2 || m < 2 {
		return Means{P: 1}, nil // no variance is known
	}
	difference := mat.NewVecDense(k, nil)
	for class := range k {
		difference.SetVec(class, stat.Mean(mat.Col(nil, class, target), nil)-stat.Mean(mat.Col(nil, class, source), nil))
	}
	var pooled, ofTarget mat.SymDense
	rows := float64(n + m)
	if sourceGroups, targetGroups := s.Groups(); sourceGroups == nil && targetGroups == nil {
		stat.CovarianceMatrix(&pooled, source, nil)
		stat.CovarianceMatrix(&ofTarget, target, nil)
		pooled.ScaleSym(float64(n-1), &pooled)
		ofTarget.ScaleSym(float64(m-1), &ofTarget)
		pooled.AddSym(&pooled, &ofTarget)
		pooled.ScaleSym(1/float64(n+m-2), &pooled)
	} else {
		rows = 2 + ofGroups(&pooled, source, sourceGroups) + ofGroups(&ofTarget, target, targetGroups)
		pooled.ScaleSym(1/float64(n), &pooled)
		ofTarget.ScaleSym(1/float64(m), &ofTarget)
		pooled.AddSym(&pooled, &ofTarget)
		pooled.ScaleSym(1/(1/float64(n)+1/float64(m)), &pooled)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(&pooled, true) {
		return Means{}, errors.New("shifttest: the covariance of the probabilities has no eigenvalues")
	}
	variances, directions := eigen.Values(nil), new(mat.Dense)
	eigen.VectorsTo(directions)
	result := Means{P: 1}
	for i, variance := range variances {
		if variance > flat*variances[k-1] {
			along := mat.Dot(difference, directions.ColView(i))
			result.Statistic += along * along / variance / (1/float64(n) + 1/float64(m))
			result.DegreesOfFreedom++
		}
	}
	r := float64(result.DegreesOfFreedom)
	if left := rows - r - 1; r > 0 && left > 0 {
		result.P = distuv.F{D1: r, D2: left}.Survival(result.Statistic * left / (r * (rows - 2)))
	}
	return result, nil
}

// ofGroups sets the covariance of rows as their mean has it, times their number: that of sums over groups. It
// returns its degrees of freedom.
func ofGroups(covariance *mat.SymDense, rows *mat.Dense, groups []int) (degrees float64) {
	n, k := rows.Dims()
	_, count := clusters.Dense(groups, n)
	sums := mat.NewDense(count, k, nil)
	for class := range k {
		column := mat.Col(nil, class, rows)
		floats.AddConst(-stat.Mean(column, nil), column)
		sums.SetCol(class, clusters.Deviations(column, groups))
	}
	covariance.SymOuterK(float64(count)/float64(max(1, count-1))/float64(n), sums.T())
	return clusters.Degrees(clusters.Inflation(rows.RawMatrix().Data, groups), groups, n)
}

// Package clusters is about rows that belong together, as the visits of one patient do: how many rows
// on their own tell as much. Groups are numbers, one a row, in no order; nil stands for rows of which each
// is a group of its own.
package clusters

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/evenly"
)

// Dense numbers the groups of n rows by their first rows, from 0, and counts them. It panics unless
// groups are nil or there are n.
func Dense(groups []int, n int) (of []int, count int) {
	if groups == nil {
		return evenly.All(n), n
	}
	if len(groups) != n {
		panic(fmt.Sprintf("clusters: %d groups for %d rows", len(groups), n))
	}
	of = make([]int, n)
	numbers := make(map[int]int)
	for i, group := range groups {
		number, known := numbers[group]
		if !known {
			number = len(numbers)
			numbers[group] = number
		}
		of[i] = number
	}
	return of, len(numbers)
}

// Sums are those of the rows' values by group, numbered as by [Dense].
func Sums(values []float64, of []int, count int) []float64 {
	sums := make([]float64, count)
	for i, v := range values {
		sums[of[i]] += v
	}
	return sums
}

// sizes are the numbers of rows of the groups of n rows.
func sizes(groups []int, n int) []float64 {
	of, count := Dense(groups, n)
	return Sums(slices.Repeat([]float64{1}, n), of, count)
}

// Size is the mean over n rows of the size of a row's group, Σ_g n_g²/n: n/Size groups of equal size tell as much.
func Size(groups []int, n int) float64 {
	of := sizes(groups, n)
	return floats.Dot(of, of) / float64(n)
}

// Deviations are the sums over groups of residuals of mean 0, of which each is as much larger as the mean has of
// its group: a sum of n of all N rows is divided by √(1-n/N) (Bell and McCaffrey 2002), relative to groups of equal
// size. Their squares times G/(G-1) add up to the variance of the sum of all.
func Deviations(residuals []float64, groups []int) []float64 {
	of, count := Dense(groups, len(residuals))
	return deviations(residuals, of, Sums(slices.Repeat([]float64{1}, len(residuals)), of, count))
}

// deviations are [Deviations] of groups of these sizes, numbered as by [Dense].
func deviations(residuals []float64, of []int, sizes []float64) []float64 {
	sums, rows := Sums(residuals, of, len(sizes)), float64(len(residuals))
	for group, size := range sizes {
		if size < rows {
			sums[group] *= math.Sqrt((rows - rows/float64(len(sizes))) / (rows - size))
		}
	}
	return sums
}

// Correlation is that of two rows of a group, between 0 and 1, by how much it makes the variance of the mean of n
// rows larger.
func Correlation(inflation float64, groups []int, n int) float64 {
	if size := Size(groups, n); size > 1 {
		return max(0, min(1, (inflation-1)/(size-1)))
	}
	return 0
}

// Degrees are those of freedom of a Student's t, at least 1, by the variance of a mean of n rows in groups that is so
// much larger than that of rows on their own. The variance of the sum of n rows of a group is that of
// n(1+ρ(n-1)), with ρ the [Correlation], so that large groups tell nearly all (Satterthwaite 1946): one less than
// groups of equal size.
func Degrees(inflation float64, groups []int, n int) float64 {
	alike, mean := Correlation(inflation, groups, n), Size(groups, n)
	variances := sizes(groups, n)
	for group, size := range variances {
		variances[group] = size * (1 + alike*(size-1)) / (mean * (1 + alike*(mean-1)))
	}
	return max(1, Effective(variances, nil)-1)
}

// Effective is the number of groups of equal weight that tell as much as those whose rows have these
// weights, (Σw)²/Σ(Σ_g w)² (Kish 1965): n for n rows of equal weight on their own.
func Effective(weights []float64, groups []int) float64 {
	of, count := Dense(groups, len(weights))
	var sum, squares float64
	for _, s := range Sums(weights, of, count) {
		sum += s
		squares += s * s
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// Rows are at most so many of n rows, ascending, whole groups drawn evenly over their order; at least
// one group.
func Rows(groups []int, n, most int) []int {
	if groups == nil || n <= most {
		return evenly.Rows(n, most)
	}
	of, count := Dense(groups, n)
	size, drawn := make([]int, count), make([]bool, count)
	for _, group := range of {
		size[group]++
	}
	left := most
	for _, group := range evenly.Rows(count, max(1, count*most/n)) {
		if size[group] <= left || left == most {
			drawn[group] = true
			left -= size[group]
		}
	}
	var rows []int
	for i, group := range of {
		if drawn[group] {
			rows = append(rows, i)
		}
	}
	return rows
}

// Inflation is by how much the variance of the mean of n values is larger than if rows were on their own, 1 for rows
// that are: Σ(Σ_g r)²/Σr² by [Deviations], r the distances from the mean, times G/(G-1) for G groups. Of n×k values,
// row by row, sums are over all columns. Of values that are all alike it is [Size]. It is at least 1.
func Inflation(values []float64, groups []int) float64 {
	if groups == nil {
		return 1
	}
	of, count := Dense(groups, len(groups))
	sizes := Sums(slices.Repeat([]float64{1}, len(groups)), of, count)
	var together, alone float64
	column, k := make([]float64, len(groups)), len(values)/len(groups)
	for j := range k {
		for i := range column {
			column[i] = values[i*k+j]
		}
		floats.AddConst(-floats.Sum(column)/float64(len(column)), column)
		for _, r := range column {
			alone += r * r
		}
		for _, s := range deviations(column, of, sizes) {
			together += s * s
		}
	}
	if alone == 0 || count < 2 {
		return Size(groups, len(groups))
	}
	return max(1, together/alone*float64(count)/float64(count-1))
}

// Exact is the interval of a share by Clopper and Pearson (1934), of n > 0 rows that are right (1) or wrong (0).
// Of groups it is that of as many rows on their own as would have the variance and the degrees of freedom
// (Korn and Graubard 1998); without a variance, of as many as there are groups.
func Exact(right []float64, groups []int, level float64) (low, high float64) {
	n := float64(len(right))
	share := floats.Sum(right) / n
	if groups != nil {
		if share > 0 && share < 1 {
			inflation, outside := Inflation(right, groups), (1-level)/2
			ofRows := distuv.StudentsT{Sigma: 1, Nu: max(1, n-1)}.Quantile(outside)
			ofGroups := distuv.StudentsT{Sigma: 1, Nu: Degrees(inflation, groups, len(right))}.Quantile(outside)
			n = max(1, n/inflation*math.Pow(ofRows/ofGroups, 2))
		} else {
			n /= Size(groups, len(right))
		}
	}
	return ExactOf(share*n, n, level)
}

// ExactOf is the interval of Clopper and Pearson of so many right of n > 0 rows, which need not be whole.
func ExactOf(right, n, level float64) (low, high float64) {
	low, high = 0, 1
	if right > 0 {
		low = distuv.Beta{Alpha: right, Beta: n - right + 1}.Quantile((1 - level) / 2)
	}
	if right < n {
		high = distuv.Beta{Alpha: right + 1, Beta: n - right}.Quantile((1 + level) / 2)
	}
	return low, high
}

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

// Inflation is by how much the variance of a mean of n residuals of mean 0 is larger than if rows were on
// their own, 1 for rows that are: Σ(Σ_g r)²/Σr², times G/(G-1) for G groups.
// Without residuals it is the mean size of groups.
func Inflation(residuals []float64, groups []int) float64 {
	if groups == nil {
		return 1
	}
	of, count := Dense(groups, len(residuals))
	var together, alone float64
	for _, s := range Sums(residuals, of, count) {
		together += s * s
	}
	for _, r := range residuals {
		alone += r * r
	}
	if alone == 0 || count < 2 {
		return float64(len(residuals)) / float64(max(1, count))
	}
	return together / alone * float64(count) / float64(count-1)
}

// Exact is the interval of a share by Clopper and Pearson (1934), of n > 0 rows that are right (1) or wrong (0).
// Of groups it is that of as many rows on their own as would have the variance and the degrees of freedom
// (Korn and Graubard 1998); without a variance, of as many as there are groups.
func Exact(right []float64, groups []int, level float64) (low, high float64) {
	n := float64(len(right))
	share := floats.Sum(right) / n
	if groups != nil {
		residuals := slices.Clone(right)
		floats.AddConst(-share, residuals)
		weights := slices.Repeat([]float64{1}, len(right))
		effective := Effective(weights, groups)
		if share > 0 && share < 1 {
			alone := min(n, n/Inflation(residuals, groups))
			outside := (1 - level) / 2
			ofRows := distuv.StudentsT{Sigma: 1, Nu: max(1, n-1)}.Quantile(outside)
			ofGroups := distuv.StudentsT{Sigma: 1, Nu: max(1, effective-1)}.Quantile(outside)
			n = max(1, alone*math.Pow(ofRows/ofGroups, 2))
		} else {
			n = effective
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

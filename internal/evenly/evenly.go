// Package evenly chooses some of many rows by chance, but evenly over their order: a file that is
// sorted has all its parts among them, and one whose rows take turns has all its kinds. Rows at
// equal distances may be of one kind.
package evenly

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Rows are at most so many of the numbers from 0 to n-1, ascending, and the same ones at each call.
// Each number has the same chance, and among the first r of them are r·most/n, rounded down or up
// (ordered pivotal sampling: Deville and Tillé 1998).
func Rows(n, most int) []int {
	if n <= most {
		return All(n)
	}
	rows := make([]int, 0, most)
	if most == 0 {
		return rows
	}
	random := rand.New(rand.NewPCG(uint64(n), uint64(most)))
	open, chance := 0, 0 // the one row before that is neither in nor out, and n times its chance
	for row := range n {
		sum := chance + most
		if sum < n { // one of both is out, and the other has the chances of both
			if random.IntN(sum) < most {
				open = row
			}
			chance = sum
			continue
		}
		in := row // one of both is in, and the other has what is left
		if random.IntN(2*n-sum) < n-most {
			in, open = open, row
		}
		rows, chance = append(rows, in), sum-n
	}
	slices.Sort(rows)
	return rows
}

// All are the numbers from 0 to n-1, ascending.
func All(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// Of returns at most that many of the values; all of them as they are if there are no more.
func Of[V any](values []V, most int) []V {
	if len(values) <= most {
		return values
	}
	return Pick(values, Rows(len(values), most))
}

// Pick returns the values of these rows.
func Pick[V any](values []V, rows []int) []V {
	some := make([]V, len(rows))
	for i, row := range rows {
		some[i] = values[row]
	}
	return some
}

// Folds deals groups of rows to folds, so that each has about as many rows of each class, the largest
// groups first, and returns the fold of each row. Classes and groups are numbers from 0.
func Folds(classes, groups []int, folds int) []int {
	totals, byGroup := map[int]int{}, map[int][]int{}
	for row, group := range groups {
		totals[classes[row]]++
		byGroup[group] = append(byGroup[group], row)
	}
	order := slices.Sorted(maps.Keys(byGroup))
	slices.SortStableFunc(order, func(a, b int) int { return len(byGroup[b]) - len(byGroup[a]) })
	of, dealt := make([]int, len(groups)), make([]map[int]float64, folds) // shares of each class
	for fold := range dealt {
		dealt[fold] = map[int]float64{}
	}
	for _, group := range order {
		best, least := 0, math.Inf(1)
		for fold, has := range dealt {
			crowd := 0.0
			for _, row := range byGroup[group] {
				crowd += has[classes[row]] / float64(totals[classes[row]])
			}
			if crowd < least {
				best, least = fold, crowd
			}
		}
		for _, row := range byGroup[group] {
			of[row] = best
			dealt[best][classes[row]] += 1 / float64(totals[classes[row]])
		}
	}
	return of
}

// Mix is the output function of SplitMix64 (Steele, Lea and Flood 2014), a bijection
// that changes half of the bits where one changes.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Package evenly chooses some of many rows by chance, but evenly over their order: a file that is
// sorted has all its parts among them, and one whose rows take turns has all its kinds. Rows at
// equal distances may be of one kind.
package evenly

import (
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

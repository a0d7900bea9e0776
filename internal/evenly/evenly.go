// Package evenly chooses some of many rows, evenly spaced.
package evenly

// Rows are at most so many of the numbers from 0 to n-1, ascending.
func Rows(n, most int) []int {
	rows := make([]int, min(n, most))
	for i := range rows {
		rows[i] = i * n / len(rows)
	}
	return rows
}

// All are the numbers from 0 to n-1, ascending.
func All(n int) []int { return Rows(n, n) }

// Of returns at most that many of the values; all of them as they are if there are no more.
func Of[V any](values []V, most int) []V {
	if len(values) <= most {
		return values
	}
	some := make([]V, 0, most)
	for _, row := range Rows(len(values), most) {
		some = append(some, values[row])
	}
	return some
}

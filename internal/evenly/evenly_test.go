package evenly

import (
	"math"
	"slices"
	"testing"
)

// All rows come if as many are asked for, the same ones at each call, and values with them.
func TestEvenly(t *testing.T) {
	letters := []string{"a", "b", "c", "d", "e", "f", "g"}
	for most := range 10 {
		rows, some := Rows(len(letters), most), Of(letters, most)
		if n := min(most, len(letters)); len(rows) != n || len(some) != n || !slices.IsSorted(rows) || !slices.Equal(rows, Rows(len(letters), most)) {
			t.Errorf("%d of 7 are %v and %q", most, rows, some)
		}
		for i, row := range rows {
			if some[i] != letters[row] || i > 0 && rows[i-1] == row {
				t.Errorf("%d of 7: %q, want those of %v", most, some, rows)
			}
		}
	}
}

// Each beginning of a file has its share of the rows, as of one that is sorted. Kinds of rows that
// take turns have equal shares, whatever the stride would be.
func TestRowsThatTakeTurns(t *testing.T) {
	const most = 10_000
	for _, n := range []int{10_001, 12_500, 15_000, 20_000, 29_999, 30_000, 70_000} {
		rows, place := Rows(n, most), 0
		for row := range n {
			if share := row * most / n; place < share || place > share+1 {
				t.Fatalf("%d of the first %d of %d rows", place, row, n)
			}
			if place < len(rows) && rows[place] == row {
				place++
			}
		}
		for kinds := 2; kinds <= 24; kinds++ {
			counts := make([]float64, kinds)
			for _, row := range rows {
				counts[row%kinds]++
			}
			mean := most / float64(kinds)
			for kind, count := range counts {
				if math.Abs(count-mean) > 5*math.Sqrt(mean) {
					t.Errorf("%d rows of %d kinds: %.0f of kind %d, want about %.0f", n, kinds, count, kind, mean)
				}
			}
		}
	}
}

// A group is in one fold, and each fold has rows of each class.
func TestFolds(t *testing.T) {
	classes, groups := make([]int, 600), make([]int, 600)
	for row := range classes {
		groups[row] = row * row % 41 // of unequal sizes
		classes[row] = groups[row] % 3 / 2
	}
	of, counts, foldOf := Folds(classes, groups, 5), map[[2]int]int{}, map[int]int{}
	for row, fold := range of {
		if other, seen := foldOf[groups[row]]; seen && other != fold {
			t.Fatalf("group %d is in the folds %d and %d", groups[row], fold, other)
		}
		foldOf[groups[row]] = fold
		counts[[2]int{fold, classes[row]}]++
	}
	for fold := range 5 {
		if all := counts[[2]int{fold, 0}] + counts[[2]int{fold, 1}]; all < 80 || all > 190 || counts[[2]int{fold, 1}] == 0 {
			t.Errorf("fold %d has %d rows, %d of the rarer class", fold, all, counts[[2]int{fold, 1}])
		}
	}
}

package evenly

import (
	"slices"
	"testing"
)

func TestEvenly(t *testing.T) {
	letters := []string{"a", "b", "c", "d", "e", "f", "g"}
	for most, want := range map[int][]int{0: {}, 1: {0}, 2: {0, 3}, 3: {0, 2, 4}, 7: {0, 1, 2, 3, 4, 5, 6}, 9: {0, 1, 2, 3, 4, 5, 6}} {
		got, some := Rows(len(letters), most), Of(letters, most)
		if !slices.Equal(got, want) || len(some) != len(want) {
			t.Errorf("%d of 7 are %v and %q, want %v", most, got, some, want)
		}
		for i, row := range got {
			if some[i] != letters[row] {
				t.Errorf("%d of 7: %q, want those of %v", most, some, got)
			}
		}
	}
}

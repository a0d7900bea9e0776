package learners

import (
	"slices"
	"testing"
)

// Folds have nearly equal numbers of rows and of each class, and never part a group.
func TestFolds(t *testing.T) {
	rows := Rows{Classes: 3}
	for i := range 300 {
		rows.Labels = append(rows.Labels, map[bool]int{true: i % 2, false: 2}[i < 240])
		rows.Groups = append(rows.Groups, i/7)
	}
	for name, r := range map[string]Rows{"rows": {Classes: 3, Labels: rows.Labels}, "groups": rows} {
		fold := Folds(r, 5)
		var counts [5][3]int
		of := map[int]int{}
		for i, f := range fold {
			counts[f][r.Labels[i]]++
			if r.Groups != nil {
				if before, known := of[r.Groups[i]]; known && before != f {
					t.Errorf("group %d is in folds %d and %d", r.Groups[i], before, f)
				}
				of[r.Groups[i]] = f
			}
		}
		for f, of := range counts {
			for y, want := range []int{24, 24, 12} {
				if of[y] < want-7 || of[y] > want+7 || name == "rows" && of[y] != want {
					t.Errorf("%s: fold %d has %d rows of class %d, want about %d", name, f, of[y], y, want)
				}
			}
		}
	}
	if got := Folds(Rows{Classes: 1, Labels: make([]int, 3)}, 5); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("three rows are in folds %v", got)
	}
}

func TestCrossed(t *testing.T) {
	c := Crossed{Others: [][]float64{{1, 2, 3, 4, 5, 6}, {11, 12, 13, 14, 15, 16}}}
	if got, want := c.InTurn(2), []float64{1, 2, 13, 14, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("in turn %v, want %v", got, want)
	}
}

func TestPart(t *testing.T) {
	r := Rows{Values: []float32{1, 2, 3, 4, 5, 6}, Labels: []int{0, 1, 0}, Classes: 2, Groups: []int{7, 8, 9}}
	p := r.Part([]int{2, 0})
	if !slices.Equal(p.Values, []float32{5, 6, 1, 2}) || !slices.Equal(p.Labels, []int{0, 0}) || !slices.Equal(p.Groups, []int{9, 7}) {
		t.Errorf("%+v", p)
	}
}

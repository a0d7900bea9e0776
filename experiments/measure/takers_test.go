package measure

import (
	"slices"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
)

// Of a large set as many rows are kept as are asked for, half of each kind if two take turns. Runs
// that hold nothing out keep every nth.
func TestOutputsOfManyRows(t *testing.T) {
	u, kept := &Outputs{Kept: store.JudgedRows(20_000)}, [2]int{}
	for first := 0; first < 20_000; first += 1000 {
		b := Batch{}
		for row := range 1000 {
			b.Logits = append(b.Logits, float32(first+row))
			b.Labels.Add(0, true)
		}
		must.Do(t, u.Take(b))
	}
	for _, row := range u.Logits {
		kept[int(row)%2]++
	}
	if kept[0]+kept[1] != 10_000 || kept[0] < 4700 || kept[1] < 4700 {
		t.Errorf("%v rows", kept)
	}
	for _, c := range []struct {
		rows, most int
		want       []int
	}{{5, 5, []int{0, 1, 2, 3, 4}}, {6, 5, []int{0, 2, 4}}, {10, 3, []int{0, 4, 8}}} {
		if u := everyNth(c.rows, c.most); !slices.Equal(u.Kept, c.want) {
			t.Errorf("of %d rows %v, want %v", c.rows, u.Kept, c.want)
		}
	}
}

package measure

import (
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
)

// Of a large set as many rows are kept as are asked for, half of each kind if two take turns.
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
}

package adapt

import (
	"cmp"
	"slices"
)

type cell struct {
	Rows  int
	Share float64 // of the true class
}

// confused are classes that are taken for others.
type confused struct {
	True, Predicted string
	cell
}

// show sets what the report shows of held-out rows.
func (h heldOutRows) show(v *reportView) {
	for class, counts := range h {
		all := 0
		for _, n := range counts {
			all += n
		}
		row := make([]cell, len(counts))
		for predicted, n := range counts {
			row[predicted] = cell{n, float64(n) / float64(max(1, all))}
			if predicted != class && n > 0 {
				v.Confused = append(v.Confused, confused{v.Outcome.Classes[class].Class, v.Outcome.Classes[predicted].Class, row[predicted]})
			}
		}
		v.Confusion = append(v.Confusion, row)
	}
	if len(h) > mostConfusion {
		v.Confusion = nil
	}
	slices.SortStableFunc(v.Confused, func(a, b confused) int { return cmp.Compare(b.Rows, a.Rows) })
	v.Confused = v.Confused[:min(mostConfused, len(v.Confused))]
}

package calibration

import (
	"fmt"
	"math"
	"slices"
)

// Furthest is a labelled row whose logits lie so far from each other, by those of the other rows,
// that it alone decides what is fitted to all.
type Furthest struct {
	Row, Class int
	Logit      float64 // of the class in the row
	Beyond     float64 // how far that is from the row's others
	Usual      float64 // at most so far apart are the two largest logits of half of the rows
}

// beyondAll is how many times as far as usual, and as 1, a logit is when its row decides alone.
const beyondAll = 1e4

// FindFurthest returns that row of the logits, row-major n×k, with n labels, the furthest if there are
// several, and nil if there is none. Its label has a logit far below the largest, or the largest is
// huge. Another class far below, as one that is ruled out, does no harm.
func FindFurthest[F float32 | float64](logits []F, labels []int, k int) *Furthest {
	if k < 2 {
		return nil
	}
	var furthest Furthest
	margins := make([]float64, len(labels))
	for i, label := range labels {
		row := logits[i*k : (i+1)*k]
		first, next := largestTwo(row)
		own, most := float64(row[label]), float64(row[first])
		margins[i] = most - next
		beyond, class := most-own, first
		switch {
		case beyond <= 0:
			beyond = min(margins[i], math.Abs(own))
		case math.Abs(own) > math.Abs(most): // it is the label's that lies apart
			class = label
		}
		if beyond > furthest.Beyond {
			furthest = Furthest{Row: i, Class: class, Logit: float64(row[class]), Beyond: beyond}
		}
	}
	if furthest.Beyond <= beyondAll {
		return nil
	}
	slices.Sort(margins)
	furthest.Usual = margins[(len(margins)-1)/2]
	if furthest.Beyond <= beyondAll*furthest.Usual {
		return nil
	}
	return &furthest
}

// largestTwo returns the place of the largest of two or more numbers, and the one after it.
func largestTwo[F float32 | float64](row []F) (first int, next float64) {
	next = math.Inf(-1)
	for j, v := range row[1:] {
		if v > row[first] {
			first, next = j+1, float64(row[first])
		} else {
			next = max(next, float64(v))
		}
	}
	return first, next
}

// Describe says where the logit is and how far away, by the row's number and the name of the class.
func (f *Furthest) Describe(row uint64, class string) string {
	return fmt.Sprintf("row %d gives class %s the logit %.4g, %.2g away from the row's others, while in half of the rows the two largest are at most %.2g apart", row, class, f.Logit, f.Beyond, f.Usual)
}

package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// SubsampleRows returns, in ascending order, the rows that a subsample by class
// keeps: floor(f n) of the n rows of each label, f being the label's fraction,
// drawn without replacement. The product is that of the decimal number that a
// fraction is written as: 0.29 of 100 rows are 29, although the product of float64
// lies below.
//
// A fraction outside [0, 1] is an error; SubsampleRows panics where a label has no
// fraction.
func SubsampleRows(labels []int, fractions []float64, random *rand.Rand) ([]int, error) {
	byClass := make([][]int, len(fractions))
	for row, label := range labels {
		byClass[label] = append(byClass[label], row)
	}
	kept := []int{}
	for c, rows := range byClass {
		if f := fractions[c]; !(f >= 0 && f <= 1) {
			return nil, fmt.Errorf("datasets: subsampling: fraction %v of class %d, want one in [0, 1]", f, c)
		}
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		kept = append(kept, rows[:floorShare(fractions[c], len(rows))]...)
	}
	slices.Sort(kept)
	return kept, nil
}

package datasets

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"

	"iwda/internal/evenly"
)

// HalfFractions returns the class fractions of the paper's subsampled tasks: the
// first floor(classes/2) classes keep the fraction, 0.3 in the paper, the others
// all of theirs.
func HalfFractions(classes int, fraction float64) []float64 {
	fractions := make([]float64, classes)
	for c := range fractions {
		fractions[c] = 1
		if c < classes/2 {
			fractions[c] = fraction
		}
	}
	return fractions
}

// Subsample returns a view of the rows of a set that [SubsampleRows] keeps, in the set's
// order. It panics unless there is one fraction a class.
func Subsample(set Set, fractions []float64, random *rand.Rand) (Set, error) {
	classes := len(set.ClassNames())
	if len(fractions) != classes {
		panic(fmt.Sprintf("datasets: Subsample: %d fractions for the %d classes of %s", len(fractions), classes, set.Name()))
	}
	kept, err := SubsampleRows(LabelsOf(set), fractions, random)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name(), err)
	}
	return Subset(set, kept), nil
}

// floorShare is floor(fraction·n) for the shortest decimal that denotes fraction.
func floorShare(fraction float64, n int) int {
	share, ok := new(big.Rat).SetString(strconv.FormatFloat(fraction, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("datasets: fraction %v", fraction))
	}
	share.Mul(share, new(big.Rat).SetInt64(int64(n)))
	return int(new(big.Int).Div(share.Num(), share.Denom()).Int64())
}

// SubsampleRows returns, in ascending order, the rows that a subsample by class
// keeps: floor(f n) of the n rows of each class, f being the class's fraction,
// drawn without replacement. The product is that of the decimal number that a
// fraction is written as: 0.29 of 100 rows are 29, although the product of float64
// lies below.
//
// A fraction outside [0, 1] and a row without a label are errors; SubsampleRows panics
// where a label has no fraction.
func SubsampleRows(labels Labels, fractions []float64, random *rand.Rand) ([]int, error) {
	byClass, unlabelled := rowsByClass(labels, len(fractions))
	if len(unlabelled) > 0 {
		return nil, fmt.Errorf("datasets: subsampling: row %d has no label, which fractions of classes need", unlabelled[0])
	}
	kept := []int{}
	for c, rows := range byClass {
		f := fractions[c]
		if !(f >= 0 && f <= 1) {
			return nil, fmt.Errorf("datasets: subsampling: fraction %v of class %d, want one in [0, 1]", f, c)
		}
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		kept = append(kept, rows[:floorShare(f, len(rows))]...)
	}
	slices.Sort(kept)
	return kept, nil
}

// rowsByClass returns the rows of each class, and those without a label, in ascending order.
func rowsByClass(labels Labels, classes int) (byClass [][]int, unlabelled []int) {
	byClass = make([][]int, classes)
	for row := range labels.Len() {
		if class, known := labels.At(row); known {
			byClass[class] = append(byClass[class], row)
		} else {
			unlabelled = append(unlabelled, row)
		}
	}
	return byClass, unlabelled
}

// HeldOut is the number of rows that [HoldOutRows] holds out of n of one class: floor(share·n),
// but at least one if there are two, and never all.
func HeldOut(share float64, n int) int { return min(max(1, floorShare(share, n)), max(0, n-1)) }

// HoldOutRows divides rows by class: held are [HeldOut] of the rows of each class, drawn
// without replacement, and kept all others, both in ascending order. Rows without a label are
// kept. The classes are below classes.
//
// Rows of a group, whose numbers are nil if there are none, are all kept or all held out: held are then
// groups, drawn until there are as many rows of each class, but never the last one of a class. A class
// of one group has none.
func HoldOutRows(labels Labels, classes int, share float64, groups []int, random *rand.Rand) (kept, held []int) {
	byClass, kept := rowsByClass(labels, classes)
	if groups != nil {
		return holdOutGroups(byClass, share, groups, random)
	}
	for _, rows := range byClass {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		out := HeldOut(share, len(rows))
		held = append(held, rows[:out]...)
		kept = append(kept, rows[out:]...)
	}
	slices.Sort(kept)
	slices.Sort(held)
	return kept, held
}

func holdOutGroups(byClass [][]int, share float64, groups []int, random *rand.Rand) (kept, held []int) {
	counts, left, out := map[int]map[int]int{}, make([]int, len(byClass)), make([]int, len(byClass)) // rows of each class
	order := evenly.All(len(byClass))
	for class, rows := range byClass {
		left[class] = len(rows)
		for _, row := range rows {
			if counts[groups[row]] == nil {
				counts[groups[row]] = map[int]int{}
			}
			counts[groups[row]][class]++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return left[a] - left[b] }) // the rarest chooses first
	drawn, isHeld := slices.Sorted(maps.Keys(counts)), map[int]bool{}
	random.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	for _, class := range order {
		wanted := HeldOut(share, len(byClass[class]))
		for _, group := range drawn {
			last := false
			for of, rows := range counts[group] {
				last = last || rows == left[of]
			}
			if out[class] >= wanted || isHeld[group] || last || counts[group][class] == 0 {
				continue
			}
			isHeld[group] = true
			for of, rows := range counts[group] {
				left[of] -= rows
				out[of] += rows
			}
		}
	}
	for row, group := range groups {
		if isHeld[group] {
			held = append(held, row)
		} else {
			kept = append(kept, row)
		}
	}
	return kept, held
}

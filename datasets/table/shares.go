package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/heading"
)

// ReadShares reads class shares from a file as [ReadText] does, with the columns class and share, a line for
// each class in any order. Shares are scaled to a sum of 1, so that numbers of rows do too, and percent.
func ReadShares(path string, classes []string) ([]float64, error) {
	index := make(map[string]int, len(classes))
	for at, name := range classes {
		index[name] = at
	}
	shares, given := make([]float64, len(classes)), make([]bool, len(classes))
	class, share := -1, -1
	err := ReadText(path, func(columns []string) error {
		class, share = slices.Index(columns, heading.Class), slices.Index(columns, "share")
		if share < 0 { // what iwrun labelshift and iwrun adapt leave of the target
			share = slices.Index(columns, heading.TargetShare)
		}
		if class < 0 || share < 0 {
			return fmt.Errorf("the columns are %.200q; want class and share", columns)
		}
		return nil
	}, func(_ int, cells []string) error {
		at, known := index[cells[class]]
		value, err := shareOf(cells[share])
		switch {
		case !known:
			return fmt.Errorf("%q is no class; there are %.200q", cells[class], classes)
		case given[at]:
			return fmt.Errorf("class %q is there twice", cells[class])
		case err != nil || !(value >= 0 && value <= maxShare):
			return fmt.Errorf("the share of class %q is %q, want a number that is not negative, without separators of thousands", cells[class], cells[share])
		}
		shares[at], given[at] = value, true
		return nil
	})
	if err != nil {
		return nil, err
	}
	if at := slices.Index(given, false); at >= 0 {
		return nil, fmt.Errorf("%s: no line for class %q", path, classes[at])
	}
	sum := floats.Sum(shares)
	if sum == 0 {
		return nil, fmt.Errorf("%s: every share is 0", path)
	}
	floats.Scale(1/sum, shares)
	return shares, nil
}

// shareOf reads a share, with a decimal point or comma, or percent. What may be thousands, as 1,234, is an error.
func shareOf(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	number = strings.TrimSpace(number)
	if withComma.MatchString(number) && grouped.MatchString(number) {
		return 0, strconv.ErrSyntax
	}
	value, err := Fraction(number)
	if percent {
		value /= 100
	}
	return value, err
}

// maxShare bounds a share that may be a number of rows.
const maxShare = 1e15

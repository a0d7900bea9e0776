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
	named, values, err := NamedShares(path, classes)
	if err != nil {
		return nil, err
	}
	shares := make([]float64, len(classes))
	for i, name := range named {
		shares[slices.Index(classes, name)] = values[i]
	}
	floats.Scale(1/floats.Sum(shares), shares)
	return shares, nil
}

// NamedShares reads the file of [ReadShares]: classes and their shares, as they stand there. If classes are
// given, there must be a line for each of them; otherwise the file says which there are.
func NamedShares(path string, classes []string) (named []string, shares []float64, err error) {
	given := map[string]bool{}
	class, share := -1, -1
	err = ReadText(path, func(columns []string) error {
		class, share = slices.Index(columns, heading.Class), slices.Index(columns, "share")
		if share < 0 { // what iwrun labelshift and iwrun adapt leave of the target
			share = slices.Index(columns, heading.TargetShare)
		}
		if class < 0 || share < 0 {
			return fmt.Errorf("the columns are %.200q; want class and share", columns)
		}
		return nil
	}, func(_ int, cells []string) error {
		name := cells[class]
		value, err := shareOf(cells[share])
		switch {
		case classes != nil && !slices.Contains(classes, name):
			return fmt.Errorf("%q is no class; there are %.200q", name, classes)
		case given[name]:
			return fmt.Errorf("class %q is there twice", name)
		case err != nil || !(value >= 0 && value <= maxShare):
			return fmt.Errorf("the share of class %q is %q, want a number that is not negative, without separators of thousands", name, cells[share])
		}
		given[name], named, shares = true, append(named, name), append(shares, value)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, name := range classes {
		if !given[name] {
			return nil, nil, fmt.Errorf("%s: no line for class %q", path, name)
		}
	}
	if floats.Sum(shares) == 0 {
		return nil, nil, fmt.Errorf("%s: every share is 0", path)
	}
	return named, shares, nil
}

// shareOf reads a share, with a decimal point or comma, or percent. What may be thousands, as 1,234, is an error.
func shareOf(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	number = strings.TrimSpace(number)
	if wayOf(number) == commaOrThousands {
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

package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/heading"
	"iwda/internal/input"
	"iwda/internal/printable"
)

// ReadShares reads class shares from a CSV file with the columns class and share, a line for each class in
// any order. Shares are scaled to a sum of 1, so that numbers of rows do too.
func ReadShares(path string, classes []string) ([]float64, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	shares, err := parseShares(file, classes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return shares, nil
}

func parseShares(r io.Reader, classes []string) ([]float64, error) {
	lines := csv.NewReader(r)
	header, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("no line with the names of the columns: %w", err)
	}
	class, share := heading.Index(header, heading.Class), slices.Index(header, "share")
	if share < 0 { // what iwrun labelshift and iwrun adapt leave of the target
		share = heading.Index(header, heading.TargetShare)
	}
	if class < 0 || share < 0 {
		return nil, fmt.Errorf("line 1: the columns are %q; want class and share", header)
	}
	index := make(map[string]int, len(classes))
	for at, name := range classes {
		index[name] = at
	}
	shares, given := make([]float64, len(classes)), make([]bool, len(classes))
	for {
		record, err := lines.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := lines.FieldPos(0)
		at, known := index[printable.FromCell(record[class])]
		value, err := strconv.ParseFloat(record[share], 64)
		switch {
		case !known:
			return nil, fmt.Errorf("line %d: %q is no class; there are %.200q", line, record[class], classes)
		case given[at]:
			return nil, fmt.Errorf("line %d: class %q is there twice", line, record[class])
		case err != nil || !(value >= 0 && value <= maxShare):
			return nil, fmt.Errorf("line %d: the share of class %q is %q, want a number that is not negative", line, record[class], record[share])
		}
		shares[at], given[at] = value, true
	}
	if at := slices.Index(given, false); at >= 0 {
		return nil, fmt.Errorf("no line for class %q", classes[at])
	}
	sum := floats.Sum(shares)
	if sum == 0 {
		return nil, errors.New("every share is 0")
	}
	floats.Scale(1/sum, shares)
	return shares, nil
}

// maxShare bounds a share that may be a number of rows.
const maxShare = 1e15

package labels

import (
	"errors"
	"io/fs"
	"slices"

	"iwda/datasets/table"
	"iwda/internal/heading"
)

// FileName is that of the file of drawn rows in an adaptation's folder.
const FileName = "to_label.csv"

// UsualRows are enough to tell an accuracy of 90% to some eight points.
const UsualRows = 50

func header(stratified bool) []string {
	names := []string{heading.ID, heading.PredictedClass, heading.Probability}
	if stratified {
		names = append(names, heading.Stratum, heading.StratumShare)
	}
	return append(names, heading.Label)
}

// Write writes drawn rows, a line each, with an empty column for their labels, as [table.WriteTable] does.
func Write(path string, rows []Row) error {
	stratified := len(rows) > 0 && rows[0].Stratum != ""
	var fields []table.Field
	for _, name := range header(stratified) {
		kind := table.TextField
		switch name {
		case heading.Probability:
			kind = table.ProbabilityField
		case heading.StratumShare:
			kind = table.NumberField
		}
		fields = append(fields, table.Field{Name: name, Kind: kind})
	}
	return table.WriteTable(path, fields, func(add func(...table.Cell) error) error {
		for _, r := range rows {
			row := []table.Cell{{Text: r.ID}, {Text: r.Class}, {Number: r.Confidence}}
			if stratified {
				row = append(row, table.Cell{Text: r.Stratum}, table.Cell{Number: r.Share})
			}
			if err := add(append(row, table.Cell{})...); err != nil {
				return err
			}
		}
		return nil
	})
}

// Filled counts the rows of a file of drawn rows, and in how many of them somebody has typed a label;
// both are 0 of what cannot be read as one.
func Filled(path string) (filled, rows int) {
	label := -1
	err := table.ReadText(path, func(columns []string) error {
		label = table.LabelColumn(columns)
		return nil
	}, func(_ int, cells []string) error {
		rows++
		if label >= 0 && cells[label] != "" {
			filled++
		}
		return nil
	})
	if err != nil || label < 0 {
		return 0, 0
	}
	return filled, rows
}

// Touched tells whether somebody has filled in a file of drawn rows, or made anything else of it
// that cannot be drawn again: then it must not be written over.
func Touched(path string) bool {
	touched, label := false, 0
	err := table.ReadText(path, func(columns []string) error {
		label = len(columns) - 1
		touched = true
		for _, ours := range [][]string{header(false), header(true)} {
			touched = touched && !slices.Equal(columns, ours)
		}
		return nil
	}, func(_ int, cells []string) error {
		touched = touched || cells[label] != ""
		return nil
	})
	return !errors.Is(err, fs.ErrNotExist) && (touched || err != nil) // what cannot be read is somebody's too
}

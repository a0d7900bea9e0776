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

// fields are the columns of a file of drawn rows.
func fields(stratified bool) []table.Field {
	fields := []table.Field{{Name: heading.ID}, {Name: heading.PredictedClass}, {Name: heading.Probability, Kind: table.ProbabilityField}}
	if stratified {
		fields = append(fields, table.Field{Name: heading.Stratum}, table.Field{Name: heading.StratumShare, Kind: table.NumberField})
	}
	return append(fields, table.Field{Name: heading.Label})
}

// Write writes drawn rows, a line each, with an empty column for their labels, as [table.WriteTable] does.
func Write(path string, rows []Row) error {
	stratified := len(rows) > 0 && rows[0].Stratum != ""
	return table.WriteTable(path, fields(stratified), func(add func(...table.Cell) error) error {
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

// State is what somebody has made of a file of drawn rows.
type State struct {
	Rows, Filled int // lines, and those with a label
	// Touched tells that it has labels, or is anything else that cannot be drawn again: then it must
	// not be written over.
	Touched bool
}

// StateOf reads a file of drawn rows. One that is not there has the zero State, and one that cannot be
// read as such is touched.
func StateOf(path string) State {
	var s State
	label := -1
	err := table.ReadText(path, func(columns []string) error {
		label = table.LabelColumn(columns)
		drawn := func(stratified bool) bool {
			return slices.EqualFunc(columns, fields(stratified), func(name string, f table.Field) bool { return name == f.Name })
		}
		s.Touched = !drawn(false) && !drawn(true)
		return nil
	}, func(_ int, cells []string) error {
		s.Rows++
		if label >= 0 && cells[label] != "" {
			s.Filled++
		}
		return nil
	})
	if err != nil || label < 0 {
		return State{Touched: !errors.Is(err, fs.ErrNotExist)}
	}
	s.Touched = s.Touched || s.Filled > 0
	return s
}

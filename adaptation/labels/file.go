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

// columnsOfRows are those of a file of drawn rows.
var columnsOfRows = []string{heading.ID, heading.PredictedClass, heading.Probability, heading.Label}

// Write writes drawn rows, a line each, with an empty column for their labels, as [table.WriteTable] does.
func Write(path string, rows []Row) error {
	return table.WriteTable(path, columnsOfRows, func(line func(...string) error) error {
		for _, r := range rows {
			if err := line(r.ID, r.Class, table.Shortest(float32(r.Confidence)), ""); err != nil {
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
		ours := slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == "stratum" || name == "stratum_share" }) // of 0.4
		s.Touched = !slices.Equal(ours, columnsOfRows)
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

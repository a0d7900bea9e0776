package labels

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"

	"iwda/datasets/table"
	"iwda/internal/heading"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
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

// Write writes drawn rows, a line each, with an empty column for their labels.
func Write(path string, rows []Row) error {
	stratified := len(rows) > 0 && rows[0].Stratum != ""
	records := [][]string{header(stratified)}
	for _, r := range rows {
		record := []string{printable.Cell(r.ID), printable.Cell(r.Class), strconv.FormatFloat(r.Confidence, 'g', -1, 32)}
		if stratified {
			record = append(record, r.Stratum, strconv.FormatFloat(r.Share, 'g', -1, 64))
		}
		records = append(records, append(record, ""))
	}
	return wholefile.Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(records) })
}

// Touched tells whether somebody has filled in a file of drawn rows, or made anything else of it
// that cannot be drawn again: then it must not be written over.
func Touched(path string) bool {
	touched, label := false, 0
	err := table.ReadText(path, func(columns []string) error {
		label = len(columns) - 1
		touched = true
		for _, ours := range [][]string{header(false), header(true)} {
			touched = touched && !slices.Equal(columns, ours) && !slices.Equal(columns, heading.Former(ours))
		}
		return nil
	}, func(_ int, cells []string) error {
		touched = touched || cells[label] != ""
		return nil
	})
	return !errors.Is(err, fs.ErrNotExist) && (touched || err != nil) // what cannot be read is somebody's too
}

// Package names has the names of the files that iwrun adapt leaves in its folder, and keeps
// other commands from writing over them.
package names

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/adaptation/labels"
	"iwda/datasets/table"
	"iwda/internal/wholefile"
)

// The files and folders; those of Tables have the end of another format if that was asked for.
const (
	Experiment  = "experiment.yaml"
	Predictions = "predictions.csv"
	First       = "first.csv" // the predictions of the linear classifier as it is, until there are those of all runs
	Classes     = "classes.csv"
	Report      = "report.html"
	Outcome     = "outcome.json"
	Model       = "model"
	Runs        = "runs"
	ToLabel     = labels.FileName
)

// CSV is the format of tables, unless another one is asked for.
const CSV = "csv"

// InFormat is the name of a table's file in a format, "" for that of CSV.
func InFormat(name, format string) string {
	if format == "" {
		return name
	}
	return strings.TrimSuffix(name, CSV) + format
}

// Find returns the path of the file of a table in an adaptation's folder, such as
// [Predictions], in the format in which it is there; that of CSV if it is in none.
func Find(folder, name string) string {
	for _, format := range table.Formats() {
		if path := filepath.Join(folder, InFormat(name, format)); Exists(path) {
			return path
		}
	}
	return filepath.Join(folder, name)
}

// Files are the names of the files beside those in folders, of tables in all formats.
func Files() []string {
	names := []string{Experiment, Report, Outcome, ToLabel}
	for _, name := range []string{Predictions, First, Classes} {
		for _, format := range table.Formats() {
			names = append(names, InFormat(name, format))
		}
	}
	return names
}

// CheckApart is [wholefile.CheckApart], for files that users name: one that would stand for a
// file of a finished adaptation, or be written over one of its model or runs, is an error too.
func CheckApart(written, read []string) error {
	for _, path := range written {
		place, err := filepath.Abs(path)
		if path == "" || err != nil {
			continue
		}
		for inside, folder := place, filepath.Dir(place); folder != inside; inside, folder = folder, filepath.Dir(folder) {
			ours := inside == place && slices.Contains(Files(), filepath.Base(place))
			if name := filepath.Base(inside); inside != place && (name == Model || name == Runs) {
				ours = Exists(place)
			}
			if ours && Exists(filepath.Join(folder, Outcome)) {
				return fmt.Errorf("%s is a file of the adaptation in %s; choose another name", path, folder)
			}
		}
	}
	return wholefile.CheckApart(written, read)
}

// Exists tells whether something stands under a path, as far as the system says.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

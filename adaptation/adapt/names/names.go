// Package names has the names of the files that iwrun adapt leaves in its folder, and keeps
// other commands from writing over them.
package names

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"iwda/adaptation/labels"
	"iwda/internal/wholefile"
)

// The files and folders.
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

// Files are the names of the files beside those in folders.
func Files() []string {
	return []string{Experiment, Report, Outcome, ToLabel, Predictions, First, Classes}
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

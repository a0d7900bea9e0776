package adapt

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/datasets/table"
	"iwda/experiments/labels"
	"iwda/experiments/model"
	"iwda/internal/input"
	"iwda/internal/wholefile"
)

// The files of an adaptation's folder; those of tables have the end of another format if that was asked for.
const (
	ExperimentFile  = "experiment.yaml"
	PredictionsFile = "predictions.csv"
	ClassesFile     = "classes.csv"
	DisputedFile    = "disputed.csv"
	ReportFile      = "report.html"
	OutcomeFile     = "outcome.json"
	ModelFolder     = "model"
	RunsFolder      = "runs"
	ToLabelFile     = labels.FileName
)

func (p *Plan) path(name string) string { return filepath.Join(p.options.Folder, name) }

const csvFormat = "csv" // of tables, unless another one is asked for

// inFormat is the name of a table's file in a format.
func inFormat(name, format string) string {
	return strings.TrimSuffix(name, csvFormat) + cmp.Or(format, csvFormat)
}

// table is the name of a table's file in the format that was asked for.
func (p *Plan) table(name string) string { return inFormat(name, p.options.Format) }

// removeTable removes a table's files, in all formats but those of the given ends.
func (p *Plan) removeTable(name string, but ...string) error {
	for _, format := range table.Formats() {
		if slices.Contains(but, format) {
			continue
		}
		if err := os.Remove(p.path(inFormat(name, format))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// FindTable returns the path of the file of a table in an adaptation's folder, such as [PredictionsFile], in
// the format in which it is there; that of CSV if it is in none.
func FindTable(folder, name string) string {
	for _, format := range table.Formats() {
		if path := filepath.Join(folder, inFormat(name, format)); exists(path) {
			return path
		}
	}
	return filepath.Join(folder, name)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// results is the folder of the runs.
func (p *Plan) results() string { return p.path(RunsFolder) }

// Files are the paths of the files that an adaptation leaves in a folder, beside those of runs.
func Files(folder string) []string {
	files := model.Files(filepath.Join(folder, ModelFolder))
	for _, name := range []string{ExperimentFile, ReportFile, OutcomeFile, ToLabelFile} {
		files = append(files, filepath.Join(folder, name))
	}
	for _, name := range []string{PredictionsFile, FirstFile, ClassesFile, DisputedFile} {
		for _, format := range table.Formats() {
			files = append(files, filepath.Join(folder, inFormat(name, format)))
		}
	}
	return files
}

// checkApart returns an error if something would be written over what is read.
func checkApart(folder string, read ...string) error {
	return wholefile.CheckApart(append(Files(folder), folder), read)
}

// checkForeign returns an error if files of a folder would be replaced that no adaptation has left.
func checkForeign(folder string) error {
	if o, err := ReadOutcome(folder); err == nil && o.Format > 0 {
		return nil
	}
	for _, path := range Files(folder) {
		if exists(path) {
			return input.Wrong(fmt.Errorf("%s would be overwritten, and no %s or %s says that iwrun adapt has written it: choose another folder with -o, or rename the file", path, ExperimentFile, OutcomeFile))
		}
	}
	return nil
}

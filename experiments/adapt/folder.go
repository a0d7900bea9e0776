package adapt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"iwda/datasets/table"
	"iwda/experiments/adapt/names"
	"iwda/experiments/labels"
	"iwda/experiments/model"
	"iwda/internal/input"
	"iwda/internal/wholefile"
)

// The files of an adaptation's folder; see package names.
const (
	ExperimentFile  = names.Experiment
	PredictionsFile = names.Predictions
	FirstFile       = names.First
	ClassesFile     = names.Classes
	DisputedFile    = names.Disputed
	ReportFile      = names.Report
	OutcomeFile     = names.Outcome
	ModelFolder     = names.Model
	RunsFolder      = names.Runs
	ToLabelFile     = labels.FileName
)

func (p *Plan) path(name string) string { return filepath.Join(p.options.Folder, name) }

// table is the name of a table's file in the format that was asked for.
func (p *Plan) table(name string) string { return names.InFormat(name, p.options.Format) }

// removeTable removes a table's files, in all formats but those of the given ends.
func (p *Plan) removeTable(name string, but ...string) error {
	for _, format := range table.Formats() {
		if slices.Contains(but, format) {
			continue
		}
		if err := os.Remove(p.path(names.InFormat(name, format))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// FindTable returns the path of the file of a table in an adaptation's folder, such as
// [PredictionsFile], in the format in which it is there; that of CSV if it is in none.
func FindTable(folder, name string) string {
	for _, format := range table.Formats() {
		if path := filepath.Join(folder, names.InFormat(name, format)); names.Exists(path) {
			return path
		}
	}
	return filepath.Join(folder, name)
}

// results is the folder of the runs.
func (p *Plan) results() string { return p.path(RunsFolder) }

// Files are the paths of the files that an adaptation leaves in a folder, beside those of runs.
func Files(folder string) []string {
	files := model.Files(filepath.Join(folder, ModelFolder))
	for _, name := range names.Files() {
		files = append(files, filepath.Join(folder, name))
	}
	return files
}

// checkApart returns an error if something would be written over what is read, or the folder is a file.
func checkApart(folder string, read ...string) error {
	if err := wholefile.CheckApart(append(Files(folder), folder), read); err != nil {
		return err
	}
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return input.Wrong(fmt.Errorf("%s is a file, but a folder of that name would be written; choose another name with -o", folder))
	}
	return nil
}

// checkForeign returns an error if files of a folder would be replaced that no adaptation has left.
func checkForeign(folder string) error {
	if _, err := ReadOutcome(folder); err == nil {
		return nil
	}
	for _, path := range Files(folder) {
		if names.Exists(path) {
			return input.Wrong(fmt.Errorf("%s would be overwritten, but no %s or %s shows that iwrun adapt wrote it: choose another folder with -o, or rename the file", path, ExperimentFile, OutcomeFile))
		}
	}
	return nil
}

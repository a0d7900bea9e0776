package adapt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"iwda/adaptation/adapt/names"
	"iwda/experiments/model"
	"iwda/internal/input"
	"iwda/internal/wholefile"
)

func (p *Plan) path(name string) string { return filepath.Join(p.options.Folder, name) }

// remove removes a file, if it is there.
func (p *Plan) remove(name string) error {
	if err := os.Remove(p.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// results is the folder of the runs.
func (p *Plan) results() string { return p.path(names.Runs) }

// Files are the paths of the files that an adaptation leaves in a folder, beside those of runs.
func Files(folder string) []string {
	files := model.Files(filepath.Join(folder, names.Model))
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
			return input.Wrong(fmt.Errorf("%s would be overwritten, but no %s or %s shows that iwrun adapt wrote it: choose another folder with -o, or rename the file", path, names.Experiment, names.Outcome))
		}
	}
	return nil
}

package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/internal/wholefile"
)

// The files of a run's folder.
const (
	ConfigFile     = "config.yaml"
	MetricsFile    = "metrics.csv"
	WeightsFile    = "weights.csv"
	OutputsFile    = "outputs.safetensors"
	ResultFile     = "result.json"
	FailureFile    = "error.txt"
	LogFile        = "log.txt"
	CheckpointFile = "checkpoint.safetensors"
	ModelFile      = "model.json"
)

// Dir is the folder of one run.
type Dir struct {
	root, experiment, id string
}

// NewDir returns the folder of the run with that ID, as text, below the results folder
// root. Nothing is created: Begin does that.
func NewDir(root, experiment, id string) Dir {
	return Dir{root: root, experiment: experiment, id: id}
}

// DirOf returns the folder of a run by its path, which ends with the names of its
// experiment, variant, task, method and seed.
func DirOf(path string) (Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Dir{}, err
	}
	root, names := path, make([]string, 5)
	for i := range names {
		names[len(names)-1-i], root = filepath.Base(root), filepath.Dir(root)
	}
	return NewDir(root, names[0], strings.Join(names[1:], "/")), nil
}

// String returns the path of the folder.
func (d Dir) String() string {
	return filepath.Join(d.root, d.experiment, filepath.FromSlash(d.id))
}

// Path returns the path of the file of that name in the folder.
func (d Dir) Path(name string) string {
	return filepath.Join(d.String(), name)
}

// Begin makes the folder ready for a run that starts or goes on: it creates the
// folder and removes what a former run left of its end, a result, a failure, its
// outputs, a model's description or a file half written. Curves and checkpoint stay, for a run that goes on.
func (d Dir) Begin() error {
	if err := os.MkdirAll(d.String(), 0o777); err != nil {
		return fmt.Errorf("cannot create the run's folder: %w", err)
	}
	return d.remove(ResultFile, FailureFile, ModelFile, OutputsFile)
}

// Clear removes what a former run left, its curves, checkpoints and log too, for one
// that begins anew. The lock stays, which the caller should hold.
func (d Dir) Clear() error {
	return d.remove(runFiles...)
}

// remove removes the files of those names and what is half written.
func (d Dir) remove(names ...string) error {
	entries, err := os.ReadDir(d.String())
	if err != nil {
		return fmt.Errorf("cannot read the run's folder: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !slices.Contains(names, name) && !wholefile.IsTemporary(name) {
			continue
		}
		if err := os.Remove(d.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove what a former run left: %w", err)
		}
	}
	return nil
}

// Worked reports whether the folder holds what took work to make: a result, even one
// that cannot be read, or a checkpoint.
func (d Dir) Worked() bool {
	_, err := os.Stat(d.Path(ResultFile))
	return err == nil || len(d.Checkpoints()) > 0
}

// WriteConfig writes config.yaml.
func (d Dir) WriteConfig(yaml []byte) error {
	return wholefile.Write(d.Path(ConfigFile), func(w io.Writer) error {
		_, err := w.Write(yaml)
		return err
	})
}

// WriteFailure records why the run failed, for whoever reads the folder later.
func (d Dir) WriteFailure(message string) error {
	return wholefile.Write(d.Path(FailureFile), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, strings.TrimRight(message, "\n"))
		return err
	})
}

// ReadFailure returns the message of WriteFailure and whether there is one.
func (d Dir) ReadFailure() (message string, failed bool, err error) {
	text, err := os.ReadFile(d.Path(FailureFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return strings.TrimSpace(string(text)), true, nil
}

// Finished returns the run's result and whether the run is finished: result.json
// is there and was made with the configuration of that hash. The error is for a
// result.json that cannot be read; Begin removes it.
func (d Dir) Finished(hash string) (Result, bool, error) {
	result, err := d.ReadResult()
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, false, nil
	}
	if err != nil {
		return Result{}, false, err
	}
	return result, result.ConfigHash == hash, nil
}

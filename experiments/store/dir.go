// Package store keeps the results of runs on disk: a folder a run, whole files
// only, readable with any text editor.
//
//	results/<experiment>/<variant>/<source>-<target>/<method>/seed-<n>/
//	    config.yaml             the configuration of this run, fully resolved
//	    metrics.csv             a line an evaluation: Metrics
//	    weights.csv             a line an update of the class weights: WeightUpdate
//	    statistics.safetensors  C and mu of each of them: Statistics
//	    outputs.safetensors     logits of held-out rows and of the target: Outputs
//	    model.json              what the network reads and writes, see package model
//	    result.json             the finished run: Result
//	    error.txt               why the run failed, if it did
//	    log.txt                 what the run printed
//	    checkpoint.safetensors  where an interrupted run goes on
//	    lock                    held by the process that makes the run: Lock
//
// A run is finished when its result.json is there and its configuration hash
// fits. Every file but log and lock is replaced in one step: a reader sees the former
// file or the new one, never a part.
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/internal/input"
	"iwda/internal/wholefile"
)

// The files of a run's folder.
const (
	ConfigFile     = "config.yaml"
	MetricsFile    = "metrics.csv"
	WeightsFile    = "weights.csv"
	StatisticsFile = "statistics.safetensors"
	OutputsFile    = "outputs.safetensors"
	ResultFile     = "result.json"
	FailureFile    = "error.txt"
	LogFile        = "log.txt"
	CheckpointFile = "checkpoint.safetensors"
	ModelFile      = "model.json"
)

// ID names a run within its experiment. Its text is the path of the run's folder
// below that of the experiment: subsampled/usps-mnist/iwdan/seed-1. A task is
// <source>-<target>.
type ID struct {
	Variant string
	Task    string
	Method  string
	Seed    int64
}

// String returns the ID in the form of IDForm.
func (id ID) String() string {
	return fmt.Sprintf("%s/%s/%s/%s%d", id.Variant, id.Task, id.Method, seedPrefix, id.Seed)
}

// IDForm is the form of an ID's text.
const IDForm = "variant/task/method/seed-n"

const seedPrefix = "seed-"

// Dir is the folder of one run.
type Dir struct {
	root, experiment, id string
	disk                 *wholefile.Disk
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

// On returns the folder on another disk than the system's, whose calls may fail.
func (d Dir) On(disk *wholefile.Disk) Dir {
	d.disk = disk
	return d
}

// Disk is where the folder's files are written.
func (d Dir) Disk() *wholefile.Disk { return d.disk }

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
// outputs, a model's description or a file half written. Curves and checkpoint stay, for a run that
// goes on. A result that cannot be read is an error: it may be whole, and nothing replaces it.
func (d Dir) Begin() error {
	if err := d.disk.MakeFolder(d.String()); err != nil {
		return fmt.Errorf("cannot create the run's folder: %w", err)
	}
	if _, err := input.Read(d.Path(ResultFile), input.Text); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a result is there that cannot be read: %w", err)
	}
	return d.remove(ResultFile, FailureFile, ModelFile, OutputsFile, StatisticsFile)
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
	var all []string
	for _, entry := range entries {
		name := entry.Name()
		if slices.Contains(names, name) || wholefile.IsTemporary(name) {
			all = append(all, name)
		}
	}
	if err := d.disk.RemoveFrom(d.String(), all...); err != nil {
		return fmt.Errorf("cannot remove what a former run left: %w", err)
	}
	return nil
}

// Worked reports whether the folder holds what took work to make: a result, even one
// that cannot be read, or a checkpoint.
func (d Dir) Worked() bool {
	return there(d.Path(ResultFile)) || there(d.Path(CheckpointFile))
}

// WriteConfig writes config.yaml.
func (d Dir) WriteConfig(yaml []byte) error {
	return d.disk.WriteText(d.Path(ConfigFile), string(yaml))
}

// WriteFailure records why the run failed, for whoever reads the folder later.
func (d Dir) WriteFailure(message string) error {
	return d.disk.WriteText(d.Path(FailureFile), strings.TrimRight(message, "\n")+"\n")
}

// ReadFailure returns the message of WriteFailure and whether there is one.
func (d Dir) ReadFailure() (message string, failed bool, err error) {
	text, err := input.Read(d.Path(FailureFile), input.Words)
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
// result.json that is none, which Begin removes, or that the system cannot read, which
// is an error of Begin too.
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

// there reports whether a file is there, or the system does not tell.
func there(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Run is a finished run: its folder and its result.
type Run struct {
	Dir    Dir
	Result Result
}

// runFiles are the names of what runs leave, but for their locks.
var runFiles = []string{
	ConfigFile, MetricsFile, WeightsFile, StatisticsFile, OutputsFile, ResultFile, FailureFile, LogFile, CheckpointFile, ModelFile,
}

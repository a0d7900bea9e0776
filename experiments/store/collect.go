package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrForeign is in the error for a result that lies in the folder of another run.
var ErrForeign = errors.New("foreign result")

// Run is a finished run: its folder and its result.
type Run struct {
	Dir    Dir
	Result Result
}

// ProblemKind says what is wrong with a run's folder.
type ProblemKind string

// What can be wrong with a run's folder: the run failed, it has no result yet,
// its result cannot be read, it is not where such a run belongs.
const (
	Failed     ProblemKind = "failed"
	Incomplete ProblemKind = "incomplete"
	Unreadable ProblemKind = "unreadable"
	Foreign    ProblemKind = "foreign"
)

// Problem is a folder of runs without a usable result.
type Problem struct {
	Path    string // of the folder, that of the results included
	Kind    ProblemKind
	Message string // what is wrong, in words
}

// String returns the problem in one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s: %s", p.Path, p.Kind, p.Message)
}

// runFiles are the names that make a folder one of a run.
var runFiles = []string{
	ConfigFile, MetricsFile, WeightsFile, StatisticsFile, OutputsFile, ResultFile, FailureFile, LogFile, CheckpointFile, ModelFile,
}

// Collect returns the finished runs below root/experiment, ordered by variant,
// task, method and seed, and a problem for every other folder of a run. Folders
// that hold nothing of a run are passed over.
func Collect(root, experiment string) ([]Run, []Problem) {
	var c collection
	c.walk(root, experiment, ".")
	slices.SortStableFunc(c.runs, func(a, b Run) int {
		return cmp.Or(
			strings.Compare(a.Result.Variant, b.Result.Variant),
			strings.Compare(a.Result.Task, b.Result.Task),
			strings.Compare(a.Result.Method, b.Result.Method),
			cmp.Compare(a.Result.Seed, b.Result.Seed))
	})
	return c.runs, c.problems
}

// collection is what was found so far.
type collection struct {
	runs     []Run
	problems []Problem
}

// walk collects from a folder and those below it; id is the way to it from the experiment's,
// with slashes. Links to folders are followed down to the depth of a run, so results may lie
// on several disks.
func (c *collection) walk(root, experiment, id string) {
	path := filepath.Join(root, experiment, filepath.FromSlash(id))
	entries, err := os.ReadDir(path)
	if err != nil {
		c.problems = append(c.problems, Problem{path, Unreadable, err.Error()})
		return
	}
	if holdsRun(id, entries) {
		run, kind, message := readRun(NewDir(root, experiment, id))
		if kind == "" {
			c.runs = append(c.runs, run)
		} else {
			c.problems = append(c.problems, Problem{path, kind, message})
		}
	}
	if strings.Count(id, "/") >= 4 { // one below a run: deep enough to find misplaced ones
		return
	}
	for _, entry := range entries {
		if info, err := os.Stat(filepath.Join(path, entry.Name())); err == nil && info.IsDir() {
			c.walk(root, experiment, filepath.ToSlash(filepath.Join(id, entry.Name())))
		}
	}
}

func holdsRun(id string, entries []fs.DirEntry) bool {
	return isID(id) || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return slices.Contains(runFiles, e.Name())
	})
}

func isID(text string) bool {
	_, err := ParseID(text)
	return err == nil
}

// readRun returns the finished run of the folder, or what is wrong with it.
func readRun(dir Dir) (run Run, wrong ProblemKind, message string) {
	if !isID(dir.id) {
		return Run{}, Foreign, "the folder of a run is <variant>/<source>-<target>/<method>/seed-<n>"
	}
	result, err := dir.ReadResult()
	switch {
	case err == nil:
		return Run{Dir: dir, Result: result}, "", ""
	case errors.Is(err, ErrForeign):
		return Run{}, Foreign, err.Error()
	case !errors.Is(err, fs.ErrNotExist):
		return Run{}, Unreadable, err.Error()
	}
	message, failed, err := dir.ReadFailure()
	switch {
	case err != nil:
		return Run{}, Unreadable, err.Error()
	case failed:
		return Run{}, Failed, message
	}
	return Run{}, Incomplete, "no " + ResultFile + " yet"
}

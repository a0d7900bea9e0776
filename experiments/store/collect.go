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

// Run is a finished run: its folder and its result.
type Run struct {
	Dir    Dir
	Result Result
}

// ProblemKind says what is wrong with a run's folder.
type ProblemKind string

// What can be wrong with a run's folder: the run failed, it has no result yet, or its
// result cannot be read or is that of another run.
const (
	Failed     ProblemKind = "failed"
	Incomplete ProblemKind = "incomplete"
	Unreadable ProblemKind = "unreadable"
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

// runFiles are the names of what runs leave, but for their locks.
var runFiles = []string{
	ConfigFile, MetricsFile, WeightsFile, StatisticsFile, OutputsFile, ResultFile, FailureFile, LogFile, CheckpointFile, ModelFile,
}

// Collect returns the finished runs below root/experiment, ordered by variant,
// task, method and seed, and a problem for every other folder of a run. Folders may be
// links, so results may lie on several disks; one that cannot be read holds no run.
func Collect(root, experiment string) (runs []Run, problems []Problem) {
	folders, _ := fs.Glob(os.DirFS(filepath.Join(root, experiment)), "*/*/*/"+seedPrefix+"*") // a valid pattern
	for _, id := range folders {
		if _, err := ParseID(id); err != nil {
			continue
		}
		dir := NewDir(root, experiment, id)
		result, err := dir.ReadResult()
		if err == nil {
			runs = append(runs, Run{Dir: dir, Result: result})
			continue
		}
		kind, message := dir.without(err)
		problems = append(problems, Problem{dir.String(), kind, message})
	}
	slices.SortStableFunc(runs, func(a, b Run) int {
		return cmp.Or(
			strings.Compare(a.Result.Variant, b.Result.Variant),
			strings.Compare(a.Result.Task, b.Result.Task),
			strings.Compare(a.Result.Method, b.Result.Method),
			cmp.Compare(a.Result.Seed, b.Result.Seed))
	})
	return runs, problems
}

// without says what is wrong with a folder whose result cannot be read with that error.
func (d Dir) without(result error) (wrong ProblemKind, message string) {
	if !errors.Is(result, fs.ErrNotExist) {
		return Unreadable, result.Error()
	}
	message, failed, err := d.ReadFailure()
	switch {
	case err != nil:
		return Unreadable, err.Error()
	case failed:
		return Failed, message
	}
	return Incomplete, "no " + ResultFile + " yet"
}

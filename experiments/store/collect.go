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

// evidenceFile is what runs of former versions left to choose epochs by.
const evidenceFile = "evidence.csv"

// runFiles are the names that make a folder one of a run.
var runFiles = []string{
	ConfigFile, MetricsFile, WeightsFile, evidenceFile, OutputsFile, ResultFile, FailureFile, LogFile, CheckpointFile, PreviousCheckpointFile, ModelFile,
}

// Collect returns the finished runs below root/experiment, ordered by variant,
// task, method and seed, and a problem for every other folder of a run. Folders
// that hold nothing of a run are passed over.
func Collect(root, experiment string) ([]Run, []Problem) {
	var runs []Run
	var problems []Problem
	visit := func(path string, id string, entries []fs.DirEntry) {
		if !holdsRun(id, entries) {
			return
		}
		run, problem := readRun(NewDir(root, experiment, id))
		if problem != nil {
			problem.Path = path
			problems = append(problems, *problem)
			return
		}
		runs = append(runs, run)
	}
	unreadable := func(path string, err error) {
		problems = append(problems, Problem{Path: path, Kind: Unreadable, Message: err.Error()})
	}
	walk(filepath.Join(root, experiment), ".", visit, unreadable)
	slices.SortStableFunc(runs, func(a, b Run) int {
		return cmp.Or(
			strings.Compare(a.Result.Variant, b.Result.Variant),
			strings.Compare(a.Result.Task, b.Result.Task),
			strings.Compare(a.Result.Method, b.Result.Method),
			cmp.Compare(a.Result.Seed, b.Result.Seed))
	})
	return runs, problems
}

// walk visits top and the folders below it; id is the way from top, with slashes.
// Links to folders are followed down to the depth of a run, so results may lie on
// several disks.
func walk(top, id string, visit func(path, id string, entries []fs.DirEntry), unreadable func(string, error)) {
	path := filepath.Join(top, filepath.FromSlash(id))
	entries, err := os.ReadDir(path)
	if err != nil {
		unreadable(path, err)
		return
	}
	visit(path, id, entries)
	if strings.Count(id, "/") >= 4 { // one below a run: deep enough to find misplaced ones
		return
	}
	for _, entry := range entries {
		below := filepath.ToSlash(filepath.Join(id, entry.Name()))
		if info, err := os.Stat(filepath.Join(path, entry.Name())); err == nil && info.IsDir() {
			walk(top, below, visit, unreadable)
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

// readRun returns the finished run of the folder, or the problem with it.
func readRun(dir Dir) (Run, *Problem) {
	if !isID(dir.id) {
		return Run{}, &Problem{Kind: Foreign, Message: "the folder of a run is <variant>/<source>-<target>/<method>/seed-<n>"}
	}
	result, err := dir.ReadResult()
	if err == nil {
		return Run{Dir: dir, Result: result}, nil
	}
	switch {
	case errors.Is(err, ErrForeign):
		return Run{}, &Problem{Kind: Foreign, Message: err.Error()}
	case !errors.Is(err, fs.ErrNotExist):
		return Run{}, &Problem{Kind: Unreadable, Message: err.Error()}
	}
	message, failed, err := dir.ReadFailure()
	switch {
	case err != nil:
		return Run{}, &Problem{Kind: Unreadable, Message: err.Error()}
	case failed:
		return Run{}, &Problem{Kind: Failed, Message: message}
	}
	return Run{}, &Problem{Kind: Incomplete, Message: "no " + ResultFile + " yet"}
}

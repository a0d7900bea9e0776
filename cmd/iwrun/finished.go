package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// errNothingFinished is returned where there is nothing to show.
var errNothingFinished = errors.New("no run is finished")

// foundRuns is what there is of an experiment in the folder of results.
type foundRuns struct {
	planned  []plan.Run
	runs     []store.Run     // made with the present configuration, and those that the experiment does not plan
	problems []store.Problem // folders of runs without a result
	notes    []string        // what was left out, sentences
}

// findRuns reads the experiment's results. The error wraps errNothingFinished if no
// planned run is finished with the present configuration; what else there is is
// returned all the same.
func findRuns(file *config.File, results string) (foundRuns, error) {
	planned, err := plan.Runs(file)
	if err != nil {
		return foundRuns{}, err
	}
	hashes := map[string]string{}
	for _, run := range planned {
		hashes[run.ID.String()] = run.Config.Hash()
	}
	collected, problems := store.Collect(results, file.Config.Experiment)
	found := foundRuns{planned: planned, problems: problems}
	usable := 0
	var others []string
	for _, run := range collected {
		hash, isPlanned := hashes[run.Result.ID]
		switch {
		case !isPlanned:
			found.runs = append(found.runs, run)
		case hash == run.Result.ConfigHash:
			found.runs = append(found.runs, run)
			usable++
		default:
			others = append(others, run.Result.ID)
		}
	}
	if len(others) > 0 {
		found.notes = append(found.notes, fmt.Sprintf("Left out, because finished with another configuration: %s.", strings.Join(others, ", ")))
	}
	if ids := onDifferentData(found.runs); len(ids) > 0 {
		found.notes = append(found.notes, fmt.Sprintf("The data changed between runs of one task and seed (data_sha256): %s.", strings.Join(ids, ", ")))
	}
	if usable == 0 {
		return found, fmt.Errorf("%w of experiment %q below %s with the configuration of %s (%d with another one)",
			errNothingFinished, file.Config.Experiment, results, file.Name, len(others))
	}
	return found, nil
}

// onDifferentData returns the ids of runs that were made on other data than another
// method's run of the same variant, task and seed.
func onDifferentData(runs []store.Run) []string {
	type group struct {
		variant, task string
		seed          int64
	}
	of := func(r store.Run) group { return group{r.Result.Variant, r.Result.Task, r.Result.Seed} }
	data := map[group]string{}
	differing := map[group]bool{}
	for _, run := range runs {
		sum := run.Result.DataSHA256
		if first := data[of(run)]; sum != "" && first != "" && first != sum {
			differing[of(run)] = true
		} else if sum != "" {
			data[of(run)] = sum
		}
	}
	var ids []string
	for _, run := range runs {
		if differing[of(run)] {
			ids = append(ids, run.Result.ID)
		}
	}
	return ids
}

// failed reports whether a run has failed.
func (f foundRuns) failed() bool {
	return slices.ContainsFunc(f.problems, func(p store.Problem) bool { return p.Kind == store.Failed })
}

// warn names the folders that cannot be made sense of.
func (f foundRuns) warn(w io.Writer) {
	for _, problem := range f.problems {
		if problem.Kind == store.Unreadable || problem.Kind == store.Foreign {
			fmt.Fprintln(w, problem)
		}
	}
}

package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// ErrNothingFinished is returned where there is nothing to show.
var ErrNothingFinished = errors.New("no run is finished")

// Found is what there is of an experiment in the folder of results.
type Found struct {
	Planned  []Run
	Runs     []store.Run     // made with the present configuration, of the same classes in a task, and those not planned
	Problems []store.Problem // folders of runs without a result
	Notes    []string        // what was left out, sentences
}

// Find reads the experiment's results. The error wraps ErrNothingFinished if no
// planned run is finished with the present configuration; what else there is is
// returned all the same.
func Find(file *config.File, results string) (Found, error) {
	planned, err := Runs(file)
	if err != nil {
		return Found{}, err
	}
	hashes := map[string]string{}
	for _, run := range planned {
		hashes[run.ID.String()] = run.Config.Hash()
	}
	collected, problems := store.Collect(results, file.Config.Experiment)
	found := Found{Planned: planned, Problems: problems}
	usable := 0
	first := map[store.ID]store.Result{} // of each variant and task, whose classes count
	var others, otherClasses []string
	for _, run := range collected {
		r := run.Result
		hash, isPlanned := hashes[r.ID]
		of := store.ID{Variant: r.Variant, Task: r.Task}
		switch {
		case !isPlanned:
			found.Runs = append(found.Runs, run)
			continue
		case hash != r.ConfigHash:
			others = append(others, r.ID)
			continue
		case first[of].ID == "":
			first[of] = r
		case !slices.Equal(first[of].Classes, r.Classes):
			otherClasses = append(otherClasses, fmt.Sprintf("%s (unlike %s)", r.ID, first[of].ID))
			continue
		}
		found.Runs = append(found.Runs, run)
		usable++
	}
	if len(others) > 0 {
		found.Notes = append(found.Notes, fmt.Sprintf("Left out, because finished with another configuration: %s.", strings.Join(others, ", ")))
	}
	if len(otherClasses) > 0 {
		found.Notes = append(found.Notes, fmt.Sprintf("Left out, because the classes differ: %s. The data changed between the two: "+
			"remove the folder of the run of the former data, and run it again.", strings.Join(otherClasses, ", ")))
	}
	if ids := onDifferentData(found.Runs); len(ids) > 0 {
		found.Notes = append(found.Notes, fmt.Sprintf("The data changed between runs of one task and seed (data_sha256): %s.", strings.Join(ids, ", ")))
	}
	if usable == 0 {
		return found, fmt.Errorf("%w of experiment %q below %s with the configuration of %s (%d with another one)",
			ErrNothingFinished, file.Config.Experiment, results, file.Name, len(others))
	}
	return found, nil
}

// onDifferentData returns the ids of runs that were made on other data than another
// method's run of the same variant, task and seed.
func onDifferentData(runs []store.Run) []string {
	of := func(r store.Run) store.ID { // but for the method
		return store.ID{Variant: r.Result.Variant, Task: r.Result.Task, Seed: r.Result.Seed}
	}
	data := map[store.ID]string{}
	differing := map[store.ID]bool{}
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

// Failed reports whether a run has failed.
func (f Found) Failed() bool {
	return slices.ContainsFunc(f.Problems, func(p store.Problem) bool { return p.Kind == store.Failed })
}

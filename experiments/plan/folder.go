package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// Of returns the run of a configuration.
func Of(c config.Resolved) Run {
	return Run{ID: store.ID{Variant: c.Variant, Task: c.Task, Method: c.Method, Seed: c.Seed}, Config: c}
}

// Dir returns the run's folder below that of all results.
func (r Run) Dir(results string) store.Dir {
	return store.NewDir(results, r.Config.Experiment, r.ID.String())
}

// Finished returns the run's result below the folder of results and whether there is one of its
// configuration. One that cannot be read is none: it is made again.
func (r Run) Finished(results string) (result store.Result, finished bool) {
	result, finished, err := r.Dir(results).Finished(r.Config.Hash())
	return result, finished && err == nil
}

// Finished returns those of the runs of which there is a result; see [Run.Finished].
func Finished(runs []Run, results string) (finished []Run) {
	for _, run := range runs {
		if _, is := run.Finished(results); is {
			finished = append(finished, run)
		}
	}
	return finished
}

// WriteConfig writes the run's configuration into its folder, for [Open].
func (r Run) WriteConfig(dir store.Dir) error {
	yaml, err := r.Config.YAML()
	if err != nil {
		return err
	}
	return dir.WriteConfig(yaml)
}

// Open reads the configuration of the run whose folder it is.
func Open(folder string) (Run, store.Dir, error) {
	path := filepath.Join(folder, store.ConfigFile)
	resolved, err := config.LoadRun(path)
	if err != nil {
		return Run{}, store.Dir{}, err
	}
	dir, err := store.DirOf(folder)
	if err != nil {
		return Run{}, store.Dir{}, err
	}
	run := Of(resolved)
	if end := run.Dir(string(filepath.Separator)).String(); !strings.HasSuffix(dir.String(), end) {
		return Run{}, store.Dir{}, fmt.Errorf("%s: the folder of this run must end in %s", path, end)
	}
	return run, dir, nil
}

// Conflict says in what the result or the checkpoint of a folder is not one of this run's
// configuration, as in "train.epochs: 12 there, 70 here"; there is nothing to say of a
// folder without either. The error is for a configuration in the folder that cannot be
// read; the result alone may differ all the same.
func (r Run) Conflict(dir store.Dir) (differences []string, err error) {
	if !dir.Worked() {
		return nil, nil
	}
	there, err := config.LoadRun(dir.Path(store.ConfigFile))
	if err == nil && there.Hash() != r.Config.Hash() {
		return config.Differences(there, r.Config), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if hash := dir.ResultHash(); hash != "" && hash != r.Config.Hash() {
		differences = []string{fmt.Sprintf("its result has the hash %s instead of %s", hash, r.Config.Hash())}
	}
	return differences, err
}

// ErrNothingFinished is returned where there is nothing to show.
var ErrNothingFinished = errors.New("no run is finished")

// Found is what there is of an experiment in the folder of results.
type Found struct {
	Runs  []store.Run // planned, made with the present configuration, of the same classes in a task
	Notes []string    // what was left out, sentences
}

// Find reads the experiment's results. The error wraps ErrNothingFinished if no
// planned run is finished with the present configuration; what else there is is
// returned all the same.
func Find(file *config.File, results string) (found Found, err error) {
	planned, err := Runs(file)
	if err != nil {
		return found, err
	}
	first := map[store.ID]store.Result{} // of each variant and task, whose classes count
	var others, otherClasses []string
	for _, run := range planned {
		dir := run.Dir(results)
		r, err := dir.ReadResult()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			found.Notes = append(found.Notes, fmt.Sprintf("Left out, because its result cannot be read: %v.", err))
			continue
		}
		of := store.ID{Variant: r.Variant, Task: r.Task}
		switch {
		case run.Config.Hash() != r.ConfigHash:
			others = append(others, r.ID)
			continue
		case first[of].ID == "":
			first[of] = r
		case !slices.Equal(first[of].Classes, r.Classes):
			otherClasses = append(otherClasses, fmt.Sprintf("%s (unlike %s)", r.ID, first[of].ID))
			continue
		}
		found.Runs = append(found.Runs, store.Run{Dir: dir, Result: r})
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
	if len(found.Runs) == 0 {
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

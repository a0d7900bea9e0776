package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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

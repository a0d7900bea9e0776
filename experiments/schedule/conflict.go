package schedule

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// otherConfiguration returns an error if the run's folder holds a result or a
// checkpoint that another configuration gave. It lists how the two differ.
func otherConfiguration(run plan.Run, dir store.Dir) error {
	if !dir.Worked() {
		return nil
	}
	const remedy = "choose another folder with --results, or begin the run anew with --overwrite, which removes what is there"
	there, err := readConfig(dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s holds a result or a checkpoint, and it cannot be told of which configuration: %w\n%s", dir, err, remedy)
	case err == nil && there.Hash() != run.Config.Hash():
		return fmt.Errorf("%s holds a result or a checkpoint of another configuration:\n%s\n%s",
			dir, strings.Join(config.Differences(there, run.Config), "\n"), remedy)
	}
	if result, err := dir.ReadResult(); err == nil && result.ConfigHash != run.Config.Hash() {
		return fmt.Errorf("%s holds a result of another configuration, with the hash %s instead of %s\n%s",
			dir, result.ConfigHash, run.Config.Hash(), remedy)
	}
	return nil // what cannot be read is made again, and the worker checks the checkpoint
}

// readConfig reads the configuration that lies in the folder of a run.
func readConfig(dir store.Dir) (config.Resolved, error) {
	path := dir.Path(store.ConfigFile)
	file, err := config.Load(path)
	if err != nil {
		return config.Resolved{}, err
	}
	runs, err := plan.Runs(file)
	if err != nil {
		return config.Resolved{}, err
	}
	if len(runs) != 1 {
		return config.Resolved{}, fmt.Errorf("%s: the file has %d runs instead of one", path, len(runs))
	}
	return runs[0].Config, nil
}

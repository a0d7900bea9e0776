package schedule

import (
	"fmt"
	"strings"

	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// otherConfiguration returns an error if the run's folder holds a result or a
// checkpoint that another configuration gave, which lists how the two differ, or one of
// which that cannot be told.
func otherConfiguration(run plan.Run, dir store.Dir) error {
	const remedy = "choose another folder with --results, or begin the run anew with --overwrite, which removes what is there"
	differences, err := run.Conflict(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s holds a result or a checkpoint, and it cannot be told of which configuration: %w\n%s", dir, err, remedy)
	case len(differences) > 0:
		return fmt.Errorf("%s holds a result or a checkpoint of another configuration:\n%s\n%s", dir, strings.Join(differences, "\n"), remedy)
	}
	return nil // what cannot be read is made again, and the worker checks the checkpoint
}

// Package runs finds the finished runs of an experiment in its folder of results, whatever its file says.
package runs

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"iwda/experiments/store"
)

// Finished returns those below root/experiment whose results can be read, by variant, task, method and seed.
func Finished(root, experiment string) (runs []store.Run) {
	folders, _ := filepath.Glob(filepath.Join(root, experiment, "*", "*", "*", "seed-*")) // a valid pattern
	for _, folder := range folders {
		dir, err := store.DirOf(folder)
		if err != nil {
			continue
		}
		if result, err := dir.ReadResult(); err == nil {
			runs = append(runs, store.Run{Dir: dir, Result: result})
		}
	}
	slices.SortStableFunc(runs, func(a, b store.Run) int {
		return cmp.Or(
			strings.Compare(a.Result.Variant, b.Result.Variant), strings.Compare(a.Result.Task, b.Result.Task),
			strings.Compare(a.Result.Method, b.Result.Method), cmp.Compare(a.Result.Seed, b.Result.Seed))
	})
	return runs
}

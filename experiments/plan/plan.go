// Package plan turns an experiment file into runs: every method on every variant of
// every task with every seed, each under a stable id.
package plan

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"iwda/experiments/config"
	"iwda/internal/nearest"
)

// ID names a run within its experiment. Its text is the path of the run's folder
// below that of the experiment: subsampled/usps-mnist/iwdan/seed-1.
type ID struct {
	Variant string
	Task    string
	Method  string
	Seed    int64
}

// String returns variant/task/method/seed-n.
func (id ID) String() string {
	return fmt.Sprintf("%s/%s/%s/%s%d", id.Variant, id.Task, id.Method, seedPrefix, id.Seed)
}

const (
	idForm     = "variant/task/method/seed-n"
	seedPrefix = "seed-"
)

// ParseID is the inverse of ID.String. It does not check that there is such a
// variant, task or method.
func ParseID(text string) (ID, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 4 || slices.Contains(parts, "") {
		return ID{}, fmt.Errorf("run id %q: it must have the form %s", text, idForm)
	}
	id := ID{Variant: parts[0], Task: parts[1], Method: parts[2]}
	seed, err := strconv.ParseInt(strings.TrimPrefix(parts[3], seedPrefix), 10, 64)
	id.Seed = seed
	if err != nil || id.String() != text {
		return ID{}, fmt.Errorf("run id %q: its last part must be seed-n with a whole number n, not %q", text, parts[3])
	}
	return id, nil
}

// Run is one training with its configuration.
type Run struct {
	ID     ID
	Config config.Resolved
}

// Runs returns all runs of the file: by variant, then task, method and seed, each in
// the order of the file. The error is of type config.Errors.
func Runs(file *config.File) ([]Run, error) {
	var runs []Run
	var mistakes config.Errors
	c := file.Config
	for _, variant := range c.Variants {
		for _, task := range c.Tasks {
			for _, method := range c.Methods {
				for _, seed := range c.Seeds {
					resolved, err := file.Resolve(task, variant, method, seed)
					if err != nil {
						mistakes = appendNew(mistakes, err.(config.Errors))
						continue
					}
					runs = append(runs, Of(resolved))
				}
			}
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return runs, nil
}

// CheckData returns an error of type config.Errors that names every missing data
// folder of the runs.
func CheckData(runs []Run) error {
	var mistakes config.Errors
	for _, run := range runs {
		if err := run.Config.CheckData(); err != nil {
			mistakes = appendNew(mistakes, config.Errors{err.(config.Error)})
		}
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	return nil
}

// appendNew appends those mistakes that list does not hold: runs share most of
// theirs.
func appendNew(list, mistakes config.Errors) config.Errors {
	for _, mistake := range mistakes {
		if !slices.Contains(list, mistake) {
			list = append(list, mistake)
		}
	}
	return list
}

// Only returns the runs whose id one of the globs fits, in the order of runs, and
// all runs where there are no globs. A glob has the form of path.Match:
// subsampled/*/iwdan*/seed-[12]. One that is malformed or fits no run is an error of
// type config.Errors, which names the nearest ids.
func Only(runs []Run, globs []string) ([]Run, error) {
	if len(globs) == 0 {
		return runs, nil
	}
	var mistakes config.Errors
	selected := make([]bool, len(runs))
	for _, glob := range globs {
		if problem := selectRuns(runs, glob, selected); problem != "" {
			mistakes = append(mistakes, config.Error{Location: "--only " + glob, Message: problem})
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	var only []Run
	for i, run := range runs {
		if selected[i] {
			only = append(only, run)
		}
	}
	return only, nil
}

// selectRuns marks the runs that the glob fits, or returns what is wrong with it.
func selectRuns(runs []Run, glob string, selected []bool) (problem string) {
	if _, err := path.Match(glob, ""); err != nil {
		return "no valid pattern; * ? and [a-z] have a special meaning, and \\ takes it away"
	}
	if parts := strings.Count(glob, "/") + 1; parts != 4 {
		return fmt.Sprintf("the pattern has %d parts instead of 4; a run id is %s", parts, idForm)
	}
	found := false
	for i, run := range runs {
		if fits, _ := path.Match(glob, run.ID.String()); fits {
			selected[i], found = true, true
		}
	}
	if !found {
		return "fits no run; the nearest are " + strings.Join(nearestIDs(runs, glob), ", ")
	}
	return ""
}

// nearestShown is the number of ids that an error about a glob suggests.
const nearestShown = 3

// nearestIDs returns the ids that need the fewest edits to fit the glob. Parts that fit
// count as equal.
func nearestIDs(runs []Run, glob string) []string {
	type candidate struct {
		id    string
		edits int
	}
	var candidates []candidate
	patterns := strings.Split(glob, "/")
	for _, run := range runs {
		c := candidate{id: run.ID.String()}
		for i, part := range strings.Split(c.id, "/") {
			if fits, _ := path.Match(patterns[i], part); !fits {
				c.edits += nearest.Distance(patterns[i], part)
			}
		}
		candidates = append(candidates, c)
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return a.edits - b.edits })
	var ids []string
	for _, c := range candidates[:min(nearestShown, len(candidates))] {
		ids = append(ids, c.id)
	}
	return ids
}

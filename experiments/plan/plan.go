// Package plan turns an experiment file into runs: every method on every variant of
// every task with every seed, each under a stable id.
package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/printable"
)

// Run is one training with its configuration.
type Run struct {
	ID     store.ID
	Index  int // among the runs of the file, from 0
	Config config.Resolved
}

// Progress is how far a run has come.
type Progress struct {
	Step  int `json:"step,omitempty"` // completed since the start of the run
	Steps int `json:"steps,omitempty"`
}

// Fraction returns the completed part of the run, from 0 to 1.
func (p Progress) Fraction() float64 {
	if p.Steps <= 0 {
		return 0
	}
	return min(max(float64(p.Step)/float64(p.Steps), 0), 1)
}

// Runs returns all runs of the file: by variant, then task, method and seed, each in
// the order of the file. The error is of type config.Errors; it names methods that are trained alike.
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
					run := Of(resolved)
					run.Index = len(runs)
					runs = append(runs, run)
				}
			}
		}
	}
	for i := 0; i < len(runs) && mistakes == nil; i++ {
		if seeds := len(c.Seeds); i/seeds%len(c.Methods) == 0 { // a seed of the first method
			var methods []config.Resolved
			for m := range c.Methods {
				methods = append(methods, runs[i+m*seeds].Config)
			}
			if err := file.CheckMethods(methods); err != nil {
				mistakes = append(mistakes, err.(config.Error))
			}
		}
	}
	return runs, mistakes.OrNil()
}

// Lengths says how many runs there are of which length, as in "12 runs of 70 epochs" and
// "12 runs: 8 of 20000 steps, 4 of 100000 steps; 560000 steps in all".
func Lengths(runs []Run) string {
	counts := map[string]int{}
	var kinds []string
	total := 0
	for _, run := range runs {
		t := run.Config.Train
		kind := "of " + printable.Count(t.Epochs, "epoch")
		switch {
		case run.Config.WithoutSteps():
			kind = "without steps"
		case t.Steps > 0:
			kind = "of " + printable.Count(t.Steps, "step")
			total += t.Steps
		}
		if counts[kind] == 0 {
			kinds = append(kinds, kind)
		}
		counts[kind]++
	}
	line := printable.Count(len(runs), "run") + " "
	if len(kinds) > 1 {
		for i, kind := range kinds {
			kinds[i] = fmt.Sprintf("%d %s", counts[kind], kind)
		}
		line = printable.Count(len(runs), "run") + ": "
	}
	line += strings.Join(kinds, ", ")
	if total > 0 {
		line += fmt.Sprintf("; %s in all", printable.Count(total, "step"))
	}
	return line
}

// AnySteps tells whether any of the runs makes steps, which takes iwrun-torch.
func AnySteps(runs []Run) bool {
	return slices.ContainsFunc(runs, func(run Run) bool { return !run.Config.WithoutSteps() })
}

// NeverAligned is a sentence about the runs that end before their method aligns the domains; "" if
// there are none.
func NeverAligned(runs []Run) string {
	var ids []string
	for _, run := range runs {
		method, _ := config.ParseMethod(run.ID.Method) // that of a planned run is known
		if t := run.Config.Train; method.Alignment != config.NoAlignment && t.DomainFromEpoch > t.Evaluations() {
			ids = append(ids, run.ID.String())
		}
	}
	if ids == nil {
		return ""
	}
	return fmt.Sprintf("In %s the domains are never aligned, as train.domain_from_epoch is after the last epoch: %s.", printable.Count(len(ids), "run"), printable.FirstTen(ids))
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
	return mistakes.OrNil()
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
// type config.Errors.
func Only(runs []Run, globs []string) ([]Run, error) {
	if len(globs) == 0 {
		return runs, nil
	}
	var mistakes config.Errors
	for _, glob := range globs {
		if problem := checkGlob(glob, runs); problem != "" {
			mistakes = append(mistakes, config.Error{Location: "--only " + glob, Message: problem})
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return slices.DeleteFunc(slices.Clone(runs), func(run Run) bool { return !slices.ContainsFunc(globs, run.fits) }), nil
}

// fits reports whether the glob fits the run's id.
func (r Run) fits(glob string) bool {
	fits, _ := path.Match(glob, r.ID.String())
	return fits
}

// checkGlob returns what is wrong with a glob, or "".
func checkGlob(glob string, runs []Run) string {
	if _, err := path.Match(glob, ""); err != nil {
		return "no valid pattern; * ? and [a-z] have a special meaning, and \\ takes it away"
	}
	if parts := strings.Count(glob, "/") + 1; parts != 4 {
		return fmt.Sprintf("4 parts are wanted, and the pattern has %d; a run id is %s", parts, store.IDForm)
	}
	if !slices.ContainsFunc(runs, func(run Run) bool { return run.fits(glob) }) {
		return "fits no run; iwrun run --dry-run lists their ids"
	}
	return ""
}

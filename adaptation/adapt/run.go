// Package adapt goes from two domains of files, a labelled source and a target without labels,
// to predictions for the target ([Plan.Run]). It looks at both domains ([Look]), writes the
// experiment file that follows, with the reasons as comments ([Data.Experiment]), trains it as
// any other, has package judge choose among its runs without a label of the target, and leaves
// the chosen models, their predictions, the class shares that they found, a report, and
// [Outcome] as outcome.json.
//
// All of it can be done by hand: the file is one that iwrun takes, and its results lie in
// the usual folders.
package adapt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"iwda/adaptation/adapt/names"
	"iwda/experiments/engine"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/experiments/store"
	"iwda/internal/wholefile"
)

// Options are those of [NewPlan]. The zero value of a field is what is usual, but for Folder and Train.
type Options struct {
	Folder string   // of everything that is written
	Set    []string // assignments KEY=VALUE to keys of the experiment file
	Steps  int      // of each run, about; 0 for what suits the size of the data
	// Columns are what is said of those of the files.
	Columns Naming
	// Network is that of images: SmallNetwork, or "" for a pretrained one.
	Network string
	// LabelShift says that only the class shares differ, which the data decide otherwise.
	LabelShift bool
	// Needs are what somebody needs of the predictions, as [trust.ParseNeeds] reads them.
	Needs []string
	// Probabilities has the predictions hold the probabilities of all classes.
	Probabilities bool
	// Sets is the level, of [sets.Levels], of a set of classes for each row; 0 for none.
	Sets float64
	// LabelRows of the target are drawn for somebody to label; 0 means 50, less than 0 none.
	LabelRows int
	// Overwrite begins runs anew that were made with other settings, which is an error otherwise.
	Overwrite bool
	// Trust is for modules that only an experiment.yaml which the folder already has names.
	Trust model.Trust
	// Torch, Device and Threads are those of [predict.Options].
	Torch   *engine.Process
	Device  string
	Threads int
	// Train makes those of the runs that are not finished, and returns the ones that failed. Its error ends the
	// adaptation.
	Train func(context.Context, Training) ([]schedule.Failure, error)

	alone error // why an array does without iwrun-torch
}

// Training is what is trained.
type Training struct {
	Runs    []plan.Run // in the order in which they are to begin
	Results string     // the folder below which each has its own
	// Needed tells of each run after the first Sure ones whether it is made. It is to be asked when the first has ended.
	Needed func(plan.Run) bool
	Sure   int
	// Finished is to be called with each run, one at a time. What it returns may be said, unless it is empty.
	Finished func(plan.Run) string
}

// ErrNothingTrained is returned by [Plan.Run] if every run failed.
var ErrNothingTrained = errors.New("every run failed: there is nothing to predict with")

// Run carries the plan out, once: it writes experiment.yaml, trains, chooses without a label of the target, and leaves
// everything in the folder. What is wrong with the options or the data is an error before anything is written.
//
// A plan of the same folder goes on after a cancelled context or a crash, and follows
// the experiment.yaml that is there, which may have been changed.
func (p *Plan) Run(ctx context.Context) (*Outcome, error) {
	seconds, last := map[string]float64{}, p.began
	lap := func(part string) { // notes the time since the last one
		now := time.Now()
		seconds[part], last = now.Sub(last).Seconds(), now
	}
	if err := p.check(ctx); err != nil {
		return nil, err
	}
	if err := new(wholefile.Disk).MakeFolder(p.options.Folder); err != nil {
		return nil, fmt.Errorf("cannot create the folder of the results: %w", err)
	}
	if err := wholefile.WriteText(p.path(names.Experiment), string(p.Text)); err != nil {
		return nil, err
	}
	lap("look")
	place := store.PlaceOf(p.options.Folder)
	failed, err := p.options.Train(ctx, Training{
		Runs: p.stages.runs, Results: p.results(), Needed: p.needed, Sure: p.stages.sure,
		Finished: func(run plan.Run) string { return p.firstAnswer(ctx, run) },
	})
	if err == nil {
		err = cmp.Or(ctx.Err(), place.Check())
	}
	if err != nil {
		return nil, err
	}
	lap("train")
	left := slices.DeleteFunc(slices.Clone(p.Runs), func(r plan.Run) bool {
		return !p.needed(r) || slices.ContainsFunc(failed, func(f schedule.Failure) bool { return f.Run.ID == r.ID })
	})
	if len(left) == 0 {
		return nil, ErrNothingTrained
	}
	outcome, err := p.conclude(ctx, left, failed, nil)
	if err != nil {
		return nil, err
	}
	lap("conclude")
	outcome.Seconds = seconds
	if err := place.Check(); err != nil {
		return nil, err
	}
	return outcome, wholefile.WriteJSON(p.path(names.Outcome), outcome)
}

// conclude chooses among the runs that are left, or has labels do so, and writes everything but
// outcome.json.
func (p *Plan) conclude(ctx context.Context, left []plan.Run, failed []schedule.Failure, chosen *LabelChoice) (*Outcome, error) {
	p.stages.decide(p.results())
	c, err := conclude(p.file.Config.Selection, p.results(), left, chosen, p.Data.belong, p.stages)
	if err != nil {
		return nil, err
	}
	if len(failed) > 0 {
		c.Problems = append(c.Problems, leftOut(failed, len(left)+len(failed)))
	}
	c.Problems = append(c.Problems, p.Warnings...)
	wrote, err := c.write(ctx, p)
	if err != nil {
		return nil, err
	}
	outcome, err := c.outcome(p, wrote, failed)
	if err != nil {
		return nil, err
	}
	return outcome, c.report(p, wrote, outcome)
}

// leftOut says which of so many runs failed, and why the first one did.
func leftOut(failed []schedule.Failure, runs int) string {
	reason, _, _ := strings.Cut(failed[0].Error(), "\n")
	if len(failed) == 1 {
		return fmt.Sprintf("%s failed and is left out: %s.", failed[0].Run.ID, reason)
	}
	return fmt.Sprintf("%d of %d runs failed and are left out; the first, %s: %s.", len(failed), runs, failed[0].Run.ID, reason)
}

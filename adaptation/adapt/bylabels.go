package adapt

import (
	"context"
	"fmt"
	"slices"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/labels"
	"iwda/datasets/catalogue"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/inference/evaluation"
	"iwda/internal/convert"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

// LabelChoice is what labels of some rows of the target chose.
type LabelChoice struct {
	Labels   int             `json:"labels"` // rows that have one
	Method   string          `json:"method"`
	Accuracy labels.Accuracy `json:"accuracy"` // by these labels
	// Instead is what predicted before.
	Instead    string                `json:"instead"`
	Difference evaluation.Difference `json:"difference"`
	P          float64               `json:"p"` // see [labels.Evaluation.Best]
}

// String says what was chosen, and why.
func (c *LabelChoice) String() string {
	return fmt.Sprintf("%s predicts, chosen by %d labelled target rows: its accuracy on the target is %.1f%% (%.1f to %.1f%%), %.1f points higher than that of %s, which predicted before (p = %.2g).",
		c.Method, c.Labels, 100*c.Accuracy.Value, 100*c.Accuracy.Low, 100*c.Accuracy.High, 100*c.Difference.Value, c.Instead, c.P)
}

// choose has the best method of an evaluation predict in the folder that [Plan.Run] left, if it is
// clearly better than what does, and says in the evaluation what came of it. Predictions have the
// probabilities of all classes if they had before.
func (o EvaluateOptions) choose(ctx context.Context, folder string, e *labels.Evaluation, former *Outcome, probabilities bool) error {
	best, p, clear := e.Best()
	switch {
	case best == nil:
		e.Choice = "All methods predict the same classes as the predictions: nothing was changed."
		return nil
	case best.Difference.Value <= 0:
		e.Choice = "No method is right on more of the labelled rows than the predictions: nothing was changed."
		return nil
	case !clear:
		e.Choice = fmt.Sprintf("No method is clearly better than the predictions. The best, %s, is right on %s on which they are wrong, and wrong on %d on which they are right (p = %.2g). Nothing was changed.",
			best.Method, printable.Count(best.Difference.Gained, "labelled row"), best.Difference.Lost, p)
		return nil
	}
	chosen := &LabelChoice{e.Labels, best.Method, best.Accuracy, former.Method, best.Difference, p}
	left, err := finished(folder)
	if err != nil {
		return err
	}
	files := left[0].Config.Dataset.Domains // the target last
	if err := checkApart(folder, convert.Each(files, func(of catalogue.Files) string { return of.Path })...); err != nil {
		return err
	}
	data, err := lookAt(files, former.Form, false)
	if err != nil {
		return err
	}
	again, err := newPlan(data, Options{
		Folder: folder, Probabilities: probabilities, LabelRows: -1, Needs: former.Asked, Torch: o.Torch, Device: o.Device, Threads: o.Threads,
	})
	if err != nil {
		return err
	}
	outcome, err := again.conclude(ctx, left, again.failures(former.Failed), chosen)
	if err != nil {
		return err
	}
	outcome.Seconds, e.Choice = former.Seconds, chosen.String()
	return wholefile.WriteJSON(again.path(names.Outcome), outcome)
}

// failures are those runs of the plan that failed before.
func (p *Plan) failures(failed []FailedRun) (failures []schedule.Failure) {
	for _, f := range failed {
		if at := slices.IndexFunc(p.Runs, func(r plan.Run) bool { return r.ID.String() == f.Run }); at >= 0 {
			failures = append(failures, schedule.Failure{Run: p.Runs[at], Reason: f.Reason})
		}
	}
	return failures
}

package adapt

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"iwda/experiments/judge"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/report/page"
	"iwda/internal/wholefile"
)

// write leaves in the folder the chosen models, what they predict for every row of the target,
// the class shares, and the report. Each file is replaced in one step, so that all that is
// there is whole.
func (o *conclusion) write(ctx context.Context, p *Plan) error {
	if err := o.predict(ctx, p); err != nil {
		return err
	}
	if err := os.Remove(p.path(FirstFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeClasses(p.path(ClassesFile), o.Classes); err != nil {
		return err
	}
	if err := o.disputes.write(p.path(DisputedFile), p.path(PredictionsFile), p.Data.Classes); err != nil {
		return err
	}
	found, err := plan.Find(p.file, p.results())
	if err != nil {
		return err
	}
	return wholefile.Write(p.path(ReportFile), func(w io.Writer) error {
		return page.Write(w, page.Content{Config: p.file.Config, Found: found, Outcome: o.Sheets()})
	})
}

// predict writes the models and their predictions.
func (o *conclusion) predict(ctx context.Context, p *Plan) error {
	var from []string
	for _, run := range o.Runs {
		from = append(from, run.Dir(p.results()).String())
	}
	members, err := model.OpenMembers(from)
	if err != nil {
		return err
	}
	for i := range members {
		if shares := &members[i].Shares; o.Correction != judge.Full && shares.Target != nil {
			shares.Assumed = o.Correction.Shares(shares.Classifier, shares.Target)
		}
	}
	if err := model.Save(p.path(ModelFolder), members...); err != nil {
		return err
	}
	written, err := p.predictTarget(ctx, members, PredictionsFile)
	if err != nil {
		return err
	}
	for i, n := range written.Counts {
		o.Classes[i].PredictedShare = float64(n) / float64(written.Rows())
	}
	return nil
}

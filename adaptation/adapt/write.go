package adapt

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/judge"
	"iwda/adaptation/labels"
	"iwda/experiments/config"
	"iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/inference/sets"
	"iwda/internal/printable"
)

// written is what became known of a conclusion as its files were written.
type written struct {
	classes  []ClassOutcome // those of the conclusion, with the shares of the predictions
	measured *Measured      // by the labels that the target has; nil without any
	drawn    []labels.Row   // to label, unless former ones were kept
	kept     string         // what is said of those; "" if rows were drawn, or none were wanted
	problems []string
}

// write leaves in the folder the chosen models, what they predict for every row of the target,
// the class shares, and rows to label. Each file is replaced in one step, so that all that is
// there is whole. The outcome of a former command goes first, as it would not be that of the others.
func (o conclusion) write(ctx context.Context, p *Plan) (w written, err error) {
	if judged := len(store.JudgedRows(p.Data.Target.Rows)); judged != o.judgedRows {
		return written{}, fmt.Errorf("%s: these runs were judged on %d target rows, but this version uses %d: a former version made them; train them again with --overwrite", p.results(), o.judgedRows, judged)
	}
	if err := p.remove(names.Outcome); err != nil {
		return written{}, err
	}
	members, err := o.members(p)
	if err != nil {
		return written{}, err
	}
	if err := model.Save(p.path(names.Model), members...); err != nil {
		return written{}, err
	}
	draw := p.draw()
	label, measured := measure(p.Data.Target.labels, p.Data.Classes)
	if w.classes, err = o.predict(ctx, p, members, func(id, class string, probability float64) {
		draw.Add(id, class, probability)
		label(id, class, probability)
	}); err != nil {
		return written{}, err
	}
	w.measured = measured()
	if err := w.writeToLabel(p, draw); err != nil {
		return written{}, err
	}
	if err := writeClasses(p.path(names.Classes), w.classes); err != nil {
		return written{}, err
	}
	return w, p.remove(names.First)
}

// members are the models that predict, with their votes, corrections and sets.
func (o conclusion) members(p *Plan) ([]model.Model, error) {
	var from []string
	for _, run := range o.Runs {
		from = append(from, run.Dir(p.results()).String())
	}
	members, err := p.options.Trust.OpenMembers(from)
	if err != nil {
		return nil, err
	}
	correct(members, o.Correction)
	for i, vote := range o.Votes {
		members[i].Vote = vote
	}
	if o.thresholds != nil {
		for i := range members {
			members[i].Sets = &model.Sets{Models: len(members), Levels: sets.Levels, Thresholds: o.thresholds}
		}
	}
	return members, nil
}

// predict writes what the members predict, tells also of it, and returns the classes with their shares of the
// predictions. A target of another number of rows than were looked at is an error.
func (o conclusion) predict(ctx context.Context, p *Plan, members []model.Model, also func(id, class string, probability float64)) ([]ClassOutcome, error) {
	rows := 0
	predicted, err := p.predictTarget(ctx, members, names.Predictions, p.options.Sets, func(id, class string, probability float64) {
		if rows++; rows <= p.Data.Target.Rows {
			also(id, class, probability)
		}
	})
	if err != nil {
		return nil, err
	}
	if rows != p.Data.Target.Rows {
		return nil, config.Error{Location: p.Data.Target.Path, Message: fmt.Sprintf("has %s now and had %d when it was read: it has changed since; restore it and run iwrun adapt again, or train again with --overwrite", printable.Count(rows, "row"), p.Data.Target.Rows)}
	}
	classes := slices.Clone(o.Classes)
	for i, n := range predicted.Counts {
		classes[i].PredictedShare = float64(n) / float64(predicted.Rows())
	}
	return classes, nil
}

// correct has models correct what they predict so far, whichever of them are to predict.
func correct(members []model.Model, c judge.Correction) {
	if c == judge.Full {
		return // as models do that assume nothing else
	}
	for i := range members {
		members[i].Shares.Assumed = corrected(members[i].Shares, c)
	}
}

// corrected are the class shares for which the probabilities of a run are corrected,
// nil for none.
func corrected(s model.Shares, c judge.Correction) []float64 {
	if s.Target == nil {
		return nil
	}
	return c.Shares(s.Classifier, s.Target)
}

// draw returns what draws the rows that somebody may label, by the experiment's first seed.
func (p *Plan) draw() *labels.Draw {
	rows := max(0, cmp.Or(p.options.LabelRows, labels.UsualRows))
	return labels.NewDraw(rows, p.file.Config.Seeds[0])
}

// writeToLabel writes the drawn rows, unless somebody has labelled those of a former draw, which
// kept says.
func (w *written) writeToLabel(p *Plan, draw *labels.Draw) error {
	path := p.path(names.ToLabel)
	if p.options.LabelRows < 0 {
		return nil
	}
	drawn := draw.Rows()
	if former := labels.StateOf(path); former.Touched {
		if rows := former.Rows; rows > 0 && rows < len(drawn) {
			w.problems = append(w.problems, fmt.Sprintf("%s was kept, with %s instead of %d, because it has labels or was changed. For more rows, rename it, run the same command again, and copy the labels.", path, printable.Count(rows, "row"), len(drawn)))
		}
		w.kept = fmt.Sprintf("%s has labels, or was changed, and was kept; %s says how many predictions are right.", path, printable.Command("iwrun", "evaluate", p.options.Folder, path))
		return nil
	}
	w.drawn = drawn
	return labels.Write(path, drawn)
}

package adapt

import (
	"fmt"
	"path"
	"strings"

	"iwda/experiments/judge"
	"iwda/internal/printable"
)

// Why says, in sentences, how the choice came about and how far to trust it.
func (o conclusion) Why() []string {
	why := []string{o.verdict().String(), o.used(), o.agreement(), o.expectation(), o.leastRight()}
	if o.measured != nil {
		why = append(why, fmt.Sprintf("Of the predictions are right: %v.", o.measured))
	}
	if seeds := len(o.Method().Runs); !o.AllSeeds && o.Together == nil && seeds > 1 {
		why = append(why, fmt.Sprintf("The %d seeds of %s predict together with %s, and here with --set selection.choose=method; on average over tasks that was right more often than one of them.",
			seeds, o.Method().Name, printable.Command("iwrun", "predict", o.Folder)))
	}
	return append(why, o.disputes.sentence(), fmt.Sprintf("Label shift: %s (from %s, whose class weights the rule uses)", o.Shared.Test.Verdict(), o.Shared.Run))
}

// used says what predicts, and why.
func (o conclusion) used() string {
	used, chosen := o.Judged[o.Used], o.Chosen()
	if o.labels != nil {
		return o.labels.String()
	}
	if o.Together != nil {
		corrected := map[judge.Correction]string{
			judge.Full: "corrected for the class shares that each estimates", judge.Halfway: "corrected halfway for the class shares that they estimate", judge.None: "as they are",
		}
		names, predict := o.Names(), "predict together"
		if len(names) == 1 {
			predict = "predicts"
		}
		return fmt.Sprintf("%s %s, %s: %s.", strings.Join(names, ", "), predict, corrected[o.Correction], o.Because)
	}
	if o.Used != o.Best {
		return o.preferred()
	}
	if len(chosen) == 1 {
		return fmt.Sprintf("%s is used: its %s is %.4f, the best of %d runs.", used.Run, o.Rule, used.Value, len(o.Judged))
	}
	return fmt.Sprintf("The %d seeds of %s are used together, as %s has the best %s of %d runs, %.4f; their mean is %.4f.",
		len(chosen), path.Dir(used.Run), path.Base(used.Run), o.Rule, len(o.Judged), used.Value, o.Method().Value)
}

// preferred says what predicts in the place of the best run's method.
func (o conclusion) preferred() string {
	best, used, chosen := o.Judged[o.Best], o.Judged[o.Used], o.Chosen()
	what := used.Run + " is used"
	if len(chosen) > 1 {
		what = fmt.Sprintf("The %d seeds of %s are used together", len(chosen), path.Dir(used.Run))
	}
	return fmt.Sprintf("%s: the %s of %s, %.4f, is as good as the best of %d runs, %.4f of %s, within selection.tolerance, and of methods that are as good the one that is listed last is taken.",
		what, o.Rule, path.Base(used.Run), used.Value, len(o.Judged), best.Value, best.Run)
}

// agreement says how the chosen runs do on held-out rows and beside all others.
func (o conclusion) agreement() string {
	chosen := o.Chosen()
	accuracy := 100 * chosen.mean(func(j judge.Judgement) float64 { return j.SourceAccuracy })
	agreement := 100 * chosen.mean(func(j judge.Judgement) float64 { return j.Agreement })
	if len(chosen) == 1 {
		return fmt.Sprintf("It classifies %.2f%% of the held-out source rows right, and agrees with all runs together on %.2f%% of the target.", accuracy, agreement)
	}
	return fmt.Sprintf("By itself one of them classifies %.2f%% of the held-out source rows right on average, and agrees with all runs together on %.2f%% of the target.", accuracy, agreement)
}

// expectation says how much of the target is expected to be right, or why that cannot be told.
func (o conclusion) expectation() string {
	e := o.Expected
	if e == nil {
		return fmt.Sprintf("How much of the target is classified right cannot be told without labels: %s.", o.Untold)
	}
	return fmt.Sprintf("%.1f%% of the predictions should be right (%.1f to %.1f%%), if class shares are all that is new; by thresholded confidence it is %.1f%%.",
		100*e.Value, 100*e.Low, 100*e.High, 100*o.Confident)
}

// leastRight says how much of the target is right at least, or why that cannot be told.
func (o conclusion) leastRight() string {
	if o.Floor == nil {
		return fmt.Sprintf("Nothing is known of how much is right at least: %s.", o.Unfloored)
	}
	return fmt.Sprintf("At least %.1f%% of the predictions should be right, unless the target's classes are stranger than the worst linear critic of the logits of %s, which says of %.1f%% more rows than in the source that they are wrong.",
		100*o.Floor.Value, o.Shared.Run, 100*o.Floor.Discrepancy)
}

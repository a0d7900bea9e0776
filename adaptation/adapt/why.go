package adapt

import (
	"fmt"
	"path"

	"iwda/adaptation/judge"
	"iwda/internal/printable"
)

// used says what predicts, and why.
func (o conclusion) used() string {
	used, chosen := o.Judged[o.Used], o.Predicting()
	if o.labels != nil {
		return o.labels.String()
	}
	if o.Together != nil {
		corrected := fmt.Sprintf("corrected in part (%v)", o.Correction)
		switch o.Correction {
		case judge.Full:
			corrected = "corrected"
		case judge.Halfway:
			corrected = "corrected halfway"
		}
		corrected += " for the class shares that each run estimates"
		if o.Correction == judge.None {
			corrected = "without correction for class shares"
		}
		names, predict := o.Names(), "predict together"
		if len(names) == 1 {
			predict = "predicts"
		}
		return fmt.Sprintf("%s %s, %s: %s.", printable.And(names), predict, corrected, o.Because)
	}
	if o.Used != o.Best {
		return o.preferred()
	}
	if len(chosen) == 1 {
		return fmt.Sprintf("%s is used: its %s is %.4f, the best of %d runs.", used.Run, o.Rule, used.Value, len(o.Judged))
	}
	return fmt.Sprintf("The %d seeds of %s are used together: %s has the best %s of %d runs, %.4f; the mean over the seeds is %.4f.",
		len(chosen), path.Dir(used.Run), path.Base(used.Run), o.Rule, len(o.Judged), used.Value, o.Method().Value)
}

// preferred says what predicts in the place of the best run's method.
func (o conclusion) preferred() string {
	best, used, chosen := o.Judged[o.Best], o.Judged[o.Used], o.Predicting()
	what := used.Run + " is used"
	if len(chosen) > 1 {
		what = fmt.Sprintf("The %d seeds of %s are used together", len(chosen), path.Dir(used.Run))
	}
	return fmt.Sprintf("%s: the %s of %s is %.4f. The best of %d runs, %.4f of %s, is no better within selection.tolerance, and among equally good methods the one listed last is used.",
		what, o.Rule, path.Base(used.Run), used.Value, len(o.Judged), best.Value, best.Run)
}

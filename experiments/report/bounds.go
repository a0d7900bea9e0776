package report

import (
	"fmt"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/experiments/theory"
)

// BoundsSheet shows, run by run, the quantities of the paper's theorems: see package
// theory. It takes the source's training set and the target's test set for the two
// domains. Runs whose predictions on the source are not known are left out, and a
// note says so.
func BoundsSheet(results []store.Result, experiment config.Config) Sheet {
	s := selectResults(results, experiment)
	sheet := Sheet{
		Experiment: experiment.Experiment, Title: s.title("the paper's theorems"), Notes: s.notes,
		Legend: "On the source's training set (S) and the target's test set (T), at the end of the run. ε: error; BER: the source's largest error of a class; " +
			"ΔCE: largest difference between the domains' rates of one confusion. gap: |ε S - ε T|, by the error decomposition theorem ≤ gap bound, " +
			"‖D_S(Y) - D_T(Y)‖₁ BER + 2(k-1) ΔCE. joint: ε S + ε T ≤ 2 BER, if generalized label shift holds, and ≥ floor, " +
			"½ (√JSD Y - √JSD Ŷ)² where JSD Y ≥ JSD Ŷ. JSD Y, JSD Ŷ: Jensen-Shannon divergence of the labels and of the predictions.",
		Records: Records{Fields: []string{
			"variant", "task", "method", "seed", "source_error", "target_error", "balanced_error_rate", "conditional_error_gap",
			"label_distance", "error_gap", "error_gap_bound", "joint_error", "joint_error_bound", "joint_error_floor", "label_jsd", "prediction_jsd",
		}},
	}
	section := Section{Title: "runs", Names: 4, Header: []string{
		"variant", "task", "method", "seed", "ε S", "ε T", "BER", "ΔCE", "gap", "gap bound", "joint", "2 BER", "floor", "JSD Y", "JSD Ŷ",
	}}
	unknown := 0
	for _, variant := range experiment.Variants {
		for _, task := range experiment.Tasks {
			for _, method := range s.methods {
				for _, run := range s.results[place{variant, task, method}] {
					if run.SourceConfusion == nil {
						unknown++
						continue
					}
					b, err := bounds(run)
					if err != nil {
						sheet.Notes = append(sheet.Notes, fmt.Sprintf("Left out: %s: %v.", run.ID, err))
						continue
					}
					section.Rows = append(section.Rows, boundsRow(run, b))
					sheet.Records.Rows = append(sheet.Records.Rows, []any{
						variant, task, method, int(run.Seed), b.SourceError, b.TargetError, b.BalancedErrorRate, b.ConditionalErrorGap,
						b.LabelDistance, b.ErrorGap, b.ErrorGapBound, b.JointError, b.JointErrorBound, b.JointErrorFloor, b.LabelJSD, b.PredictionJSD,
					})
				}
			}
		}
	}
	if len(section.Rows) > 0 {
		sheet.Sections = []Section{section}
	}
	if unknown > 0 {
		sheet.Notes = append(sheet.Notes, fmt.Sprintf("Left out: %d runs of a former version, which kept no predictions on the source.", unknown))
	}
	return sheet
}

func bounds(run store.Result) (theory.Bounds, error) {
	source, err := theory.JointOf(run.SourceConfusion)
	if err != nil {
		return theory.Bounds{}, fmt.Errorf("source: %w", err)
	}
	target, err := theory.JointOf(run.Confusion)
	if err != nil {
		return theory.Bounds{}, fmt.Errorf("target: %w", err)
	}
	return theory.Evaluate(source, target)
}

func boundsRow(run store.Result, b theory.Bounds) []Cell {
	row := []Cell{word(run.Variant), word(run.Task), word(run.Method), count(int(run.Seed))}
	for _, value := range []float64{
		b.SourceError, b.TargetError, b.BalancedErrorRate, b.ConditionalErrorGap, b.ErrorGap, b.ErrorGapBound,
		b.JointError, b.JointErrorBound, b.JointErrorFloor, b.LabelJSD, b.PredictionJSD,
	} {
		row = append(row, figure("%.4f", value))
	}
	return row
}

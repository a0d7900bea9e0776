package table

import (
	"fmt"

	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
	"iwda/experiments/store"
	"iwda/experiments/theory"
)

// theorems shows, run by run, the quantities of the paper's theorems: see package
// theory. It takes the source's training set and the target's test set for the two
// domains. Runs without such quantities are left out, and a note says why.
func theorems(s summary.Selection) sheet.Sheet {
	built := newSheet(s, "the paper's theorems")
	built.Legend = "On the source's training set (S) and the target's test set (T), at the end of the run. ε: error; BER: the source's largest error of a class; " +
		"ΔCE: largest difference between the domains' rates of one confusion. gap: |ε S - ε T|, by the error decomposition theorem ≤ gap bound, " +
		"‖D_S(Y) - D_T(Y)‖₁ BER + 2(k-1) ΔCE. joint: ε S + ε T ≤ 2 BER, if generalized label shift holds, and ≥ floor, " +
		"½ (√JSD Y - √JSD Ŷ)² where JSD Y ≥ JSD Ŷ. JSD Y, JSD Ŷ: Jensen-Shannon divergence of the labels and of the predictions."
	var rows []boundsRow
	for _, variant := range s.Experiment.Variants {
		for _, task := range s.Experiment.Tasks {
			for _, method := range s.Methods {
				for _, finished := range s.Runs(variant, task, method) {
					run := finished.Result
					b, err := bounds(run)
					if err != nil {
						built.Notes = append(built.Notes, fmt.Sprintf("Left out: %s: %v.", run.ID, err))
						continue
					}
					rows = append(rows, boundsRow{run, b})
				}
			}
		}
	}
	if len(rows) > 0 {
		built.Sections = []sheet.Section{sheet.NewSection("runs", boundsColumns, rows)}
	}
	built.Records = sheet.NewRecords(boundsColumns, rows)
	return built
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

// boundsRow is a run with its quantities.
type boundsRow struct {
	run store.Result
	theory.Bounds
}

var boundFormat = sheet.Printf("%.4f")

var boundsColumns = []sheet.Column[boundsRow]{
	word("variant", "variant", func(r boundsRow) string { return r.run.Variant }),
	word("task", "task", func(r boundsRow) string { return r.run.Task }),
	word("method", "method", func(r boundsRow) string { return r.run.Method }),
	{Name: "seed", Head: "seed", Key: true, Value: func(r boundsRow) sheet.Value { return sheet.Count(int(r.run.Seed)) }},
	number("source_error", "ε S", boundFormat, func(r boundsRow) float64 { return r.SourceError }),
	number("target_error", "ε T", boundFormat, func(r boundsRow) float64 { return r.TargetError }),
	number("balanced_error_rate", "BER", boundFormat, func(r boundsRow) float64 { return r.BalancedErrorRate }),
	number("conditional_error_gap", "ΔCE", boundFormat, func(r boundsRow) float64 { return r.ConditionalErrorGap }),
	number("label_distance", "", boundFormat, func(r boundsRow) float64 { return r.LabelDistance }),
	number("error_gap", "gap", boundFormat, func(r boundsRow) float64 { return r.ErrorGap }),
	number("error_gap_bound", "gap bound", boundFormat, func(r boundsRow) float64 { return r.ErrorGapBound }),
	number("joint_error", "joint", boundFormat, func(r boundsRow) float64 { return r.JointError }),
	number("joint_error_bound", "2 BER", boundFormat, func(r boundsRow) float64 { return r.JointErrorBound }),
	number("joint_error_floor", "floor", boundFormat, func(r boundsRow) float64 { return r.JointErrorFloor }),
	number("label_jsd", "JSD Y", boundFormat, func(r boundsRow) float64 { return r.LabelJSD }),
	number("prediction_jsd", "JSD Ŷ", boundFormat, func(r boundsRow) float64 { return r.PredictionJSD }),
}

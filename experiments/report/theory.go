package report

import (
	"fmt"
	"slices"

	"iwda/experiments/report/sheet"
	"iwda/experiments/store"
	"iwda/experiments/theory"
)

// theorems shows, by method, means over seeds of the quantities of the paper's theorems, and for how
// many runs their bounds say nothing: see package theory. It takes the source's
// training set and the target's test set for the two domains. Runs without such quantities are left
// out, and a note says why.
func theorems(s Selection) sheet.Sheet {
	built := newSheet(s, "the paper's theorems")
	built.Legend = "On the source's training set (S) and the target's test set (T), at the end of the run, with the predictions Ŷ as the representation; means over seeds. " +
		"ε: error. gap: |ε S - ε T|, by theorem 3.1 ≤ bound, ‖D_S(Y) - D_T(Y)‖₁ BER + 2(k-1) ΔCE; BER: the source's largest error of a class; " +
		"ΔCE: largest difference between the domains' rates of one confusion. joint: ε S + ε T, by theorem 3.2 ≤ 2 BER if generalized label shift (GLS) holds, " +
		"by theorem 2.1 ≥ floor, ½ (√JSD Y - √JSD Ŷ)² where JSD Y ≥ JSD Ŷ. " +
		"d_TV: the largest total variation distance between the domains' predictions of one class, by theorem 3.4 ≤ bound. JSD Y, JSD Ŷ, JSD w: " +
		"Jensen-Shannon divergence of the domains' labels, of their predictions, and of these with the source's true class weights, which is 0 under GLS by lemma 3.1. " +
		"nothing: runs whose bound is 1 or more, or whose floor is 0, and so says nothing; no GLS: runs whose joint error is above 2 BER."
	var methods []methodBounds
	for _, variant := range s.Experiment.Variants {
		for _, task := range s.Experiment.Tasks {
			for _, method := range s.Methods {
				of := methodBounds{place: place{variant, task, method}}
				for _, finished := range s.Runs(variant, task, method) {
					run := finished.Result
					b, err := bounds(run)
					if err != nil {
						built.Notes = append(built.Notes, fmt.Sprintf("Left out: %s: %v.", run.ID, err))
						continue
					}
					of.runs = append(of.runs, b)
				}
				if len(of.runs) > 0 {
					methods = append(methods, of)
				}
			}
		}
	}
	if len(methods) > 0 {
		built.Sections = []sheet.Section{
			sheet.NewSection("errors", errorColumns, methods),
			sheet.NewSection("predictions of each class", distanceColumns, methods),
		}
		all := methodBounds{}
		for _, of := range methods {
			all.runs = append(all.runs, of.runs...)
		}
		built.Notes = append(built.Notes, fmt.Sprintf("Of %d runs, the bound of theorem 3.1 says nothing in %d, that of 3.4 in %d, the floor in %d; in %d the joint error excludes GLS.",
			len(all.runs), all.count(gapSaysNothing), all.count(distanceSaysNothing), all.count(floorSaysNothing), all.count(excludesGLS)))
	}
	built.Records = sheet.NewRecords(slices.Concat(errorColumns, distanceColumns[len(placeOfBounds):]), methods)
	return built
}

// methodBounds are the quantities of a method's runs.
type methodBounds struct {
	place
	runs []theory.Bounds
}

func (m methodBounds) count(is func(theory.Bounds) bool) (n int) {
	for _, b := range m.runs {
		n += oneIf(is(b))
	}
	return n
}

// An error, and a distance of distributions, is at most 1.
func gapSaysNothing(b theory.Bounds) bool      { return b.ErrorGapBound >= 1 }
func distanceSaysNothing(b theory.Bounds) bool { return b.ConditionalDistanceBound >= 1 }
func floorSaysNothing(b theory.Bounds) bool    { return b.JointErrorFloor == 0 }
func excludesGLS(b theory.Bounds) bool         { return b.JointError > b.JointErrorBound }

// meanColumn shows the mean over seeds, countColumn how many runs are so.
func meanColumn(name, head string, of func(theory.Bounds) float64) sheet.Column[methodBounds] {
	return number(name, head, sheet.Printf("%.3f"), func(m methodBounds) float64 {
		sum := 0.0
		for _, b := range m.runs {
			sum += of(b)
		}
		return sum / float64(len(m.runs))
	})
}

func countColumn(name, head string, is func(theory.Bounds) bool) sheet.Column[methodBounds] {
	column := share(head, func(m methodBounds) (int, int) { return m.count(is), len(m.runs) })
	column.Name = name
	return column
}

var placeOfBounds = []sheet.Column[methodBounds]{
	word("variant", "variant", func(m methodBounds) string { return m.variant }),
	word("task", "task", func(m methodBounds) string { return m.task }),
	word("method", "method", func(m methodBounds) string { return m.method }),
}

var errorColumns = append(slices.Clone(placeOfBounds), []sheet.Column[methodBounds]{
	count("seeds", "", func(m methodBounds) int { return len(m.runs) }),
	meanColumn("source_error", "ε S", func(b theory.Bounds) float64 { return b.SourceError }),
	meanColumn("target_error", "ε T", func(b theory.Bounds) float64 { return b.TargetError }),
	meanColumn("error_gap", "gap", func(b theory.Bounds) float64 { return b.ErrorGap }),
	meanColumn("error_gap_bound", "bound", func(b theory.Bounds) float64 { return b.ErrorGapBound }),
	countColumn("error_gap_bound_says_nothing", "nothing", gapSaysNothing),
	meanColumn("joint_error", "joint", func(b theory.Bounds) float64 { return b.JointError }),
	meanColumn("joint_error_bound", "2 BER", func(b theory.Bounds) float64 { return b.JointErrorBound }),
	countColumn("excludes_gls", "no GLS", excludesGLS),
	meanColumn("joint_error_floor", "floor", func(b theory.Bounds) float64 { return b.JointErrorFloor }),
	countColumn("joint_error_floor_says_nothing", "nothing", floorSaysNothing),
}...)

var distanceColumns = append(slices.Clone(placeOfBounds), []sheet.Column[methodBounds]{
	meanColumn("conditional_distance", "d_TV", func(b theory.Bounds) float64 { return b.ConditionalDistance }),
	meanColumn("conditional_distance_bound", "bound", func(b theory.Bounds) float64 { return b.ConditionalDistanceBound }),
	countColumn("conditional_distance_bound_says_nothing", "nothing", distanceSaysNothing),
	meanColumn("label_jsd", "JSD Y", func(b theory.Bounds) float64 { return b.LabelJSD }),
	meanColumn("prediction_jsd", "JSD Ŷ", func(b theory.Bounds) float64 { return b.PredictionJSD }),
	meanColumn("weighted_prediction_jsd", "JSD w", func(b theory.Bounds) float64 { return b.WeightedPredictionJSD }),
}...)

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

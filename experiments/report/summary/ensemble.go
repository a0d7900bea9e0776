package summary

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"iwda/experiments/store"
	"iwda/selection"
	"iwda/weightest"
)

// Ensemble is what the runs of a method that differ in their seed say together: the class of
// the largest mean probability, each run's being calibrated on its held-out rows and corrected
// for the class shares that it estimates. Accuracies are in percent.
type Ensemble struct {
	Variant, Task, Method string
	Members               int
	Accuracy              float64
	// Mean is the members' mean accuracy with corrected probabilities, each by itself.
	Mean float64
}

// MethodChoice is the method that a criterion chooses on a task by the mean of its values over
// the seeds, whose ensemble predicts. The risk of an ensemble is at most that mean, as
// cross-entropy is convex; its own cannot be measured, as the rows that one seed holds out are
// those on which another was trained.
type MethodChoice struct {
	Variant, Task, Criterion string
	Method                   string
	// Chosen is the accuracy of the method's ensemble, Best that of the best one, in percent.
	Chosen, Best float64
	// Run is that of the run that the criterion chooses by itself, corrected as an ensemble's
	// members are.
	Run float64
}

// Regret is the accuracy lost to the best ensemble.
func (m MethodChoice) Regret() float64 { return m.Best - m.Chosen }

// chooseMethod applies the rule to the methods of a task by its values of their runs, and
// reports whether each method has an ensemble, and there is more than one.
func (r rule) chooseMethod(runs []judgedRun, values []float64, all []Ensemble) (MethodChoice, bool) {
	methods, means := byMethod(runs, values)
	if len(all) < 2 || len(all) != len(methods) {
		return MethodChoice{}, false
	}
	chosen, run := all[r.best(means)], runs[r.best(values)]
	choice := MethodChoice{
		Variant: chosen.Variant, Task: chosen.Task, Criterion: string(r), Method: chosen.Method,
		Chosen: chosen.Accuracy, Run: accuracyOf(run.corrected, run.labels),
	}
	for _, e := range all {
		choice.Best = max(choice.Best, e.Accuracy)
	}
	return choice, true
}

// ensembleOf returns the ensemble of runs of one method and task, of which there are at least
// two, and whether there is one: the target's rows must have labels.
func ensembleOf(runs []judgedRun) (Ensemble, bool) {
	first := runs[0]
	e := Ensemble{Variant: first.Variant, Task: first.Task, Method: first.Method, Members: len(runs)}
	var sum mat.Dense
	for i, run := range runs {
		if run.corrected == nil {
			return Ensemble{}, false
		}
		e.Mean += accuracyOf(run.corrected, run.labels) / float64(len(runs))
		if i == 0 {
			sum.CloneFrom(run.corrected)
		} else {
			sum.Add(&sum, run.corrected)
		}
	}
	e.Accuracy = accuracyOf(&sum, first.labels)
	return e, len(runs) > 1 && !math.IsNaN(e.Accuracy)
}

// accuracyOf is the share, in percent, of the labelled rows whose largest value is that of
// their class; NaN where no row has a label.
func accuracyOf(values *mat.Dense, labels []int) float64 {
	right, known := 0, 0
	for i, label := range labels {
		if label < 0 {
			continue
		}
		known++
		row := values.RawRowView(i)
		best := 0
		for class, v := range row {
			if v > row[best] {
				best = class
			}
		}
		right += oneIf(best == label)
	}
	return Percentage(right, known)
}

// ensembles returns those of each method of a task, whose runs stand together.
func ensembles(runs []judgedRun) (all []Ensemble) {
	for first := 0; first < len(runs); {
		next := first
		for next < len(runs) && runs[next].Method == runs[first].Method {
			next++
		}
		if e, ok := ensembleOf(runs[first:next]); ok {
			all = append(all, e)
		}
		first = next
	}
	return all
}

// correctedOutputs are the corrected probabilities of a run's outputs on the target, nil where
// the target's class shares cannot be estimated from them.
func correctedOutputs(o store.Outputs) (*mat.Dense, error) {
	in, err := uncalibrated(o)
	if err != nil {
		return nil, err
	}
	corrected, err := selection.Corrected(in)
	if err != nil {
		return nil, nil // as where a network has collapsed
	}
	return corrected, nil
}

func uncalibrated(o store.Outputs) (selection.Input, error) {
	if len(o.HeldOut) == 0 || len(o.Target) == 0 {
		return selection.Input{}, fmt.Errorf("%s has no rows of one domain", store.OutputsFile)
	}
	logits := func(values []float32) *mat.Dense {
		return mat.NewDense(len(values)/o.Classes, o.Classes, weightest.Widen(values))
	}
	return selection.Input{SourceLogits: logits(o.HeldOut), SourceLabels: o.HeldOutLabels, TargetLogits: logits(o.Target)}, nil
}

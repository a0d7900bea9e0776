package adapt

import (
	"fmt"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"iwda/experiments/config"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/weightest"
)

// Outcome is the chosen run, and what it says of the target.
type Outcome struct {
	Choice
	Run     plan.Run // the chosen one
	Classes []ClassShare
	// Together is the folder of the chosen run's method, whose seeds iwrun predict takes
	// together.
	Together string
	// Predicted are the shares of the target's rows that the predictions give each class,
	// set by [Outcome.Write].
	Predicted []float64
}

// Chosen is what is known of the chosen run.
func (o Outcome) Chosen() Judgement { return o.Judged[o.Best] }

// Conclude judges the finished runs below the folder of results by the rule and returns
// what came of the best. The model that all share is the first source-only run, the first
// run where there is none.
func Conclude(rule, results string, runs []plan.Run) (Outcome, error) {
	candidates := make([]Candidate, len(runs))
	for i, run := range runs {
		outputs, err := run.Dir(results).ReadOutputs()
		if err != nil {
			return Outcome{}, err
		}
		logits := func(values []float32) *mat.Dense {
			return mat.NewDense(len(values)/outputs.Classes, outputs.Classes, weightest.Widen(values))
		}
		candidates[i] = Candidate{
			Run:          run.ID.String(),
			SourceLogits: logits(outputs.HeldOut), SourceLabels: outputs.HeldOutLabels,
			TargetLogits: logits(outputs.Target),
		}
	}
	reference := slices.IndexFunc(runs, func(r plan.Run) bool {
		method, _ := config.ParseMethod(r.ID.Method)
		return method.Alignment == config.NoAlignment
	})
	shared, err := NewShared(candidates[max(reference, 0)])
	if err != nil {
		return Outcome{}, err
	}
	choice, err := Choose(rule, candidates, shared)
	if err != nil {
		return Outcome{}, err
	}
	for i, run := range runs {
		result, err := run.Dir(results).ReadResult()
		if err != nil {
			return Outcome{}, err
		}
		choice.Judged[i].expect(result.WithoutLabels)
	}
	outcome := Outcome{Choice: choice, Run: runs[choice.Best]}
	outcome.Together = filepath.Dir(outcome.Run.Dir(results).String())
	about, err := model.ReadMetadata(outcome.Run.Dir(results).String())
	if err != nil {
		return Outcome{}, err
	}
	if about.Shares.Target == nil {
		return Outcome{}, fmt.Errorf("%s: its model has no estimate of the target's class shares", outcome.Run.ID)
	}
	if outcome.Classes, err = classShares(about.Classes, about.Shares.Source, about.Shares.Target); err != nil {
		return Outcome{}, err
	}
	if err := bound(outcome.Classes, candidates[choice.Best], about.Shares.Classifier); err != nil {
		outcome.Problems = append(outcome.Problems, fmt.Sprintf("The class shares have no intervals: %v.", err))
	}
	return outcome, nil
}

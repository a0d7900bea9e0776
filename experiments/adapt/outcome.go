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

// Outcome is what was chosen, and what it says of the target.
type Outcome struct {
	Choice
	// AllSeeds tells that all seeds of the used run's method predict together.
	AllSeeds bool
	Runs     []plan.Run // the chosen ones
	Classes  []ClassShare
	// Together is the folder of the used run's method, whose seeds iwrun predict takes
	// together.
	Together string
	// Predicted are the shares of the target's rows that the predictions give each class,
	// set by [Outcome.Write].
	Predicted []float64
}

// Chosen is what is known of the chosen runs.
func (o Outcome) Chosen() (chosen Chosen) {
	for _, i := range o.chosen() {
		chosen = append(chosen, o.Judged[i])
	}
	return chosen
}

// chosen are the indices in Judged of the chosen runs.
func (o Outcome) chosen() []int {
	if o.AllSeeds {
		return o.method().Runs
	}
	return []int{o.Used}
}

// method is that of the run that is used.
func (o Outcome) method() Method {
	return o.Methods[slices.IndexFunc(o.Methods, func(m Method) bool { return slices.Contains(m.Runs, o.Used) })]
}

// Conclude judges the finished runs below the folder of results by the rule and returns
// what came of the one that is used, or of all seeds of its method. The model that all share is the first
// source-only run, the first run where there is none.
func Conclude(how config.Selection, results string, runs []plan.Run) (Outcome, error) {
	candidates, err := candidatesOf(results, runs)
	if err != nil {
		return Outcome{}, err
	}
	reference := slices.IndexFunc(runs, func(r plan.Run) bool {
		method, _ := config.ParseMethod(r.ID.Method)
		return method.Alignment == config.NoAlignment
	})
	shared, err := NewShared(candidates[max(reference, 0)])
	if err != nil {
		return Outcome{}, err
	}
	choice, err := Choose(how.Rule, candidates, shared)
	if err != nil {
		return Outcome{}, err
	}
	choice.preferLater(how.Tolerance)
	for i, run := range runs {
		result, err := run.Dir(results).ReadResult()
		if err != nil {
			return Outcome{}, err
		}
		choice.Judged[i].expect(result.WithoutLabels)
	}
	outcome := Outcome{
		Choice: choice, AllSeeds: how.Choose == config.ChooseMethod,
		Together: filepath.Dir(runs[choice.Used].Dir(results).String()),
	}
	var classes [][]ClassShare // of each chosen run
	var unbounded error        // why the last of those without intervals has none
	for _, i := range outcome.chosen() {
		about, err := model.ReadMetadata(runs[i].Dir(results).String())
		if err != nil {
			return Outcome{}, err
		}
		shares, err := classShares(about, candidates[i])
		if shares == nil {
			return Outcome{}, fmt.Errorf("%s: %w", runs[i].ID, err)
		}
		if err != nil {
			unbounded = err
		}
		outcome.Runs, classes = append(outcome.Runs, runs[i]), append(classes, shares)
	}
	outcome.Classes = meanShares(classes)
	if unbounded != nil {
		outcome.Problems = append(outcome.Problems, fmt.Sprintf("The class shares have no intervals: %v.", unbounded))
	}
	sentences, err := unestimated(results, runs)
	outcome.Problems = append(outcome.Problems, sentences...)
	return outcome, err
}

// candidatesOf reads what the finished runs say of both domains.
func candidatesOf(results string, runs []plan.Run) (candidates []Candidate, err error) {
	for _, run := range runs {
		outputs, err := run.Dir(results).ReadOutputs()
		if err != nil {
			return nil, err
		}
		logits := func(values []float32) *mat.Dense {
			return mat.NewDense(len(values)/outputs.Classes, outputs.Classes, weightest.Widen(values))
		}
		candidates = append(candidates, Candidate{
			Run:          run.ID.String(),
			SourceLogits: logits(outputs.HeldOut), SourceLabels: outputs.HeldOutLabels,
			TargetLogits: logits(outputs.Target),
		})
	}
	return candidates, nil
}

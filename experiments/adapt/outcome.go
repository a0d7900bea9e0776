package adapt

import (
	"fmt"
	"path/filepath"

	"iwda/experiments/config"
	"iwda/experiments/judge"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// Outcome is what was chosen, and what it says of the target.
type Outcome struct {
	judge.Choice
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
		return o.Method().Runs
	}
	return []int{o.Used}
}

// Conclude judges the finished runs below the folder of results by the rule and returns
// what came of the one that is used, or of all seeds of its method.
func Conclude(how config.Selection, results string, runs []plan.Run) (Outcome, error) {
	candidates, err := candidatesOf(results, runs)
	if err != nil {
		return Outcome{}, err
	}
	compared, err := judge.New(candidates)
	if err != nil {
		return Outcome{}, err
	}
	choice, err := compared.Choose(how.RuleOrDefault(), how.Tolerance)
	if err != nil {
		return Outcome{}, err
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
func candidatesOf(results string, runs []plan.Run) (candidates []judge.Candidate, err error) {
	for _, run := range runs {
		dir := run.Dir(results)
		result, err := dir.ReadResult()
		if err != nil {
			return nil, err
		}
		candidate, err := judge.Read(store.Run{Dir: dir, Result: result})
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, candidate)
	}
	return candidates, nil
}

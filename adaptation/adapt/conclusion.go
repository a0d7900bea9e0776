package adapt

import (
	"fmt"
	"slices"

	"iwda/adaptation/judge"
	"iwda/experiments/config"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/inference/sets"
	"iwda/inference/trust"
)

// conclusion is what was chosen among the finished runs, and what these say of the target. [conclude] makes it; nothing
// changes it afterwards.
type conclusion struct {
	judge.Choice
	known   trust.Known
	Runs    []plan.Run     // those that predict
	Classes []ClassOutcome // without the shares of the predictions
	// judgedRows is the number of target rows by which runs were judged.
	judgedRows int
	versions   map[string]string // of the programs that made the used run
	labels     *LabelChoice      // nil unless labels chose
	heldOut    heldOutRows
	// thresholds are those of sets, of each of their levels; nil if none hold.
	thresholds []sets.Thresholds
}

// conclude judges the finished runs below the folder of results by the rule and returns
// what came of the one that is used, or of all seeds of its method. Labels may have chosen another one. What the
// first run of all has told is not asked again.
func conclude(how config.Selection, results string, runs []plan.Run, chosen *LabelChoice, seen belonging, first stages) (conclusion, error) {
	candidates, err := candidatesOf(results, runs)
	if err != nil {
		return conclusion{}, err
	}
	compared, leftOut, err := judge.New(candidates)
	if err != nil {
		return conclusion{}, err
	}
	compared.Shared.Dependent, compared.Shared.Outside = seen.blatant, seen.outside
	candidates = compared.Candidates
	runs = slices.DeleteFunc(slices.Clone(runs), func(run plan.Run) bool { return !compared.Judges(run.ID.String()) })
	compared.Absent = first.absent
	if compared.Shared.Run == first.shared.Run {
		compared.Shared.Test, compared.Shared.Changed = first.shared.Test, first.shared.Changed
	} else if err := compared.TestShift(); err != nil {
		return conclusion{}, err
	}
	var choice judge.Choice
	if how.Rule == "" && compared.Has(how.SameMeaning) {
		choice, err = compared.Together(how)
	} else {
		choice, err = compared.Choose(how.RuleOrDefault(), how.Tolerance)
	}
	if err != nil {
		return conclusion{}, err
	}
	for _, why := range leftOut {
		choice.Problems = append(choice.Problems, fmt.Sprintf("%s: this run is left out.", why))
	}
	choice.AllSeeds = how.Choose == config.ChooseMethod
	if chosen != nil {
		if err := choice.Follow(chosen.Method); err != nil {
			return conclusion{}, err
		}
	}
	models := make([]model.Metadata, len(runs))
	for i, run := range runs {
		if models[i], err = model.ReadMetadata(run.Dir(results).String()); err != nil {
			return conclusion{}, err
		}
	}
	predicting := choice.Predicting()
	outcome := conclusion{Choice: choice, labels: chosen}
	used, err := runs[choice.Used].Dir(results).ReadResult()
	if err != nil {
		return conclusion{}, err
	}
	outcome.versions = used.Versions
	if outcome.thresholds, err = compared.Thresholds(choice); err != nil {
		return conclusion{}, err
	}
	outcome.known = compared.Trust(models[choice.Used].Classes, predicting, choice.Votes, choice.Correction)
	for _, i := range predicting {
		outcome.Runs = append(outcome.Runs, runs[i])
	}
	var unbounded error
	if outcome.Classes, unbounded, err = tellClasses(choice, outcome.known, models, compared); err != nil {
		return conclusion{}, err
	}
	if unbounded != nil {
		outcome.Problems = append(outcome.Problems, fmt.Sprintf("The class shares have no intervals: %v.", unbounded))
	}
	outcome.judgedRows = len(candidates[0].Target) / candidates[0].Classes
	outcome.heldOut, err = lookAtHeldOut(choice, models, candidates)
	return outcome, err
}

// tellClasses returns the class shares, the mean of what the runs say that tell them, and why they have no intervals
// if they have none.
func tellClasses(choice judge.Choice, known trust.Known, models []model.Metadata, compared *judge.Comparison) (told []ClassOutcome, unbounded, err error) {
	var classes [][]ClassOutcome // of each run
	for _, i := range choice.Telling() {
		shares, err := classShares(models[i], compared, i)
		if shares == nil {
			return nil, nil, fmt.Errorf("%s: %w", compared.Candidates[i].Run, err)
		}
		if err != nil {
			unbounded = err
		}
		classes = append(classes, shares)
	}
	told = meanShares(classes)
	for i, of := range known.Classes {
		c := &told[i]
		c.ShareRejected, c.MeanProbability, c.Recall, c.Precision = known.Rejected != "", of.Mean, of.Recall, of.Precision
		if c.ShareRejected {
			c.TargetInterval, c.WeightInterval = nil, nil
		}
	}
	return told, unbounded, nil
}

// candidatesOf reads what runs said.
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

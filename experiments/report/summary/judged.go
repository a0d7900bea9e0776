package summary

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/selection"
)

// judgedRun is a run that left something to choose by.
type judgedRun struct {
	store.Result
	metrics  []store.Metrics
	evidence map[int]store.Evidence // by step
	logits   *mat.Dense             // of the target's rows, calibrated

	labels    []int      // of these rows, -1 where unknown
	corrected *mat.Dense // their probabilities, corrected for class shares; nil where these cannot be estimated
}

// leftAt is the index of the evaluation of the network that the run left.
func (r judgedRun) leftAt() int {
	if r.Selected != nil && r.Selected.Kept {
		for i, m := range r.metrics {
			if m.Epoch == r.Selected.Epoch {
				return i
			}
		}
	}
	return len(r.metrics) - 1
}

func (r judgedRun) left() store.Metrics { return r.metrics[r.leftAt()] }

// name is the run's method and seed.
func (r judgedRun) name() string { return fmt.Sprintf("%s/seed-%d", r.Method, r.Seed) }

// judged returns the runs of a task that left something to choose by, methods in the paper's
// order, and the number of the others. Where the accuracy of one was measured, it is those whose
// accuracy was; a target may have been given labels since.
func (s Selection) judged(variant, task string, folders map[string]store.Dir) (judged []judgedRun, without int, err error) {
	results := s.Runs
	if !slices.ContainsFunc(s.Methods, func(method string) bool { return len(s.Runs(variant, task, method)) > 0 }) {
		results = s.WithoutLabels
	}
	for _, method := range s.Methods {
		for _, result := range results(variant, task, method) {
			run, err := readJudged(result, folders[result.ID])
			switch {
			case errors.Is(err, fs.ErrNotExist):
				without++
			case err != nil:
				return nil, 0, err
			default:
				judged = append(judged, run)
			}
		}
	}
	return judged, without, nil
}

func readJudged(result store.Result, dir store.Dir) (judgedRun, error) {
	run := judgedRun{Result: result, evidence: map[int]store.Evidence{}}
	evidence, err := dir.ReadEvidence()
	if err != nil {
		return judgedRun{}, err
	}
	for _, e := range evidence {
		run.evidence[e.Step] = e
	}
	if run.metrics, err = dir.ReadMetrics(); err != nil {
		return judgedRun{}, err
	}
	outputs, err := dir.ReadOutputs()
	if err != nil {
		return judgedRun{}, err
	}
	in, err := uncalibrated(outputs)
	if err == nil {
		in, _, err = selection.Calibrated(in)
	}
	if err == nil {
		run.logits, run.labels = in.TargetLogits, outputs.TargetLabels
		run.corrected, err = correctedOutputs(outputs)
	}
	if err != nil {
		return judgedRun{}, fmt.Errorf("%s: %w", dir, err)
	}
	return run, nil
}

// sharedBy returns the target's class shares that the first source-only run estimates, nil where
// there is none.
func sharedBy(runs []judgedRun) []float64 {
	for _, run := range runs {
		method, _ := config.ParseMethod(run.Method)
		if known := run.WithoutLabels; method.Alignment == config.NoAlignment && known != nil && known.LikelyShares != nil {
			return known.LikelyShares
		}
	}
	return nil
}

// ensembleRule is that of the votes of all candidates, which epochs of one run have none of.
const ensembleRule = "ensv"

// rule is the name of a rule of package selection.
type rule string

// rules are all that can be applied to what runs leave, the default of package selection first.
func rules() []rule {
	var all []rule
	for _, name := range selection.RuleNames() {
		if name != ensembleRule {
			all = append(all, rule(name))
		}
	}
	return all
}

// value is that of the rule at the i-th evaluation of a run.
func (r rule) value(run judgedRun, i int, q []float64) float64 {
	until := run.metrics[:i+1]
	if e, ok := run.evidence[until[i].Step]; ok {
		return store.Judge(string(r), q, until, &e)
	}
	return store.Judge(string(r), q, until, nil)
}

// best is the index of the best value.
func (r rule) best(values []float64) int {
	return selection.Criterion{Higher: selection.RuleIsHigher(string(r))}.Best(values)
}

// valuesOf returns the rule's values of the networks that runs left, and whether there are all of
// them. Runs have no last one, from which a guarded rule could start.
func (r rule) valuesOf(runs []judgedRun, q []float64) (values []float64, ok bool) {
	if selection.ForEpochs(string(r)) {
		return nil, false
	}
	for _, run := range runs {
		value := r.value(run, run.leftAt(), q)
		if math.IsNaN(value) {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

package summary

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/selection"
)

// Criteria compare the criteria that choose without labels of the target by the accuracies of
// what they choose: an epoch of each run, and one of the runs of each task, or a method whose
// seeds predict together. Accuracies are in percent.
type Criteria struct {
	Experiment string
	Epochs     []EpochChoice
	Runs       []RunChoice
	Ensembles  []Ensemble
	Methods    []MethodChoice
	Notes      []string // what could not be compared, sentences
}

// EpochChoice is how a criterion chooses among the epochs of runs, the untrained network aside.
type EpochChoice struct {
	Criterion string
	Runs      int
	// Chosen, Best and Last are mean accuracies: of the chosen epochs, of the best ones by the
	// target's labels, and of the last ones.
	Chosen, Best, Last float64
	// Regret is the mean of best less chosen, WorstRegret the largest; WorstLoss is the largest
	// of last less chosen.
	Regret, WorstRegret, WorstLoss float64
	// Correlation is the mean over the runs of Spearman's rank correlation of criterion, its sign
	// such that more is better, and accuracy; NaN where one of the two is always the same.
	Correlation float64
	Each        []EpochOutcome // of every run
}

// EpochOutcome is what a criterion chose in a run, with the Jensen-Shannon divergence of the
// label distributions of its task, NaN where that is not known.
type EpochOutcome struct {
	Chosen, Best, Last float64
	Correlation        float64
	JSD                float64
}

// RunChoice is the run that a criterion chooses among those of a task, by their last networks.
type RunChoice struct {
	Variant, Task, Criterion string
	Candidates               int
	Run                      string // method and seed of the chosen one
	Chosen, Best             float64
	Correlation              float64
	JSD                      float64 // as in EpochOutcome
}

// Regret is the accuracy lost to the best run.
func (r RunChoice) Regret() float64 { return r.Best - r.Chosen }

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

// CompareCriteria compares all criteria that the finished runs of an experiment, each with its
// folder, left values of. Runs that held no source rows out are left out, and so are tasks
// without a source-only run, whose shares all runs are judged by.
func CompareCriteria(runs []store.Run, experiment config.Config) (Criteria, error) {
	c := Criteria{Experiment: experiment.Experiment}
	results := make([]store.Result, len(runs))
	folders := map[string]store.Dir{}
	for i, run := range runs {
		results[i], folders[run.Result.ID] = run.Result, run.Dir
	}
	s := Select(results, experiment)
	c.Notes = append(c.Notes, s.Notes...)
	epochs := map[string][]EpochOutcome{}
	for _, variant := range experiment.Variants {
		for _, task := range experiment.Tasks {
			judged, without, err := s.judged(variant, task, folders)
			if err != nil {
				return Criteria{}, err
			}
			if without > 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("%s, %s: %d runs held no source rows out (train.validation).", variant, task, without))
			}
			if len(judged) == 0 {
				continue
			}
			together := ensembles(judged)
			c.Ensembles = append(c.Ensembles, together...)
			shared := sharedBy(judged)
			if shared == nil {
				c.Notes = append(c.Notes, fmt.Sprintf("%s, %s: no source-only run that estimates the target's class shares, by which all runs could be judged.", variant, task))
				continue
			}
			for _, r := range rules() {
				for _, run := range judged {
					if o, ok := r.chooseEpoch(run, shared); ok {
						epochs[string(r)] = append(epochs[string(r)], o)
					}
				}
				if choice, ok := r.chooseRun(judged, shared); ok {
					c.Runs = append(c.Runs, choice)
				}
				if choice, ok := r.chooseMethod(judged, together, shared); ok {
					c.Methods = append(c.Methods, choice)
				}
			}
			choice, err := byVotes(judged)
			if err != nil {
				return Criteria{}, err
			}
			c.Runs = append(c.Runs, choice)
		}
	}
	for _, r := range rules() {
		if outcomes := epochs[string(r)]; len(outcomes) > 0 {
			c.Epochs = append(c.Epochs, summarise(string(r), outcomes))
		}
	}
	return c, nil
}

// judged returns the runs of a task that left something to choose by, methods in the paper's
// order, and the number of the others.
func (s Selection) judged(variant, task string, folders map[string]store.Dir) (judged []judgedRun, without int, err error) {
	for _, method := range s.Methods {
		for _, result := range s.Runs(variant, task, method) {
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

// chooseEpoch applies the rule to the epochs of a run, and reports whether all were measured.
func (r rule) chooseEpoch(run judgedRun, q []float64) (EpochOutcome, bool) {
	var values, accuracies []float64
	var judged []selection.Judged
	for i, m := range run.metrics {
		if m.Epoch == 0 {
			continue
		}
		value := r.value(run, i, q)
		if math.IsNaN(value) || !m.Accuracy.Measured {
			return EpochOutcome{}, false
		}
		values, accuracies = append(values, value), append(accuracies, 100*m.Accuracy.Value)
		judged = append(judged, selection.Judged{Value: value, Evidence: run.evidence[m.Step].Evidence})
	}
	if len(values) == 0 {
		return EpochOutcome{}, false
	}
	chosen, last := r.best(values), len(values)-1
	if !selection.TakesEarlier(string(r), judged[chosen], judged[last], q) {
		chosen = last
	}
	return EpochOutcome{
		Chosen: accuracies[chosen], Best: floats.Max(accuracies), Last: accuracies[last],
		Correlation: r.correlation(values, accuracies), JSD: run.JSD.OrNaN(),
	}, true
}

// chooseRun applies the rule to the network that each run left, and reports whether all were
// measured. Runs have no last one, from which a guarded rule could start.
func (r rule) chooseRun(runs []judgedRun, q []float64) (RunChoice, bool) {
	if selection.ForEpochs(string(r)) {
		return RunChoice{}, false
	}
	var values []float64
	for _, run := range runs {
		value := r.value(run, run.leftAt(), q)
		if math.IsNaN(value) {
			return RunChoice{}, false
		}
		values = append(values, value)
	}
	return r.runChoice(runs, values), true
}

func (r rule) runChoice(runs []judgedRun, values []float64) RunChoice {
	var accuracies []float64
	for _, run := range runs {
		accuracies = append(accuracies, 100*run.left().Accuracy.Value)
	}
	chosen := r.best(values)
	run := runs[chosen]
	return RunChoice{
		Variant: run.Variant, Task: run.Task, Criterion: string(r), Candidates: len(runs),
		Run:    fmt.Sprintf("%s/seed-%d", run.Method, run.Seed),
		Chosen: accuracies[chosen], Best: floats.Max(accuracies), Correlation: r.correlation(values, accuracies),
		JSD: run.JSD.OrNaN(),
	}
}

// byVotes is the choice of the run that agrees most with all of them together.
func byVotes(runs []judgedRun) (RunChoice, error) {
	ensv, err := selection.Find(ensembleRule)
	if err != nil {
		return RunChoice{}, err
	}
	var logits []*mat.Dense
	for _, run := range runs {
		logits = append(logits, run.logits)
	}
	votes, err := selection.Vote(logits)
	if err != nil {
		return RunChoice{}, fmt.Errorf("%s, %s: %w", runs[0].Variant, runs[0].Task, err)
	}
	var values []float64
	for _, z := range logits {
		value, err := ensv.Value(selection.Input{TargetLogits: z, Votes: votes})
		if err != nil {
			return RunChoice{}, err
		}
		values = append(values, value)
	}
	return rule(ensembleRule).runChoice(runs, values), nil
}

// correlation is Spearman's, of values such that more is better.
func (r rule) correlation(values, accuracies []float64) float64 {
	c := stat.Correlation(ranks(values), ranks(accuracies), nil)
	if !selection.RuleIsHigher(string(r)) {
		c = -c
	}
	return c
}

// ranks returns the rank of each value, the mean one of equal values.
func ranks(values []float64) []float64 {
	at := map[float64][]int{}
	for i, v := range values {
		at[v] = append(at[v], i)
	}
	result, below := make([]float64, len(values)), 0
	for _, v := range slices.Sorted(maps.Keys(at)) {
		for _, i := range at[v] {
			result[i] = float64(below) + float64(len(at[v])-1)/2
		}
		below += len(at[v])
	}
	return result
}

// summarise averages over runs.
func summarise(name string, outcomes []EpochOutcome) EpochChoice {
	e := EpochChoice{Criterion: name, Runs: len(outcomes), Each: outcomes, WorstRegret: math.Inf(-1), WorstLoss: math.Inf(-1)}
	n, correlated := float64(len(outcomes)), 0.0
	for _, o := range outcomes {
		e.Chosen += o.Chosen / n
		e.Best += o.Best / n
		e.Last += o.Last / n
		e.WorstRegret = max(e.WorstRegret, o.Best-o.Chosen)
		e.WorstLoss = max(e.WorstLoss, o.Last-o.Chosen)
		if !math.IsNaN(o.Correlation) {
			e.Correlation += o.Correlation
			correlated++
		}
	}
	e.Regret = e.Best - e.Chosen
	e.Correlation /= correlated
	return e
}

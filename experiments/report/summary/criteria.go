package summary

import (
	"fmt"
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
	Unlabelled []Choice // of tasks whose target has no labels
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
			if err := c.add(judged, epochs); err != nil {
				return Criteria{}, fmt.Errorf("%s, %s: %w", variant, task, err)
			}
		}
	}
	for _, r := range rules() {
		if outcomes := epochs[string(r)]; len(outcomes) > 0 {
			c.Epochs = append(c.Epochs, summarise(string(r), outcomes))
		}
	}
	return c, nil
}

// add applies all rules to the runs of a task, and puts what they choose of each run into
// epochs.
func (c *Criteria) add(runs []judgedRun, epochs map[string][]EpochOutcome) error {
	if len(runs) == 0 {
		return nil
	}
	together := ensembles(runs)
	c.Ensembles = append(c.Ensembles, together...)
	shared := sharedBy(runs)
	if shared == nil {
		c.Notes = append(c.Notes, fmt.Sprintf("%s, %s: no source-only run that estimates the target's class shares, by which all runs could be judged.", runs[0].Variant, runs[0].Task))
		return nil
	}
	votes, err := byVotes(runs)
	if err != nil {
		return err
	}
	if !runs[0].LastAccuracy.Measured {
		c.Unlabelled = append(c.Unlabelled, withoutAccuracies(runs, shared, votes)...)
		return nil
	}
	for _, r := range rules() {
		for _, run := range runs {
			if o, ok := r.chooseEpoch(run, shared); ok {
				epochs[string(r)] = append(epochs[string(r)], o)
			}
		}
		if values, ok := r.valuesOf(runs, shared); ok {
			c.Runs = append(c.Runs, r.chooseRun(runs, values))
			if choice, ok := r.chooseMethod(runs, values, together); ok {
				c.Methods = append(c.Methods, choice)
			}
		}
	}
	c.Runs = append(c.Runs, rule(ensembleRule).chooseRun(runs, votes))
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

// chooseRun applies the rule to the networks that runs left, by its values.
func (r rule) chooseRun(runs []judgedRun, values []float64) RunChoice {
	var accuracies []float64
	for _, run := range runs {
		accuracies = append(accuracies, 100*run.left().Accuracy.Value)
	}
	chosen := r.best(values)
	run := runs[chosen]
	return RunChoice{
		Variant: run.Variant, Task: run.Task, Criterion: string(r), Candidates: len(runs),
		Run:    run.name(),
		Chosen: accuracies[chosen], Best: floats.Max(accuracies), Correlation: r.correlation(values, accuracies),
		JSD: run.JSD.OrNaN(),
	}
}

// byVotes returns by how much each run agrees with all of them together.
func byVotes(runs []judgedRun) (values []float64, err error) {
	ensv, err := selection.Find(ensembleRule)
	if err != nil {
		return nil, err
	}
	var logits []*mat.Dense
	for _, run := range runs {
		logits = append(logits, run.logits)
	}
	votes, err := selection.Vote(logits)
	if err != nil {
		return nil, err
	}
	for _, z := range logits {
		value, err := ensv.Value(selection.Input{TargetLogits: z, Votes: votes})
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
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

package table

import (
	"math"
	"slices"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
	"iwda/experiments/store"
)

// Criteria puts the criteria that choose without labels of the target side by side: how good
// the epochs and the runs are that they choose. Unlike other tables it reads the runs'
// folders.
func Criteria(runs []store.Run, experiment config.Config) (sheet.Sheet, error) {
	c, err := summary.CompareCriteria(runs, experiment)
	if err != nil {
		return sheet.Sheet{}, err
	}
	return criteria(c), nil
}

func criteria(c summary.Criteria) sheet.Sheet {
	s := sheet.Sheet{Experiment: c.Experiment, Title: c.Experiment + ": choosing without labels of the target", Notes: c.Notes}
	if len(c.Epochs) > 0 {
		s.Sections = append(s.Sections, sheet.NewSection("The epoch of each run", epochColumns(), c.Epochs))
	}
	var means []meanChoice
	for _, r := range c.Runs {
		means = addTo(means, r)
	}
	if len(means) > 0 {
		s.Sections = append(s.Sections,
			sheet.NewSection("The run, mean over tasks", meanColumns(), means),
			sheet.NewSection("The run of each task", runColumns(), c.Runs))
		s.Records = sheet.NewRecords(runColumns(), c.Runs)
	}
	if len(c.Ensembles) > 0 {
		s.Sections = append(s.Sections, sheet.NewSection("Ensembles over seeds", ensembleColumns(), c.Ensembles))
	}
	if len(c.Methods) > 0 {
		s.Sections = append(s.Sections,
			sheet.NewSection("The method, its seeds together, mean over tasks", meanMethodColumns(), meansOverTasks(c.Methods)),
			sheet.NewSection("The method of each task, its seeds together", methodColumns(), c.Methods))
	}
	if len(c.Unlabelled) > 0 {
		s.Sections = append(s.Sections, sheet.NewSection("The run and the method of each task without labels of the target", choiceColumns(), c.Unlabelled))
		if len(c.Runs) == 0 {
			s.Records = sheet.NewRecords(choiceColumns(), c.Unlabelled)
		}
	}
	s.Legend = "Accuracies on the target's test set in percent, of what each criterion chooses without its labels. best: of the best epoch, or of the last epoch " +
		"of the best run, by the labels; last: of the last epoch. regret: best less chosen, in points, mean and largest; below last: the largest of last less chosen. " +
		"ρ: rank correlation of criterion and accuracy. guarded-risk: the epoch of the lowest iwv-y where that is clearly below the last one's, and the last one elsewhere; guarded-ami: likewise that of the highest mean class-ami of three. guarded-risk, iwv-y, target-risk and prior-divergence take the target's class shares from the first source-only run of a task. " +
		"The choice of a run is among the networks that all methods and seeds left. " +
		"ensemble: of the mean of the seeds' probabilities, calibrated and corrected for the class shares that each estimates; members: the mean of their accuracies, corrected likewise. " +
		"The method of a task is chosen by the mean of the criterion over its seeds, and its ensemble measured; run: the accuracy of the run that the criterion chooses by itself, corrected likewise. " +
		"Where the target has no labels, only what is chosen can be told."
	return s
}

var (
	pointsFormat      = sheet.Printf("%.2f")
	correlationFormat = sheet.Printf("%+.2f")
)

func word[T any](name, head string, of func(T) string) sheet.Column[T] {
	return sheet.Column[T]{Name: name, Head: head, Key: true, Value: func(r T) sheet.Value { return sheet.Word(of(r)) }}
}

func percent[T any](name, head string, of func(T) float64) sheet.Column[T] {
	return sheet.Column[T]{Name: name, Head: head, Format: pointsFormat, Value: func(r T) sheet.Value { return sheet.Percent(of(r)) }}
}

func correlated[T any](of func(T) float64) sheet.Column[T] {
	return sheet.Column[T]{Name: "correlation", Head: "ρ", Format: correlationFormat, Value: func(r T) sheet.Value { return sheet.Number(of(r)) }}
}

func epochColumns() []sheet.Column[summary.EpochChoice] {
	type row = summary.EpochChoice
	return []sheet.Column[row]{
		word("criterion", "criterion", func(r row) string { return r.Criterion }),
		{Name: "runs", Head: "runs", Value: func(r row) sheet.Value { return sheet.Count(r.Runs) }, Format: sheet.Printf("%.0f")},
		percent("chosen", "chosen", func(r row) float64 { return r.Chosen }),
		percent("last", "last", func(r row) float64 { return r.Last }),
		percent("best", "best", func(r row) float64 { return r.Best }),
		percent("regret", "regret", func(r row) float64 { return r.Regret }),
		percent("worst_regret", "worst", func(r row) float64 { return r.WorstRegret }),
		percent("below_last", "below last", func(r row) float64 { return r.WorstLoss }),
		correlated(func(r row) float64 { return r.Correlation }),
	}
}

func runColumns() []sheet.Column[summary.RunChoice] {
	type row = summary.RunChoice
	return []sheet.Column[row]{
		word("variant", "variant", func(r row) string { return r.Variant }),
		word("task", "task", func(r row) string { return r.Task }),
		word("criterion", "criterion", func(r row) string { return r.Criterion }),
		word("run", "run", func(r row) string { return r.Run }),
		percent("chosen", "chosen", func(r row) float64 { return r.Chosen }),
		percent("best", "best", func(r row) float64 { return r.Best }),
		percent("regret", "regret", row.Regret),
		correlated(func(r row) float64 { return r.Correlation }),
	}
}

func choiceColumns() []sheet.Column[summary.Choice] {
	type row = summary.Choice
	return []sheet.Column[row]{
		word("variant", "variant", func(r row) string { return r.Variant }),
		word("task", "task", func(r row) string { return r.Task }),
		word("criterion", "criterion", func(r row) string { return r.Criterion }),
		word("run", "run", func(r row) string { return r.Run }),
		word("method", "method", func(r row) string { return r.Method }),
	}
}

func ensembleColumns() []sheet.Column[summary.Ensemble] {
	type row = summary.Ensemble
	return []sheet.Column[row]{
		word("variant", "variant", func(r row) string { return r.Variant }),
		word("task", "task", func(r row) string { return r.Task }),
		word("method", "method", func(r row) string { return r.Method }),
		{Name: "seeds", Head: "seeds", Value: func(r row) sheet.Value { return sheet.Count(r.Members) }},
		percent("ensemble", "ensemble", func(r row) float64 { return r.Accuracy }),
		percent("members", "members", func(r row) float64 { return r.Mean }),
	}
}

func methodColumns() []sheet.Column[summary.MethodChoice] {
	type row = summary.MethodChoice
	return []sheet.Column[row]{
		word("variant", "variant", func(r row) string { return r.Variant }),
		word("task", "task", func(r row) string { return r.Task }),
		word("criterion", "criterion", func(r row) string { return r.Criterion }),
		word("method", "method", func(r row) string { return r.Method }),
		percent("chosen", "chosen", func(r row) float64 { return r.Chosen }),
		percent("best", "best", func(r row) float64 { return r.Best }),
		percent("regret", "regret", row.Regret),
		percent("run", "run", func(r row) float64 { return r.Run }),
	}
}

// meanMethod averages a criterion's choices of a method over tasks.
type meanMethod struct {
	criterion                string
	tasks                    int
	chosen, best, run, worst float64
}

// meansOverTasks returns them in the order in which the criteria come.
func meansOverTasks(choices []summary.MethodChoice) (means []meanMethod) {
	for _, c := range choices {
		at := slices.IndexFunc(means, func(m meanMethod) bool { return m.criterion == c.Criterion })
		if at < 0 {
			at, means = len(means), append(means, meanMethod{criterion: c.Criterion})
		}
		m := &means[at]
		m.tasks++
		n := float64(m.tasks)
		m.chosen += (c.Chosen - m.chosen) / n
		m.best += (c.Best - m.best) / n
		m.run += (c.Run - m.run) / n
		m.worst = max(m.worst, c.Regret())
	}
	return means
}

func meanMethodColumns() []sheet.Column[meanMethod] {
	type row = meanMethod
	return []sheet.Column[row]{
		word("criterion", "criterion", func(r row) string { return r.criterion }),
		{Name: "tasks", Head: "tasks", Value: func(r row) sheet.Value { return sheet.Count(r.tasks) }, Format: sheet.Printf("%.0f")},
		percent("chosen", "chosen", func(r row) float64 { return r.chosen }),
		percent("best", "best", func(r row) float64 { return r.best }),
		percent("regret", "regret", func(r row) float64 { return r.best - r.chosen }),
		percent("worst_regret", "worst", func(r row) float64 { return r.worst }),
		percent("run", "run", func(r row) float64 { return r.run }),
	}
}

// meanChoice averages a criterion's choices of a run over tasks.
type meanChoice struct {
	criterion   string
	tasks       int
	chosen      float64 // sums
	best        float64
	worst       float64
	correlation float64
	correlated  int
}

func addTo(means []meanChoice, r summary.RunChoice) []meanChoice {
	at := -1
	for i, m := range means {
		if m.criterion == r.Criterion {
			at = i
		}
	}
	if at < 0 {
		at, means = len(means), append(means, meanChoice{criterion: r.Criterion})
	}
	m := &means[at]
	m.tasks++
	m.chosen += r.Chosen
	m.best += r.Best
	m.worst = max(m.worst, r.Regret())
	if !math.IsNaN(r.Correlation) {
		m.correlation += r.Correlation
		m.correlated++
	}
	return means
}

func meanColumns() []sheet.Column[meanChoice] {
	type row = meanChoice
	return []sheet.Column[row]{
		word("criterion", "criterion", func(r row) string { return r.criterion }),
		{Name: "tasks", Head: "tasks", Value: func(r row) sheet.Value { return sheet.Count(r.tasks) }, Format: sheet.Printf("%.0f")},
		percent("chosen", "chosen", func(r row) float64 { return r.chosen / float64(r.tasks) }),
		percent("best", "best", func(r row) float64 { return r.best / float64(r.tasks) }),
		percent("regret", "regret", func(r row) float64 { return (r.best - r.chosen) / float64(r.tasks) }),
		percent("worst_regret", "worst", func(r row) float64 { return r.worst }),
		correlated(func(r row) float64 { return r.correlation / float64(r.correlated) }),
	}
}

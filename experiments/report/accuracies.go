package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/store"
)

// Accuracies are an experiment's: for each variant those of all methods on each task, and the average
// over tasks where there are several.
type Accuracies struct {
	Experiment string
	Dataset    string
	Title      string
	InPaper    bool     // the paper has numbers for this data set
	Tasks      int      // planned
	Rows       []Row    // by variant and task, methods in the order of config.MethodNames
	Notes      []string // what is missing, what was left out, sentences
}

// Row is a method on a task, or its average over the tasks of a variant (paper.Average). Shares and
// accuracies are in percent, NaN where there is none.
type Row struct {
	Variant, Task, Method string
	Seeds, Planned        int // finished runs and those of the whole experiment
	Scores                [views]Score
	Pairs                 int   // seeds finished by both the method and its base
	Paper                 Score // without a deviation
}

// View is one of the accuracies of a run, an index of [Views].
type View int

// The views; of the last two a run may have none.
const (
	Best View = iota
	Last
	Corrected
	views
)

// Views holds what is said of every view.
var Views = [views]struct {
	Name   string // in records
	Legend string // what the accuracy is of
	of     func(store.Result) store.Optional[float64]
}{
	Best: {"best", "the highest of all epochs, chosen on target labels",
		func(r store.Result) store.Optional[float64] { return r.BestAccuracy }},
	Last: {"last", "the last epoch, which needs none",
		func(r store.Result) store.Optional[float64] { return r.LastAccuracy }},
	Corrected: {"corrected", "the last epoch's probabilities corrected for the class shares that were estimated for the target",
		func(r store.Result) store.Optional[float64] { return r.CorrectedAccuracy }},
}

// Score is an accuracy over seeds.
type Score struct {
	Mean float64
	// Deviation is the sample standard deviation over seeds: NaN for one seed and
	// for averages over tasks.
	Deviation float64
	// Wins is the share of pairs in which the method has a larger accuracy than its base with
	// the same seed, and Ties that in which both have the same. Accuracies are compared as they
	// are printed, in percent with two decimals.
	Wins, Ties float64
}

// Difference returns the best epoch's mean less the paper's.
func (r Row) Difference() float64 { return r.Scores[Best].Mean - r.Paper.Mean }

// CompareAccuracies compares the results with each other, with the experiment's plan and
// with the paper. An average over tasks is the mean of the tasks' means over seeds, and
// there is one once every task has a result. Variants and tasks without any result are
// left out, and a note says so.
func CompareAccuracies(s Selection) Accuracies {
	experiment := s.Experiment
	a := Accuracies{
		Experiment: experiment.Experiment,
		Dataset:    experiment.Dataset.Name,
		Title:      cmp.Or(experiment.Title, experiment.Experiment),
		Tasks:      len(experiment.Tasks),
		InPaper: slices.ContainsFunc(experiment.Variants, func(variant string) bool {
			return len(paper.Tasks(s.Published(), variant)) > 0
		}),
	}
	var missing, unlabelled []string
	for _, variant := range experiment.Variants {
		var tasks [][]Row
		for _, task := range experiment.Tasks {
			var rows []Row
			finished, without := 0, 0
			for _, method := range s.Methods {
				row := s.taskRow(variant, task, method)
				finished += row.Seeds
				without += len(s.WithoutLabels(variant, task, method))
				rows = append(rows, row)
			}
			switch {
			case finished == 0 && without > 0:
				unlabelled = append(unlabelled, variant+", "+task)
			case finished == 0:
				missing = append(missing, variant+", "+task)
			default:
				tasks = append(tasks, rows)
			}
		}
		a.Rows = append(a.Rows, slices.Concat(tasks...)...)
		if len(experiment.Tasks) > 1 && len(tasks) == len(experiment.Tasks) {
			a.Rows = append(a.Rows, s.averageRows(tasks, variant)...)
		}
		if len(tasks) > 0 {
			a.Notes = append(a.Notes, paperNotes(s.Published(), variant, s.Methods)...)
		}
	}
	if len(missing) > 0 {
		a.Notes = append(a.Notes, "No finished run of "+strings.Join(missing, "; ")+".")
	}
	if len(unlabelled) > 0 {
		a.Notes = append(a.Notes, "No accuracy, because no row of the test set has a label: "+strings.Join(unlabelled, "; ")+".")
	}
	if a.InPaper && experiment.Network.Pretrained == config.NotPretrained {
		a.Notes = append(a.Notes, "The networks were trained from scratch, without pretrained weights; the paper used ImageNet weights.")
	}
	a.Notes = append(a.Notes, s.Notes...)
	return a
}

// Variants are those of the rows.
func (a Accuracies) Variants() (variants []string) {
	for _, row := range a.Rows {
		if !slices.Contains(variants, row.Variant) {
			variants = append(variants, row.Variant)
		}
	}
	return variants
}

// Average returns a variant's averages over tasks, or its rows of the only task; none while a task has no
// finished run.
func (a Accuracies) Average(variant string) []Row {
	return slices.DeleteFunc(slices.Clone(a.Rows), func(r Row) bool { return r.Variant != variant || a.Tasks > 1 && r.Task != paper.Average })
}

// Shown returns best and last, and those of the other views of which some row has a score.
func (a Accuracies) Shown() []View {
	shown := []View{Best, Last}
	for v := Last + 1; v < views; v++ {
		if slices.ContainsFunc(a.Rows, func(r Row) bool { return !math.IsNaN(r.Scores[v].Mean) }) {
			shown = append(shown, v)
		}
	}
	return shown
}

// taskRow is the row of a method on one task. A view that some run lacks has no score, and one that
// the base of some run lacks has no wins.
func (s Selection) taskRow(variant, task, method string) Row {
	runs := s.Runs(variant, task, method)
	row := Row{
		Variant: variant, Task: task, Method: method, Seeds: len(runs), Planned: len(s.Experiment.Seeds),
		Paper: paperScore(s.Published(), variant, task, method),
	}
	preset, _ := config.ParseMethod(method)
	bases := map[int64]store.Result{} // by seed
	for _, base := range s.Runs(variant, task, preset.Base()) {
		bases[base.Result.Seed] = base.Result
	}
	for _, run := range runs {
		if _, ok := bases[run.Result.Seed]; ok {
			row.Pairs++
		}
	}
	for v := range row.Scores {
		var values []float64
		wins, ties, lacking := 0, 0, false
		for _, run := range runs {
			accuracy := Views[v].of(run.Result)
			values = append(values, 100*accuracy.OrNaN())
			if result, ok := bases[run.Result.Seed]; ok {
				base := Views[v].of(result)
				lacking = lacking || !base.Measured
				switch asPrinted(accuracy.Value, base.Value) {
				case 1:
					wins++
				case 0:
					ties++
				}
			}
		}
		row.Scores[v] = NewScore(values)
		row.Scores[v].Wins, row.Scores[v].Ties = Percentage(wins, row.Pairs), Percentage(ties, row.Pairs)
		if lacking || math.IsNaN(row.Scores[v].Mean) {
			row.Scores[v].Wins, row.Scores[v].Ties = math.NaN(), math.NaN()
		}
	}
	return row
}

// averageRows averages over the rows of all tasks. The paper's averages stand
// beside ours only if the tasks are the paper's.
func (s Selection) averageRows(tasks [][]Row, variant string) (averages []Row) {
	experiment := s.Experiment
	printed := paper.Tasks(s.Published(), variant)
	comparable := len(printed) == len(experiment.Tasks) && !slices.ContainsFunc(printed, func(task string) bool {
		return !slices.Contains(experiment.Tasks, task)
	})
	for i, first := range tasks[0] {
		row := Row{Variant: variant, Task: paper.Average, Method: first.Method, Paper: Score{math.NaN(), math.NaN(), math.NaN(), math.NaN()}}
		for _, task := range tasks {
			r := task[i]
			row.Seeds += r.Seeds
			row.Planned += r.Planned
			row.Pairs += r.Pairs
		}
		for v := range row.Scores {
			score := Score{Deviation: math.NaN()}
			for _, task := range tasks {
				r := task[i]
				score.Mean += r.Scores[v].Mean / float64(len(tasks)) // NaN if the task has none
				if r.Pairs > 0 {
					score.Wins += r.Scores[v].Wins * float64(r.Pairs) / float64(row.Pairs)
					score.Ties += r.Scores[v].Ties * float64(r.Pairs) / float64(row.Pairs)
				}
			}
			if row.Pairs == 0 {
				score.Wins, score.Ties = math.NaN(), math.NaN()
			}
			row.Scores[v] = score
		}
		if comparable {
			row.Paper = paperScore(s.Published(), variant, paper.Average, row.Method)
		}
		averages = append(averages, row)
	}
	return averages
}

// paperScore is what the paper prints of a method on a task.
func paperScore(dataset, variant, task, method string) Score {
	return Score{
		Mean:      orNaN(paper.Accuracy(dataset, variant, task, method)),
		Deviation: math.NaN(),
		Wins:      orNaN(paper.Wins(dataset, variant, task, method)),
		Ties:      math.NaN(), // not printed
	}
}

// paperNotes are the warnings that the paper's rows need.
func paperNotes(dataset, variant string, methods []string) []string {
	var notes []string
	for _, method := range methods {
		if note := paper.Note(dataset, variant, method); note != "" {
			notes = append(notes, fmt.Sprintf("The paper's row of %s, %s: %s.", variant, method, note))
		}
	}
	return notes
}

// NewScore sums up the values of several seeds, NaN of none, in which Wins and Ties are 0.
func NewScore(values []float64) Score {
	mean, deviation := stat.MeanStdDev(values, nil)
	return Score{Mean: mean, Deviation: deviation}
}

// asPrinted compares an accuracy with the base's, as [cmp.Compare], both as they are printed.
func asPrinted(accuracy, base float64) int {
	return cmp.Compare(math.Round(1e4*accuracy), math.Round(1e4*base))
}

// Percentage is NaN of nothing.
func Percentage(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

func orNaN(value float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return value
}

// GainPoint is a method beside its base on one variation of a task. Accuracies are
// in percent, means over the seeds that both have finished, of [Best] and [Last].
type GainPoint struct {
	Variant        string
	JSD            float64 // between the label distributions, natural logarithm
	Accuracy, Base [2]float64
	Compared       [2]int // with the base, as printed: 1 won, 0 tied, -1 lost
	Seeds          int
}

// Gain is a method's gain over its base on the variations of a task, one a variant
// with class fractions.
type Gain struct {
	Task, Method, Base string
	Points             []GainPoint
	Planned            int // variations
}

// Gains returns the gains of every method that has a base, task by task. It is empty
// where the experiment has no variants with class fractions.
func Gains(s Selection) []Gain {
	var all []Gain
	for _, task := range s.Experiment.Tasks {
		for _, name := range s.Methods {
			method, _ := config.ParseMethod(name)
			if method.Base() == "" {
				continue
			}
			g := Gain{Task: task, Method: name, Base: method.Base()}
			for _, variant := range s.Experiment.Variants {
				if config.FractionsDomain(variant) == "" {
					continue
				}
				g.Planned++
				if point, ok := gainPoint(s.Runs(variant, task, name), s.Runs(variant, task, g.Base)); ok {
					point.Variant = variant
					g.Points = append(g.Points, point)
				}
			}
			if g.Planned > 0 {
				all = append(all, g)
			}
		}
	}
	return all
}

// gainPoint compares runs of a method with those of its base with the same seeds,
// and returns whether there are any.
func gainPoint(runs, bases []store.Run) (p GainPoint, ok bool) {
	for _, r := range runs {
		for _, b := range bases {
			run, base := r.Result, b.Result
			if base.Seed != run.Seed {
				continue
			}
			p.Seeds++
			p.JSD += run.JSD.OrNaN()
			for v := range p.Accuracy {
				p.Accuracy[v] += 100 * Views[v].of(run).Value
				p.Base[v] += 100 * Views[v].of(base).Value
			}
		}
	}
	p.JSD /= float64(p.Seeds)
	for v := range p.Accuracy {
		p.Accuracy[v] /= float64(p.Seeds)
		p.Base[v] /= float64(p.Seeds)
		p.Compared[v] = asPrinted(p.Accuracy[v]/100, p.Base[v]/100)
	}
	return p, p.Seeds > 0
}

// Gain returns by how many points the method is above its base.
func (p GainPoint) Gain(v View) float64 { return p.Accuracy[v] - p.Base[v] }

// Mean returns the mean gain in points, NaN without points.
func (g Gain) Mean(v View) float64 {
	sum := 0.0
	for _, p := range g.Points {
		sum += p.Gain(v)
	}
	return sum / float64(len(g.Points))
}

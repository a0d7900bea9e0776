package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/store"
)

// Table is an experiment in numbers: for each variant, methods × tasks, and the
// average over tasks where there are several.
type Table struct {
	Experiment string
	Dataset    string
	Title      string
	InPaper    bool // the paper has numbers for this data set
	Blocks     []Block
	Notes      []string // what is missing, what was left out, sentences

	tasks  int // planned
	layout layout
}

// layout says what the columns of the table in LaTeX are.
type layout int

const (
	byTask    layout = iota // the tasks of each variant
	byDataset               // the variants of each data set
	byFamily                // the variants of each family of methods
)

// Block is the part of one variant.
type Block struct {
	Variant string
	Groups  []Group
}

// Group is the part of one task, or of the average over tasks (paper.Average), a
// row a method in the order of config.MethodNames.
type Group struct {
	Task string
	Rows []Row
}

// Row is a method on a task. Shares and accuracies are in percent, NaN where
// there is none.
type Row struct {
	Method         string
	Seeds, Planned int   // finished runs and those of the whole experiment
	Best, Last     Score // of the best and of the last epoch
	Pairs          int   // seeds finished by both the method and its base
	Paper          float64
	PaperWins      float64
}

// Score is an accuracy over seeds.
type Score struct {
	Mean float64
	// Deviation is the sample standard deviation over seeds: NaN for one seed and
	// for averages over tasks.
	Deviation float64
	// Wins is the share of pairs in which the method is at least as good as its
	// base with the same seed. Accuracies are compared as they are printed, in
	// percent with two decimals.
	Wins float64
}

// Difference returns the best epoch's mean less the paper's.
func (r Row) Difference() float64 { return r.Best.Mean - r.Paper }

// BuildTable compares the results with each other, with the experiment's plan and
// with the paper. An average over tasks is the mean of the tasks' means over
// seeds, and there is one once every task has a result. Results that the
// experiment does not plan are left out, and a note says so; so are variants and
// tasks without any result.
func BuildTable(results []store.Result, experiment config.Config) Table {
	table := Table{
		Experiment: experiment.Experiment,
		Dataset:    experiment.Dataset.Name,
		tasks:      len(experiment.Tasks),
		Title:      experiment.Title,
		InPaper: slices.ContainsFunc(experiment.Variants, func(variant string) bool {
			return len(paper.Tasks(experiment.Dataset.Name, variant)) > 0
		}),
	}
	if table.Title == "" {
		table.Title = experiment.Experiment
	}
	planned, leftOut := selectPlanned(results, experiment)
	methods := orderedMethods(experiment)
	var missing []string
	for _, variant := range experiment.Variants {
		block := Block{Variant: variant}
		for _, task := range experiment.Tasks {
			group := Group{Task: task}
			finished := 0
			for _, method := range methods {
				row := taskRow(planned, experiment, variant, task, method)
				finished += row.Seeds
				group.Rows = append(group.Rows, row)
			}
			if finished == 0 {
				missing = append(missing, variant+", "+task)
				continue
			}
			block.Groups = append(block.Groups, group)
		}
		if len(experiment.Tasks) > 1 && len(block.Groups) == len(experiment.Tasks) {
			block.Groups = append(block.Groups, averageGroup(block.Groups, experiment, variant))
		}
		if len(block.Groups) > 0 {
			table.Blocks = append(table.Blocks, block)
			table.Notes = append(table.Notes, paperNotes(experiment.Dataset.Name, variant, methods)...)
		}
	}
	if len(missing) > 0 {
		table.Notes = append(table.Notes, "No finished run of "+strings.Join(missing, "; ")+".")
	}
	if experiment.Network.Pretrained == config.NotPretrained {
		table.Notes = append(table.Notes, "The networks were trained from scratch, without pretrained weights; the paper's numbers are with ImageNet weights.")
	}
	table.Notes = append(table.Notes, selectionNotes(len(planned), experiment, leftOut)...)
	return table
}

// selectionNotes says how many runs are missing and what was left out.
func selectionNotes(finished int, experiment config.Config, leftOut []string) []string {
	var notes []string
	runs := len(experiment.Variants) * len(experiment.Tasks) * len(orderedMethods(experiment)) * len(experiment.Seeds)
	if finished < runs {
		notes = append(notes, fmt.Sprintf("%d of %d runs are finished.", finished, runs))
	}
	if len(leftOut) > 0 {
		notes = append(notes, "Left out: "+strings.Join(leftOut, "; ")+".")
	}
	return notes
}

// selectPlanned maps the ids of the experiment's runs to their results and says
// which results it leaves out and why.
func selectPlanned(results []store.Result, experiment config.Config) (planned map[string]store.Result, leftOut []string) {
	planned = make(map[string]store.Result)
	for _, r := range results {
		id := store.ID{Variant: r.Variant, Task: r.Task, Method: r.Method, Seed: r.Seed}.String()
		_, known := config.ParseMethod(r.Method)
		_, twice := planned[id]
		switch {
		case r.Experiment != experiment.Experiment:
			leftOut = append(leftOut, fmt.Sprintf("%s (of experiment %q)", id, r.Experiment))
		case !known || !slices.Contains(experiment.Variants, r.Variant) || !slices.Contains(experiment.Tasks, r.Task) ||
			!slices.Contains(experiment.Methods, r.Method) || !slices.Contains(experiment.Seeds, r.Seed):
			leftOut = append(leftOut, id+" (not planned)")
		case math.IsNaN(r.BestAccuracy) || math.IsNaN(r.LastAccuracy):
			leftOut = append(leftOut, id+" (its accuracy is not a number)")
		case twice:
			leftOut = append(leftOut, id+" (there twice)")
		default:
			planned[id] = r
		}
	}
	return planned, leftOut
}

// taskRow is the row of a method on one task.
func taskRow(planned map[string]store.Result, experiment config.Config, variant, task, method string) Row {
	row := Row{Method: method, Planned: len(experiment.Seeds)}
	preset, _ := config.ParseMethod(method)
	var best, last []float64
	bestWins, lastWins := 0, 0
	for _, seed := range experiment.Seeds {
		result, ok := planned[store.ID{Variant: variant, Task: task, Method: method, Seed: seed}.String()]
		if !ok {
			continue
		}
		best = append(best, 100*result.BestAccuracy)
		last = append(last, 100*result.LastAccuracy)
		base, ok := planned[store.ID{Variant: variant, Task: task, Method: preset.Base(), Seed: seed}.String()]
		if !ok {
			continue
		}
		row.Pairs++
		bestWins += asGood(result.BestAccuracy, base.BestAccuracy)
		lastWins += asGood(result.LastAccuracy, base.LastAccuracy)
	}
	row.Seeds = len(best)
	row.Best, row.Last = score(best), score(last)
	row.Best.Wins, row.Last.Wins = percentage(bestWins, row.Pairs), percentage(lastWins, row.Pairs)
	row.Paper = orNaN(paper.Accuracy(experiment.Dataset.Name, variant, task, method))
	row.PaperWins = orNaN(paper.Wins(experiment.Dataset.Name, variant, task, method))
	return row
}

// averageGroup averages over the groups of all tasks. The paper's averages stand
// beside ours only if the tasks are the paper's.
func averageGroup(tasks []Group, experiment config.Config, variant string) Group {
	group := Group{Task: paper.Average}
	printed := paper.Tasks(experiment.Dataset.Name, variant)
	comparable := len(printed) == len(experiment.Tasks) && !slices.ContainsFunc(printed, func(task string) bool {
		return !slices.Contains(experiment.Tasks, task)
	})
	for i, first := range tasks[0].Rows {
		row := Row{
			Method: first.Method,
			Best:   Score{Deviation: math.NaN()},
			Last:   Score{Deviation: math.NaN()},
			Paper:  math.NaN(), PaperWins: math.NaN(),
		}
		bestWins, lastWins := 0.0, 0.0
		for _, task := range tasks {
			r := task.Rows[i]
			row.Seeds += r.Seeds
			row.Planned += r.Planned
			row.Best.Mean += r.Best.Mean / float64(len(tasks)) // NaN if the task has none
			row.Last.Mean += r.Last.Mean / float64(len(tasks))
			if r.Pairs > 0 {
				row.Pairs += r.Pairs
				bestWins += r.Best.Wins * float64(r.Pairs)
				lastWins += r.Last.Wins * float64(r.Pairs)
			}
		}
		row.Best.Wins, row.Last.Wins = bestWins/float64(row.Pairs), lastWins/float64(row.Pairs)
		if comparable {
			row.Paper = orNaN(paper.Accuracy(experiment.Dataset.Name, variant, paper.Average, row.Method))
			row.PaperWins = orNaN(paper.Wins(experiment.Dataset.Name, variant, paper.Average, row.Method))
		}
		group.Rows = append(group.Rows, row)
	}
	return group
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

func score(values []float64) Score {
	if len(values) == 0 {
		return Score{Mean: math.NaN(), Deviation: math.NaN()}
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	return Score{Mean: mean, Deviation: deviation}
}

// asGood is 1 if accuracy, as it is printed, is at least that of the base, else 0.
func asGood(accuracy, base float64) int {
	if math.Round(1e4*accuracy) >= math.Round(1e4*base) {
		return 1
	}
	return 0
}

func percentage(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

func orNaN(value float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return value
}

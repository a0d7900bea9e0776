package report

import (
	"fmt"
	"math"

	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/store"
)

// GainPoint is a method beside its base on one variation of a task. Accuracies are
// in percent, means over the seeds that both have finished.
type GainPoint struct {
	Variant            string
	JSD                float64 // between the label distributions, natural logarithm
	Best, Last         float64 // the method's accuracies
	BaseBest, BaseLast float64
	WonBest, WonLast   bool // at least as good as the base, as printed
	Seeds              int
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
func Gains(results []store.Result, experiment config.Config) []Gain {
	return gains(selectResults(results, experiment))
}

func gains(s selection) []Gain {
	var all []Gain
	for _, task := range s.experiment.Tasks {
		for _, name := range s.methods {
			method, _ := config.ParseMethod(name)
			if method.Base() == "" {
				continue
			}
			g := Gain{Task: task, Method: name, Base: method.Base()}
			for _, variant := range s.experiment.Variants {
				if config.FractionsDomain(variant) == "" {
					continue
				}
				g.Planned++
				if point, ok := gainPoint(s.results[place{variant, task, name}], s.results[place{variant, task, g.Base}]); ok {
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
func gainPoint(runs, bases []store.Result) (p GainPoint, ok bool) {
	for _, run := range runs {
		for _, base := range bases {
			if base.Seed != run.Seed {
				continue
			}
			p.Seeds++
			p.JSD += run.JSD
			p.Best += 100 * run.BestAccuracy
			p.Last += 100 * run.LastAccuracy
			p.BaseBest += 100 * base.BestAccuracy
			p.BaseLast += 100 * base.LastAccuracy
		}
	}
	for _, sum := range []*float64{&p.JSD, &p.Best, &p.Last, &p.BaseBest, &p.BaseLast} {
		*sum /= float64(p.Seeds)
	}
	p.WonBest = asGood(p.Best/100, p.BaseBest/100) == 1
	p.WonLast = asGood(p.Last/100, p.BaseLast/100) == 1
	return p, p.Seeds > 0
}

// Mean returns the mean gains of the best and of the last epochs in points, NaN
// without points.
func (g Gain) Mean() (best, last float64) {
	for _, p := range g.Points {
		best += p.Best - p.BaseBest
		last += p.Last - p.BaseLast
	}
	n := float64(len(g.Points))
	return best / n, last / n
}

// GainsSheet sums up the gains over the variations of each task, beside the paper's.
func GainsSheet(results []store.Result, experiment config.Config) Sheet {
	s := selectResults(results, experiment)
	sheet := Sheet{
		Experiment: experiment.Experiment, Title: s.title("gain over the method without weights"), Unit: "percent", Notes: s.notes,
		Legend: "Mean gain of accuracy in points, over variations of the task by the shares of the classes that one domain keeps. " +
			"best and last: epochs; won: variations, of those finished, on which the method's best epoch is at least as good as its base's; " +
			"paper: the paper's mean gain, on 100 variations; Δ: best less paper. tasks: variations finished of planned.",
		Records: Records{Fields: []string{
			"variant", "task", "method", "base", "jsd", "seeds", "best", "last", "base_best", "base_last", "best_won", "last_won",
		}},
	}
	byTask := map[string]int{}
	for _, g := range gains(s) {
		place, ok := byTask[g.Task]
		if !ok {
			place = len(sheet.Sections)
			byTask[g.Task] = place
			sheet.Sections = append(sheet.Sections, Section{
				Title: g.Task, Names: 2,
				Header: []string{"method", "base", "best", "last", "won", "paper", "Δ", "won (paper)", "tasks"},
			})
		}
		sheet.Sections[place].Rows = append(sheet.Sections[place].Rows, gainRow(g, s.experiment.Dataset.Name))
		for _, p := range g.Points {
			sheet.Records.Rows = append(sheet.Records.Rows, []any{
				p.Variant, g.Task, g.Method, g.Base, p.JSD, p.Seeds, rounded(p.Best), rounded(p.Last),
				rounded(p.BaseBest), rounded(p.BaseLast), oneIf(p.WonBest), oneIf(p.WonLast),
			})
		}
	}
	return sheet
}

func gainRow(g Gain, dataset string) []Cell {
	best, last := g.Mean()
	won := 0
	for _, p := range g.Points {
		won += oneIf(p.WonBest)
	}
	mean, paperWon := math.NaN(), math.NaN()
	if printed, ok := paper.Gains(dataset, g.Task, g.Method); ok {
		mean = printed.Mean
		if printed.TasksWon != nil {
			paperWon = *printed.TasksWon
		}
	}
	share := percentage(won, len(g.Points))
	return []Cell{
		word(g.Method), word(g.Base), figure("%+.2f", best), figure("%+.2f", last), figure("%.0f%%", share),
		figure("%+.2f", mean), figure("%+.2f", best-mean), figure("%.0f%%", paperWon),
		{fmt.Sprintf("%d/%d", len(g.Points), g.Planned), float64(len(g.Points))},
	}
}

func oneIf(condition bool) int {
	if condition {
		return 1
	}
	return 0
}

package summary

import (
	"iwda/experiments/config"
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
func gainPoint(runs, bases []store.Result) (p GainPoint, ok bool) {
	for _, run := range runs {
		for _, base := range bases {
			if base.Seed != run.Seed || !run.BestAccuracy.Measured || !base.BestAccuracy.Measured {
				continue
			}
			p.Seeds++
			p.JSD += run.JSD.OrNaN()
			p.Best += 100 * run.BestAccuracy.Value
			p.Last += 100 * run.LastAccuracy.Value
			p.BaseBest += 100 * base.BestAccuracy.Value
			p.BaseLast += 100 * base.LastAccuracy.Value
		}
	}
	for _, sum := range []*float64{&p.JSD, &p.Best, &p.Last, &p.BaseBest, &p.BaseLast} {
		*sum /= float64(p.Seeds)
	}
	p.WonBest = asGood(p.Best/100, p.BaseBest/100)
	p.WonLast = asGood(p.Last/100, p.BaseLast/100)
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

package summary

import (
	"iwda/experiments/config"
	"iwda/experiments/store"
)

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

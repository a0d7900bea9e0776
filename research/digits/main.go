// Command digits prints tables of the first epochs of finished runs on the paper's digits, in
// Markdown: of experiments of different lengths, the same epochs.
//
//	CGO_ENABLED=0 go run ./research/digits losses            the three forms of the classification loss
//	CGO_ENABLED=0 go run ./research/digits ablation          the ablations, beside the paper's
//	CGO_ENABLED=0 go run ./research/digits -epochs 70 ablation
//	CGO_ENABLED=0 go run ./research/digits divergence        the hundred tasks of the figures, as lines
//	CGO_ENABLED=0 go run ./research/digits -results DIR lemma   lemma B.1, on runs that kept their statistics
//
// But for the last, it reads what is below research/digits, research/digits-losses, research/ablation and research/digits-jsd.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/stat"

	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/store"
)

const seeds = 5

var tasks = []string{"mnist-usps", "usps-mnist"}

func main() {
	results := flag.String("results", "research", "folder of the experiments")
	epochs := flag.Int("epochs", 12, "epochs of each run that count")
	flag.Parse()
	t := tables{*results, *epochs}
	var err error
	switch flag.Arg(0) {
	case "losses":
		err = t.losses()
	case "ablation":
		err = t.ablation()
	case "divergence":
		err = divergence(*results)
	case "lemma":
		err = lemma(*results)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type tables struct {
	results string
	epochs  int
}

// score is the accuracy of a run in percent: the best of its epochs, and the last.
type score struct{ best, last float64 }

// read returns the scores of a method's finished seeds. A run that is shorter is missing.
func (t tables) read(experiment, variant, task, method string) (map[int64]score, error) {
	scores := map[int64]score{}
	for seed := int64(1); seed <= seeds; seed++ {
		id := store.ID{Variant: variant, Task: task, Method: method, Seed: seed}
		dir := store.NewDir(t.results, experiment, id.String())
		if _, err := os.Stat(dir.Path(store.ResultFile)); err != nil {
			continue
		}
		metrics, err := dir.ReadMetrics()
		if err != nil {
			return nil, err
		}
		if len(metrics) <= t.epochs {
			continue
		}
		s := score{best: math.Inf(-1)}
		for _, m := range metrics[:t.epochs+1] {
			s.last = 100 * m.Accuracy.OrNaN()
			s.best = max(s.best, s.last)
		}
		scores[seed] = s
	}
	return scores, nil
}

// summary sums up values of seeds.
type summary struct {
	mean, deviation, least float64
	n                      int
}

func summarise(scores map[int64]score, of func(seed int64, s score) float64) summary {
	var values []float64
	least := math.Inf(1)
	for seed := int64(1); seed <= seeds; seed++ {
		if s, is := scores[seed]; is {
			values = append(values, of(seed, s))
			least = min(least, values[len(values)-1])
		}
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	return summary{mean, deviation, least, len(values)}
}

func (s summary) String() string {
	if s.n == 1 {
		return fmt.Sprintf("%.2f", s.mean)
	}
	return s.format("%.2f ± %.2f", s.mean, s.deviation)
}

// format is Sprintf, but of no values a dash.
func (s summary) format(form string, values ...any) string {
	if s.n == 0 {
		return "-"
	}
	return fmt.Sprintf(form, values...)
}

func best(_ int64, s score) float64 { return s.best }
func last(_ int64, s score) float64 { return s.last }

// losses compares the forms of the classification loss with the default, seed by seed.
func (t tables) losses() error {
	fmt.Println("| task | method | loss | seeds | best | last | worst last | best less balanced's | seeds better |")
	fmt.Println("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, task := range tasks {
		for _, method := range []string{"iwdan", "iwdan-o", "iwcdan", "iwcdan-o"} {
			balanced, err := t.read("digits", config.Subsampled, task, method)
			if err != nil {
				return err
			}
			for _, form := range []struct{ name, suffix string }{{"balanced", ""}, {"weighted-balanced", "@appendix"}, {"weighted-balanced-released", "@released"}} {
				scores, difference, better := balanced, "", ""
				if form.suffix != "" {
					if scores, err = t.read("digits-losses", config.Subsampled, task, method+form.suffix); err != nil {
						return err
					}
					paired, won := map[int64]score{}, 0
					for seed, s := range scores {
						if base, is := balanced[seed]; is {
							paired[seed] = score{best: s.best - base.best}
							if math.Round(100*s.best) > math.Round(100*base.best) {
								won++
							}
						}
					}
					d := summarise(paired, best)
					if difference = d.format("%+.2f ± %.2f", d.mean, d.deviation); d.n == 1 {
						difference = d.format("%+.2f", d.mean)
					}
					better = d.format("%d of %d", won, d.n)
				}
				l := summarise(scores, last)
				fmt.Printf("| %s | %s | %s | %d | %v | %v | %s | %s | %s |\n",
					task, method, form.name, len(scores), summarise(scores, best), l, l.format("%.2f", l.least), difference, better)
			}
		}
	}
	return nil
}

// ablation prints averages over the tasks. A seed counts that has finished both.
func (t tables) ablation() error {
	fmt.Println("| source | method | seeds | best | last | paper | difference | in standard errors |")
	fmt.Println("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, variant := range []string{config.Full, config.Subsampled} {
		for _, method := range []string{
			"dann", "dann+wc", "dann+wda", "iwdan", "dann+wc-o", "dann+wda-o", "iwdan-o",
			"cdan", "cdan+wc", "cdan+wda", "iwcdan", "cdan+wc-o", "cdan+wda-o", "iwcdan-o",
		} {
			experiment := "ablation"
			if _, err := os.Stat(filepath.Join(t.results, "digits", variant, tasks[0], method)); err == nil {
				experiment = "digits"
			}
			first, err := t.read(experiment, variant, tasks[0], method)
			if err != nil {
				return err
			}
			second, err := t.read(experiment, variant, tasks[1], method)
			if err != nil {
				return err
			}
			both := map[int64]score{}
			for seed, a := range first {
				if b, is := second[seed]; is {
					both[seed] = score{(a.best + b.best) / 2, (a.last + b.last) / 2}
				}
			}
			ours := summarise(both, best)
			printed, _ := paper.Accuracy("digits", variant, paper.Average, method)
			difference, errors := "-", "-"
			if ours.n > 1 {
				// The paper's five seeds may scatter as ours do.
				difference = fmt.Sprintf("%+.2f", ours.mean-printed)
				errors = fmt.Sprintf("%+.1f", (ours.mean-printed)/ours.deviation/math.Sqrt(1/float64(ours.n)+1./seeds))
			}
			fmt.Printf("| %s | %s | %d | %v | %v | %.2f | %s | %s |\n", variant, method, ours.n, ours, summarise(both, last), printed, difference, errors)
		}
	}
	return nil
}

package summary

// Choice is what a criterion chooses on a task whose target has no labels to measure it by.
type Choice struct {
	Variant, Task, Criterion string
	Run                      string // method and seed
	// Method is the one with the best mean over its seeds.
	Method string
}

// withoutAccuracies applies all rules to the runs of a task; votes are the values of the one
// that compares them with each other.
func withoutAccuracies(runs []judgedRun, q, votes []float64) (choices []Choice) {
	choose := func(r rule, values []float64) {
		methods, means := byMethod(runs, values)
		choices = append(choices, Choice{
			Variant: runs[0].Variant, Task: runs[0].Task, Criterion: string(r),
			Run: runs[r.best(values)].name(), Method: methods[r.best(means)],
		})
	}
	for _, r := range rules() {
		if values, ok := r.valuesOf(runs, q); ok {
			choose(r, values)
		}
	}
	choose(ensembleRule, votes)
	return choices
}

// byMethod returns the methods of runs, those of a method standing together, and the mean of
// the values of each.
func byMethod(runs []judgedRun, values []float64) (methods []string, means []float64) {
	seeds := 0.0
	for i, run := range runs {
		if i == 0 || run.Method != runs[i-1].Method {
			methods, means, seeds = append(methods, run.Method), append(means, 0), 0
		}
		seeds++
		last := len(means) - 1
		means[last] += (values[i] - means[last]) / seeds
	}
	return methods, means
}

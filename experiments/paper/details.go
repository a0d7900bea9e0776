package paper

import (
	_ "embed"
	"slices"
	"sync"
)

//go:embed details.yaml
var detailsYAML []byte

// details is what the paper prints of one task beside accuracies.
type details struct {
	TrueWeights []float64                 `yaml:"true_weights"`
	Weights     map[string]ClassWeights   `yaml:"weights"`
	Confusion   map[string]ConfusionTable `yaml:"confusion"`
	Gains       map[string]Gain           `yaml:"gains"`
}

// ClassWeights are class weights in label order.
type ClassWeights struct {
	Weights  []float64 `yaml:"weights,flow"`
	Distance float64   `yaml:"distance"` // Euclidean, to the true weights
}

// ConfusionTable holds the predictions for each class in percent: row = true class,
// column = predicted.
type ConfusionTable struct {
	Percent  [][]float64 `yaml:"percent"`
	Accuracy float64     `yaml:"accuracy"` // in percent
}

// Gain sums up the figure of gain against divergence: the improvement of a method over its
// base, over 100 variations of a task.
type Gain struct {
	Mean     float64  `yaml:"mean"`      // in points of accuracy
	TasksWon *float64 `yaml:"tasks_won"` // variations where it is better, in percent; nil where it is not printed
}

// figureVariant is where the numbers of the figure stand among variants.
const figureVariant = "figure"

var allDetails = sync.OnceValue(func() map[string]map[string]map[string]details {
	return decode[map[string]map[string]map[string]details](detailsYAML)
})

// TrueWeights returns the printed true class weights of a task, and nil where the
// paper has none.
func TrueWeights(dataset, variant, task string) []float64 {
	return slices.Clone(allDetails()[dataset][variant][task].TrueWeights)
}

// Weights returns the printed estimate of the class weights in a run of the method,
// and whether there is one. They are those of the epoch whose Confusion is printed.
func Weights(dataset, variant, task, method string) (ClassWeights, bool) {
	w, ok := allDetails()[dataset][variant][task].Weights[method]
	w.Weights = slices.Clone(w.Weights)
	return w, ok
}

// Confusion returns the printed predictions by class of a run of the method, and
// whether there are any.
func Confusion(dataset, variant, task, method string) (ConfusionTable, bool) {
	c, ok := allDetails()[dataset][variant][task].Confusion[method]
	c.Percent = slices.Clone(c.Percent)
	for y, row := range c.Percent {
		c.Percent[y] = slices.Clone(row)
	}
	return c, ok
}

// Gains returns the printed summary of the figure of gain against divergence for the
// method on the variations of a task, and whether there is one.
func Gains(dataset, task, method string) (Gain, bool) {
	g, ok := allDetails()[dataset][figureVariant][task].Gains[method]
	if g.TasksWon != nil {
		won := *g.TasksWon
		g.TasksWon = &won
	}
	return g, ok
}

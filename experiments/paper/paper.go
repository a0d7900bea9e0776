// Package paper holds the numbers that the paper prints, to be shown beside our
// own: "Domain Adaptation with Conditional Distribution Matching and Generalized
// Label Shift", NeurIPS 2020.
//
// Data sets are digits, visda, office31 and officehome; variants full and
// subsampled; tasks <source>-<target>, and methods, go by the names that experiments give
// them. What is returned must not be changed.
package paper

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"gopkg.in/yaml.v3"
)

// Average stands for a task in lookups and means the average over all tasks, as
// the paper prints it.
const Average = "average"

//go:embed tables.yaml
var tablesYAML []byte

// table is what the paper prints of one variant of a data set.
type table struct {
	Tasks   []string          `yaml:"tasks"`
	JSD     []float64         `yaml:"jsd"` // of the label distributions, natural logarithm; a test derives them
	Methods map[string]record `yaml:"methods"`
}

// record is a row of a table. Lists are empty where the paper has no number.
type record struct {
	Accuracy    []float64 `yaml:"accuracy"`
	Average     float64   `yaml:"average"`
	Wins        []float64 `yaml:"wins"`
	AverageWins *float64  `yaml:"average_wins"`
	Note        string    `yaml:"note"`
}

// tables maps data sets and variants to tables.
var tables = sync.OnceValue(func() map[string]map[string]table {
	return decode[map[string]map[string]table](tablesYAML)
})

// decode panics on an error, since the text is part of the program.
func decode[T any](text []byte) T {
	var value T
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&value); err != nil {
		panic(fmt.Sprintf("paper: embedded data: %v", err))
	}
	return value
}

// Tasks returns the tasks of the data set in the order of the paper's columns,
// and nil if the paper does not have it.
func Tasks(dataset, variant string) []string {
	return tables()[dataset][variant].Tasks
}

// Accuracy returns the printed accuracy in percent, the mean over 5 seeds of the
// best evaluation, of a task or, as Average, of all of them, and whether there is one.
func Accuracy(dataset, variant, task, method string) (percent float64, ok bool) {
	t := tables()[dataset][variant]
	r, ok := t.Methods[method]
	if task == Average {
		return r.Average, ok
	}
	return at(r.Accuracy, slices.Index(t.Tasks, task))
}

// Wins returns the printed share, in percent, of the seeds with which the method has
// a larger accuracy than its base, for a task or, as Average, for all tasks together, and whether there is one.
func Wins(dataset, variant, task, method string) (percent float64, ok bool) {
	t := tables()[dataset][variant]
	r := t.Methods[method]
	if task != Average {
		return at(r.Wins, slices.Index(t.Tasks, task))
	}
	if r.AverageWins == nil {
		return 0, false
	}
	return *r.AverageWins, true
}

// Note returns what a reader must know to compare with the printed row of that
// method, and "" where there is nothing to say.
func Note(dataset, variant, method string) string {
	return tables()[dataset][variant].Methods[method].Note
}

// at returns the element of that index and whether there is one.
func at(values []float64, index int) (float64, bool) {
	if index < 0 || index >= len(values) {
		return 0, false
	}
	return values[index], true
}

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
	return allDetails()[dataset][variant][task].TrueWeights
}

// Weights returns the printed estimate of the class weights in a run of the method,
// and whether there is one. They are those of the epoch whose Confusion is printed.
func Weights(dataset, variant, task, method string) (ClassWeights, bool) {
	w, ok := allDetails()[dataset][variant][task].Weights[method]
	return w, ok
}

// Confusion returns the printed predictions by class of a run of the method, and
// whether there are any.
func Confusion(dataset, variant, task, method string) (ConfusionTable, bool) {
	c, ok := allDetails()[dataset][variant][task].Confusion[method]
	return c, ok
}

// Gains returns the printed summary of the figure of gain against divergence for the
// method on the variations of a task, and whether there is one.
func Gains(dataset, task, method string) (Gain, bool) {
	g, ok := allDetails()[dataset][figureVariant][task].Gains[method]
	return g, ok
}

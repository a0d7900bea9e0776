package train

import (
	"fmt"
	"math/rand/v2"

	"iwda/datasets"
	"iwda/experiments/config"
)

// Task is the data of a run: the training sets of both domains and the target's test
// set. The target's labels serve evaluation and the oracles only.
type Task struct {
	Source, Target, Test datasets.Set
}

// LoadTask reads or draws the data of a run and subsamples the source where the
// variant says so.
func LoadTask(run config.Resolved) (Task, error) {
	source, target := run.Domains()
	load := func(domain string) (train, test datasets.Set, err error) {
		switch run.Dataset.Name {
		case "digits":
			return loadDigits(run.Dataset.Root, domain)
		case "glyphs":
			return drawGlyphs(run.Dataset, domain, run.Seed)
		}
		return nil, nil, fmt.Errorf("no data set %q", run.Dataset.Name)
	}
	var task Task
	var err error
	if task.Source, _, err = load(source); err != nil {
		return Task{}, err
	}
	if task.Target, task.Test, err = load(target); err != nil {
		return Task{}, err
	}
	if run.Variant == "subsampled" {
		fractions := datasets.HalfFractions(len(task.Source.ClassNames()), run.Dataset.Fraction)
		task.Source, err = datasets.Subsample(task.Source, fractions, rand.New(datasets.Stream(run.Seed, "subsample")))
	}
	return task, err
}

func loadDigits(root, domain string) (train, test datasets.Set, err error) {
	load := datasets.LoadMNIST
	if domain == "usps" {
		load = datasets.LoadUSPS
	}
	trainImages, testImages, err := load(root)
	if err != nil {
		return nil, nil, err
	}
	return trainImages, testImages, nil
}

func drawGlyphs(d config.Dataset, domain string, seed int64) (train, test datasets.Set, err error) {
	trainImages, err := datasets.DrawGlyphs(domain, "train", d.TrainPerClass, seed)
	if err != nil {
		return nil, nil, err
	}
	testImages, err := datasets.DrawGlyphs(domain, "test", d.TestPerClass, seed)
	if err != nil {
		return nil, nil, err
	}
	return trainImages, testImages, nil
}

// checkLabels refuses a source without images of a class: neither its loss nor its
// weight is defined.
func (t Task) checkLabels() error {
	for class, count := range datasets.Counts(t.Source) {
		if count == 0 {
			return fmt.Errorf("the source %s has no image of class %q; class weights need at least one of each",
				t.Source.Name(), t.Source.ClassNames()[class])
		}
	}
	return nil
}

// Package domains is the data of a run, a source and a target: it opens them, leaves out what the variant
// leaves out, and finds out whether they are those of finished runs.
package domains

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/experiments/config"
	"iwda/internal/printable"
)

// SubsampleTask returns the sets of a task as the variant says.
func SubsampleTask(run config.Resolved, task catalogue.Task) (source, target, test datasets.Set, err error) {
	k := len(task.Source.ClassNames())
	if n := len(run.Dataset.ClassFractions); n > 0 && n != k {
		return nil, nil, nil, fmt.Errorf("dataset.class_fractions has %s; %s has %s", printable.Count(n, "value"), run.Dataset.Name, printable.Count(k, "class"))
	}
	onSource, onTarget := ClassFractions(run, k)
	if source, err = subsample(task.Source, onSource, run.Seed, "subsample"); err != nil {
		return nil, nil, nil, err
	}
	if target, err = subsample(task.Target, onTarget, run.Seed, "subsample"); err != nil {
		return nil, nil, nil, err
	}
	test, err = subsample(task.Test, onTarget, run.Seed, "subsample test")
	return source, target, test, err
}

// Load reads or draws the training sets of both domains and the target's test set.
func Load(run config.Resolved) (catalogue.Task, error) {
	data, err := run.Dataset.Described()
	if err != nil {
		return catalogue.Task{}, err
	}
	from, to := run.Domains()
	return data.OpenTask(from, to, SourceOf(run))
}

// Unpublished says what of the data of a run is not as it was published, by the numbers of images of
// each class before any are left out; test is nil where it is the target.
func Unpublished(run config.Resolved, source, target, test []int) (problems []string) {
	data, err := run.Dataset.Described()
	if err != nil {
		return nil
	}
	from, to := run.Domains()
	for _, problem := range []string{data.Unpublished(from, source, nil), data.Unpublished(to, target, test)} {
		if problem != "" && !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	}
	return problems
}

// SourceOf says where the data in memory of a run come from.
func SourceOf(run config.Resolved) catalogue.Source {
	d := run.Dataset
	return catalogue.Source{Root: d.Root, Seed: run.Seed, TrainPerClass: d.TrainPerClass, TestPerClass: d.TestPerClass}
}

// ClassFractions returns the shares of each class that the variant keeps of the source
// and of the target, nil for all.
func ClassFractions(run config.Resolved, classes int) (source, target []float64) {
	switch {
	case run.Variant == config.Subsampled:
		return datasets.HalfFractions(classes, run.Dataset.Fraction), nil
	case config.FractionsDomain(run.Variant) == "source":
		return run.Dataset.ClassFractions, nil
	case config.FractionsDomain(run.Variant) == "target":
		return nil, run.Dataset.ClassFractions
	}
	return nil, nil
}

// subsample returns what the fractions keep of a set, all of it where there are none.
func subsample(set datasets.Set, fractions []float64, seed int64, purpose string) (datasets.Set, error) {
	if fractions == nil {
		return set, nil
	}
	return datasets.Subsample(set, fractions, rand.New(datasets.Stream(seed, purpose)))
}

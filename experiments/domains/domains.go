// Package domains is the data of a run, a source and a target: it opens them, leaves out what the variant
// leaves out, and finds out whether they are those of finished runs.
package domains

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/config"
	"iwda/internal/printable"
)

// SubsampleTask returns the sets of a task as the variant says, several sources joined.
func SubsampleTask(run config.Resolved, task catalogue.Task) (source, target, test datasets.Set, err error) {
	k := len(task.Source.ClassNames())
	if n := len(run.Dataset.ClassFractions); n > 0 && n != k {
		return nil, nil, nil, fmt.Errorf("dataset.class_fractions has %s; %s has %s", printable.Count(n, "value"), run.Dataset.Name, printable.Count(k, "class"))
	}
	onSource, onTarget := ClassFractions(run, k)
	sources := append([]datasets.Set{task.Source}, task.Others...)
	for i := range sources {
		if sources[i], err = subsample(sources[i], onSource, run.Seed, "subsample"); err != nil {
			return nil, nil, nil, err
		}
	}
	source = datasets.Join(sources...)
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
	d := run.Dataset
	return data.OpenTask(from[0], to, catalogue.Source{Root: d.Root, Seed: run.Seed, TrainPerClass: d.TrainPerClass, TestPerClass: d.TestPerClass}, from[1:]...)
}

// Classes returns those of a run's sources, as [catalogue.Dataset.ClassesOf] does.
func Classes(run config.Resolved) ([]string, error) {
	data, err := run.Dataset.Described()
	if err != nil {
		return nil, err
	}
	sources, _ := run.Domains()
	return data.ClassesOf(run.Dataset.Root, sources...)
}

// Unpublished says what of the data of a run is not as it was published, by the labels of each source and the
// numbers of images of each class before any are left out; test is nil where it is the target.
func Unpublished(run config.Resolved, sources []datasets.Labels, target, test []int) (problems []string) {
	data, err := run.Dataset.Described()
	if err != nil {
		return nil
	}
	from, to := run.Domains()
	of := []string{data.Unpublished(to, target, test)}
	for i, labels := range sources {
		of = slices.Insert(of, i, data.Unpublished(from[i], labels.Counts(len(target)), nil))
	}
	for _, problem := range of {
		if problem != "" && !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	}
	return problems
}

func unpublished(run config.Resolved, task catalogue.Task) []string {
	sources := []datasets.Labels{datasets.LabelsOf(task.Source)}
	for _, other := range task.Others {
		sources = append(sources, datasets.LabelsOf(other))
	}
	return Unpublished(run, sources, datasets.Counts(task.Target), datasets.Counts(task.Test))
}

// Part is a source of a run with several: its name, and its rows among those of all sources that are trained on.
type Part struct {
	Name string
	Rows []int
}

// PartsOf are the sources of a run by the number of the one that each row is from; nil where there is one, or
// where they count as one.
func PartsOf(run config.Resolved, of []int) (parts []Part) {
	if !run.Apart() {
		return nil
	}
	names, _ := run.Domains()
	for i, rows := range rowsOf(of, len(names)) {
		parts = append(parts, Part{names[i], rows})
	}
	return parts
}

// rowsOf are the rows that have each of n numbers.
func rowsOf(numbers []int, n int) [][]int {
	rows := make([][]int, n)
	for row, number := range numbers {
		rows[number] = append(rows[number], row)
	}
	return rows
}

// ByPart are labels that tell apart rows of several sources, of which each row has the number, with the names of
// all classes; without numbers they are as they were.
func ByPart(run config.Resolved, labels datasets.Labels, of []int, classes []string) (all datasets.Labels, names []string) {
	if of == nil {
		return labels, classes
	}
	sources, _ := run.Domains()
	for _, source := range sources {
		for _, class := range classes {
			names = append(names, class+" in "+source)
		}
	}
	for row, part := range of {
		class, known := labels.At(row)
		all.Add(part*len(classes)+class, known)
	}
	return all, names
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

// FindImages finds the image files of a run.
func FindImages(run config.Resolved) (catalogue.ImageTask, error) {
	data, err := run.Dataset.Described()
	if err != nil {
		return catalogue.ImageTask{}, err
	}
	from, to := run.Domains()
	return data.OpenImageTask(run.Dataset.Root, from[0], to, from[1:]...)
}

// CheckImages reads all images of a run and returns what
// there is to know of them ([images.Reader.Notes]). Files that cannot be read are an error that names
// them.
func CheckImages(ctx context.Context, run config.Resolved) (notes []string, err error) {
	task, err := FindImages(run)
	if err != nil {
		return nil, err
	}
	var broken []*images.FileError
	for _, set := range setsOf(task) {
		_, wrong, said, err := set.Inspect(ctx)
		if err != nil {
			return nil, err
		}
		broken, notes = append(broken, wrong...), append(notes, said...)
	}
	return notes, images.Unreadable(broken)
}

// setsOf are the sets of a task, each once.
func setsOf(task catalogue.ImageTask) []*images.Set {
	sets := []*images.Set{task.Source, task.Target}
	if task.Test != task.Target {
		sets = append(sets, task.Test)
	}
	return sets
}

// Fingerprint identifies the image files of a task.
func Fingerprint(task catalogue.ImageTask) (string, error) {
	sum := sha256.New()
	for _, set := range setsOf(task) {
		of, err := set.Fingerprint()
		if err != nil {
			return "", err
		}
		io.WriteString(sum, of)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

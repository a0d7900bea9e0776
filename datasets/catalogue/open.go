package catalogue

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"

	"iwda/datasets"
	"iwda/datasets/images"
	"iwda/datasets/table"
	"iwda/internal/convert"
)

// Source says where a data set in memory comes from. Each data set uses the fields that
// it needs.
type Source struct {
	Root string // folder of the files
	// Of data that are drawn: the seed, and the numbers of rows of each class.
	Seed                        int64
	TrainPerClass, TestPerClass int
}

// Task is the data of a task: the training sets of both domains, and the target's test
// set, which is the target itself where that has none. The three have rows of one shape
// and the same classes. [Task.Close] gives back what they hold.
type Task struct {
	Source, Target, Test datasets.Set
	Others               []datasets.Set // further sources
	// Learnt is how columns of the user's files became values that are not numbers alone.
	Learnt table.Learnt
	files  []io.Closer
}

// Origins are those of the values of rows of the user's files: see [table.Reference]; nil for none.
func (t Task) Origins() []float64 {
	if rows, is := t.Source.(*table.Rows); is {
		return rows.Origins()
	}
	return nil
}

// Decimal is the sign before fractions in the user's files of the target, or else of the source; "" if it is
// not known.
func (t Task) Decimal() (sign string) {
	for _, set := range []datasets.Set{t.Source, t.Target} {
		if rows, is := set.(*table.Rows); is {
			of, _ := rows.Decimal()
			sign = cmp.Or(of, sign)
		}
	}
	return sign
}

// Close closes the files of the sets, which must not be used any more.
func (t Task) Close() error {
	return errors.Join(convert.Each(t.files, io.Closer.Close)...)
}

// OpenTask reads or draws the data of a task, of which others are further sources. Sets that do not go
// together are an error that names them.
func (d Dataset) OpenTask(source, target string, from Source, others ...string) (task Task, err error) {
	if d.Kind == ImageFiles {
		return Task{}, d.otherKind()
	}
	if d.Named() { // sets that have to know of each other
		return d.openTask(source, target, from, others)
	}
	var targetErr error
	var opening sync.WaitGroup
	opening.Go(func() { task.Target, targetErr = d.open(target, trainSplit, from) })
	task.Source, err = d.open(source, trainSplit, from)
	for _, other := range others {
		set, otherErr := d.open(other, trainSplit, from)
		task.Others, err = append(task.Others, set), cmp.Or(err, otherErr)
	}
	onTest, testErr := d.open(target, testSplit, from)
	opening.Wait()
	if err = cmp.Or(err, targetErr, testErr); err != nil {
		return Task{}, err
	}
	if task.Test = onTest; onTest == nil {
		task.Test = task.Target
	}
	return task, nil
}

// OpenImages finds the files of a domain of a data set of [ImageFiles].
func (d Dataset) OpenImages(root, domain string) (*images.Set, error) {
	return d.openImages(root, domain, nil)
}

// openImages is [Dataset.OpenImages] of images of these classes, nil for those that a user's own have.
func (d Dataset) openImages(root, domain string, classes []string) (*images.Set, error) {
	if d.Kind != ImageFiles {
		return nil, d.otherKind()
	}
	if d.Named() {
		files, err := d.files.domain(domain)
		if err != nil {
			return nil, err
		}
		return images.OpenOwn(below(root, files.Path), classes)
	}
	return d.published(root, domain)
}

// ImageTask is the images of a task: of both domains, and of the target's test set, which
// is the target itself where that has none.
type ImageTask struct{ Source, Target, Test *images.Set }

// OpenImageTask finds the files of a task of a data set of [ImageFiles], of which others are further
// sources, joined to the first. All sets have the classes of all sources.
func (d Dataset) OpenImageTask(root, source, target string, others ...string) (task ImageTask, err error) {
	var all []*images.Set
	var classes [][]string
	open := func(of []string) error {
		all, classes = nil, nil
		for _, name := range append([]string{source}, others...) {
			set, err := d.openImages(root, name, of)
			if err == nil && len(set.ClassNames()) == 0 {
				err = fmt.Errorf("%s: no image has a label; the source needs labels", set.Name())
			}
			if err != nil {
				return err
			}
			all, classes = append(all, set), append(classes, set.ClassNames())
		}
		return nil
	}
	if err = open(nil); err == nil && d.Named() && len(others) > 0 {
		err = open(table.JoinClasses(classes...))
	}
	if err != nil {
		return ImageTask{}, err
	}
	task.Source = images.Join(all...)
	if d.Named() {
		return d.files.openImageTask(root, target, task.Source)
	}
	task.Target, err = d.OpenImages(root, target)
	task.Test = task.Target
	return task, err
}

func (d Dataset) otherKind() error {
	if d.Kind == ImageFiles {
		return fmt.Errorf("data set %s consists of image files, not of values in memory", d.Name)
	}
	return fmt.Errorf("data set %s consists of values in memory, not of image files", d.Name)
}

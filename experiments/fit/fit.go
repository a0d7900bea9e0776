// Package fit makes a run without steps and without libtorch: a classifier of rows of numbers that a
// learner finds, on the source alone. What it leaves is what other runs leave, with the model itself in the place of a
// checkpoint.
package fit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/measure"
	"iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/internal/system"
	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/learners/perceptron"
	"iwda/learners/regression"
	"iwda/nets/architecture"
)

// learnersOf are the learners by the names of their networks.
var learnersOf = map[architecture.Name]learners.Learner{
	architecture.Linear: regression.Fit, architecture.Forest: forest.Fit, architecture.Boosting: boosting.Usual().Fit, architecture.Perceptron: perceptron.Usual().Fit,
}

// CheckClasses returns an error if a run's learner does not take so many classes.
func CheckClasses(run config.Resolved, classes int) error {
	err, name := learners.CheckClasses(classes), architecture.Name(run.Network.Name)
	if err == nil || name == architecture.Linear || !name.Learnt() {
		return nil
	}
	return fmt.Errorf("%s cannot be made of %s: %w; choose another network, such as linear", run.Method, run.Task, err)
}

// Options are what a run is told beside its configuration. None of them changes a result.
type Options struct {
	Threads int       // 0 means 1
	Log     io.Writer // takes a line for each noteworthy event; nil discards them
}

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", args...)
	}
}

// Run makes a run of which [config.Resolved.WithoutSteps] and writes its files to dir, which must have been begun. An
// error is that of a cancelled context, of data, of a learner, or of the disk.
//
// The learner learns from all rows of the source. What stands for held-out rows are those by
// classifiers of the others, which cross-validation leaves, or by the trees of a forest that have not drawn
// them; what these say of the target's rows is compared with that.
func Run(ctx context.Context, run config.Resolved, dir store.Dir, options Options) (result store.Result, err error) {
	started := time.Now()
	options.Threads = max(1, options.Threads)
	data, err := domains.Open(run, false)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	shares, err := measure.NewShares(run, &data.About)
	if err != nil {
		return result, err
	}
	m, crossed, err := learn(ctx, run, data, options)
	if err != nil {
		return result, err
	}
	pass := func(set datasets.Set) measure.Pass {
		return func(ctx context.Context, takers ...measure.Taker) error {
			return eachRows(ctx, set, func(values []float32, labels datasets.Labels) error {
				b := measure.Batch{Logits: convert.Slice[float32](m.Logits(values, data.Shape[0], options.Threads)), Labels: labels}
				for _, t := range takers {
					if err := t.Take(b); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	finished := measure.Finished{
		Run: run, About: &data.About, Shares: shares, Sets: measure.Sets{Test: pass(data.Test), Crossed: crossed}, Source: pass(data.Source), Logf: options.logf,
	}
	if crossed != nil {
		finished.Columns = func(ctx context.Context, source func([]float32, []int), target func([]float32)) error {
			err := eachRows(ctx, data.Source, func(values []float32, labels datasets.Labels) error { source(values, labels.Classes()); return nil })
			if err != nil {
				return err
			}
			return eachRows(ctx, judged(data.Test), func(values []float32, _ datasets.Labels) error { target(values); return nil })
		}
	}
	seen, err := measure.Observe(ctx, &data.About, finished.Sets, finite{})
	if err != nil {
		return result, err
	}
	finished.Seen = seen
	line := store.Metrics{
		LearningRate: run.Train.Optimizer.LR, Seconds: time.Since(started).Seconds(),
		Accuracy: seen.OnTest.Accuracy(), MeanClassAccuracy: seen.OnTest.MeanClassAccuracy(),
		ClassificationLoss: math.NaN(), DomainLoss: math.NaN(), TotalLoss: math.NaN(),
	}
	shares.Describe(&line)
	seen.Describe(&line)
	if err := errors.Join(dir.WriteMetrics([]store.Metrics{line}), dir.WriteWeights(nil), dir.WriteStatistics(store.Statistics{})); err != nil {
		return result, err
	}
	result = store.Result{Machine: measure.Machine(), Device: "cpu", BestAccuracy: line.Accuracy, LastAccuracy: line.Accuracy, MeanClassAccuracy: line.MeanClassAccuracy}
	if line.Accuracy.Measured {
		result.BestEpoch, result.Confusion = store.Measured(0), seen.OnTest
	}
	about := model.Learnt(m)
	about.Input, about.Normalisation, about.Versions = measure.Input(run, &data.About), data.Normalisation, measure.Versions()
	err = finished.Conclude(ctx, dir, &result, about.Metadata, finite{}, func(m model.Metadata) error {
		about.Metadata = m
		return about.WriteBeside(dir.Disk(), dir.String())
	})
	if err != nil {
		return store.Result{}, err
	}
	result.Seconds, result.PeakMemoryBytes = time.Since(started).Seconds(), system.PeakMemory()
	return result, dir.WriteResult(result)
}

// learn returns the model, and what others say of rows that they have not learnt from, if the run asks for that.
func learn(ctx context.Context, run config.Resolved, data *domains.Rows, options Options) (learners.Model, *measure.Crossed, error) {
	k := len(data.Classes)
	rows := learners.Rows{Classes: k, Words: data.Encoding.Words(), Groups: data.Groups.Source, Labels: data.Labels.Source.Classes(), Values: valuesOf(data.Source)}
	var others []float32
	if run.Train.Validation > 0 {
		others = valuesOf(judged(data.Test))
	}
	name := architecture.Name(run.Network.Name)
	fitted, err := learnersOf[name](ctx, rows, others, options.Threads, datasets.Stream(run.Seed, run.Network.Name))
	if err != nil {
		return nil, nil, err
	}
	if solved, is := fitted.Model.(regression.Classifier); is {
		options.logf("solved with C = %v", solved.C)
	}
	if run.Train.Validation == 0 {
		return fitted.Model, nil, nil
	}
	crossed := &measure.Crossed{
		HeldOut: &measure.Outputs{Width: k, Logits: convert.Slice[float32](fitted.Crossed.Logits), Labels: evenly.Pick(rows.Labels, fitted.Crossed.Rows), Rows: fitted.Crossed.Rows},
		Target:  &measure.Outputs{Width: k, Logits: convert.Slice[float32](fitted.Crossed.InTurn(k))},
	}
	if rows.Groups != nil {
		crossed.HeldOut.Groups = evenly.Pick(rows.Groups, fitted.Crossed.Rows)
	}
	if groups := data.Groups.Test; groups != nil {
		crossed.Target.Groups = evenly.Pick(groups, store.JudgedRows(len(groups)))
	}
	return fitted.Model, crossed, nil
}

// judged are those rows of a test set by which runs are judged.
func judged(test datasets.Set) datasets.Set {
	return datasets.Subset(test, store.JudgedRows(test.Len()))
}

// valuesOf are all values of a set, row after row.
func valuesOf(set datasets.Set) []float32 {
	values := make([]float32, set.Len()*datasets.Size(set.Shape()))
	datasets.CopyRows(values, set, evenly.All(set.Len()))
	return values
}

// eachRows hands over the rows of a set part by part.
func eachRows(ctx context.Context, set datasets.Set, take func(values []float32, labels datasets.Labels) error) error {
	const most = 512 // rows at once
	size := datasets.BatchRows(most, set.Len(), set.Shape())
	for rows := range slices.Chunk(evenly.All(set.Len()), size) {
		part := datasets.Subset(set, rows)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := take(valuesOf(part), datasets.LabelsOf(part)); err != nil {
			return err
		}
	}
	return nil
}

// finite ends at a logit that is not a finite number.
type finite struct{}

func (finite) Take(b measure.Batch) error {
	for _, logit := range b.Logits {
		if logit-logit != 0 {
			return fmt.Errorf("the classifier says %v of a row; values that are much larger than others may be wrong", logit)
		}
	}
	return nil
}

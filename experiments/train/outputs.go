package train

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/torch"
)

// Outputs are the logits that the network of a finished run gives in evaluation mode, by
// which it can be judged without labels of the target; k classes.
type Outputs struct {
	HeldOut []float64 // of the source's rows that were held out (n×k)
	Labels  []int     // their n classes
	Target  []float64 // of the target's test rows (m×k)
}

// errNothingHeldOut says that there is nothing to judge a run by.
var errNothingHeldOut = errors.New("no row of its source was held out; set train.validation")

// ReadOutputs computes the outputs of the finished run of the folder, whose data must be
// what they were. Of the target it takes every nth row, at most as many as asked for.
func ReadOutputs(ctx context.Context, run config.Resolved, dir store.Dir, mostTargets int, options Options) (outputs Outputs, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = try(func() (err error) {
		torch.SetThreads(options.Threads)
		m, d, err := openModelAndData(ctx, run, options)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.close()) }()
		if d.onHeldOut == nil {
			return errNothingHeldOut
		}
		if err := loadCheckpoint(m.network.State(), dir.Path(store.CheckpointFile)); err != nil {
			return err
		}
		m.network.State().Move(torch.Float32, options.Device)
		e := evaluator{network: m.evaluated, batchSize: run.Train.EvalBatch, device: options.Device}
		heldOut, target := logits{every: 1}, logits{every: 1}
		if err := e.evaluate(ctx, d.onHeldOut, &heldOut); err != nil {
			return err
		}
		if d.tests > mostTargets {
			target.every = (d.tests + mostTargets - 1) / mostTargets
		}
		if err := e.evaluate(ctx, d.onTest, &target); err != nil {
			return err
		}
		outputs = Outputs{HeldOut: heldOut.values, Labels: heldOut.labels, Target: target.values}
		return nil
	})
	if err != nil {
		return Outputs{}, fmt.Errorf("%s: %w", dir, err)
	}
	return outputs, nil
}

// logits keeps those of every nth row, with the labels that are known.
type logits struct {
	every  int
	rows   int // seen
	values []float64
	labels []int
}

func (l *logits) take(o rowOutputs) error {
	k := o.logits.Shape()[1]
	values := torch.ToSlice[float64](o.logits.To(torch.Float64, torch.CPU))
	for i := range len(values) / k {
		if l.rows++; (l.rows-1)%l.every != 0 {
			continue
		}
		l.values = append(l.values, values[i*k:(i+1)*k]...)
		if class, known := o.labels.At(i); known {
			l.labels = append(l.labels, class)
		}
	}
	return nil
}

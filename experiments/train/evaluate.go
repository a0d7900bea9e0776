package train

import (
	"context"
	"math"
	"strings"

	"iwda/datasets"
	"iwda/experiments/measure"
	"iwda/nets"
	"iwda/torch"
)

// evaluator passes sets of rows through a network in evaluation mode.
type evaluator struct {
	forward   func(rows torch.Tensor) torch.Tensor
	batchSize int
	device    torch.Device
	alive     func() // called when a batch has been dealt with
}

// logitsOf is what an evaluator asks of a network for its logits.
func logitsOf(network nets.Network) func(rows torch.Tensor) torch.Tensor {
	return func(rows torch.Tensor) torch.Tensor {
		_, logits := network.Forward(rows, false)
		return logits
	}
}

// evaluate passes all rows of a set through the network once and hands what it says of
// them to every taker in turn. It ends at the first error.
func (e evaluator) evaluate(ctx context.Context, set rowReader, takers ...measure.Taker) error {
	for b, err := range set.batches(ctx, e.batchSize) {
		if err != nil {
			return err
		}
		torch.Tidy(func() {
			torch.NoGrad(func() {
				o := measure.Batch{Logits: torch.ToSlice[float32](e.forward(b.tensor(e.device))), Labels: b.labels}
				for _, t := range takers {
					if err = t.Take(o); err != nil {
						return
					}
				}
			})
		})
		if err != nil {
			return err
		}
		e.alive()
	}
	return nil
}

// features returns what comes out of a set of rows as a set of that name.
func (e evaluator) features(ctx context.Context, name string, rows rowReader, classNames []string) (*datasets.Features, error) {
	all := &measure.Outputs{}
	if err := e.evaluate(ctx, rows, all); err != nil {
		return nil, err
	}
	var labels datasets.Labels
	for _, class := range all.Labels {
		labels.Add(max(0, class), class >= 0)
	}
	return datasets.NewFeatures(name, all.Logits, labels, classNames)
}

// pass is that of a set through the network; nil for no set.
func (e evaluator) pass(set rowReader) measure.Pass {
	if set == nil {
		return nil
	}
	return func(ctx context.Context, takers ...measure.Taker) error { return e.evaluate(ctx, set, takers...) }
}

// sets are those of the data through the network.
func (e evaluator) sets(d *data) measure.Sets {
	return measure.Sets{Test: e.pass(d.onTest), HeldOut: e.pass(d.onHeldOut)}
}

// finite ends at an output that is not a finite number.
type finite struct{ step int }

func (f finite) Take(o measure.Batch) error {
	sum := 0.0
	for _, logit := range o.Logits {
		sum += float64(logit)
	}
	return f.check("network's output in evaluation", sum)
}

// check returns a [*DivergedError] if the sum of some numbers is not finite.
func (f finite) check(term string, sum float64) error {
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return &DivergedError{term, sum, f.step}
	}
	return nil
}

// mustBeFinite tells what training changes, among it running means and variances, from other buffers
// of a user's module, of which some are meant to be infinite, such as masks of attention.
func mustBeFinite(e nets.Entry) bool {
	return e.Trained || strings.HasSuffix(e.Name, "running_mean") || strings.HasSuffix(e.Name, "running_var")
}

// checkFinite returns a [*DivergedError] if a tensor has a value that is not finite.
func checkFinite(term string, x torch.Tensor, step int) (err error) {
	torch.Tidy(func() {
		err = finite{step}.check(term, x.Detach().To(torch.Float64, torch.CPU).Sum().Item())
	})
	return err
}

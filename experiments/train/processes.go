package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/nets"
	"iwda/torch"
)

// processes are those that make one run together, each on its share of every batch: with n
// of them, rows i·B/n to (i+1)·B/n of both domains are those of process i. Each has a copy
// of the network and makes the same steps with it, because gradients are averaged; the
// first one writes the run's files. The zero value is this process alone.
//
// What they compute is what one process does on the whole batch, up to rounding, but for
// dropout, which each draws for itself, and what each takes of its own rows: the number that
// discriminator.normalise: shared divides by, and the statistics of batch normalisation.
type processes struct{ group *torch.ProcessGroup }

func (p processes) alone() bool { return p.group == nil }

// first reports whether this process writes the files.
func (p processes) first() bool { return p.alone() || p.group.Rank() == 0 }

func (p processes) size() int {
	if p.alone() {
		return 1
	}
	return p.group.Size()
}

// check refuses runs that several processes cannot make.
func (p processes) check(run config.Resolved, method config.Method) error {
	comparing := []config.Alignment{config.DAN, config.JAN, config.MCC, config.BNM}
	switch n := p.size(); {
	case n == 1:
		return nil
	case run.Train.Batch%n != 0:
		return fmt.Errorf("train.batch is %d rows of each domain, which %d processes cannot share evenly", run.Train.Batch, n)
	case run.Train.Batch == n && strings.HasPrefix(run.Network.Name, "resnet") && !run.Network.Frozen:
		return fmt.Errorf("train.batch is %d rows of each domain, of which each of %d processes has one; the batch normalisation of %s needs two", run.Train.Batch, n, run.Network.Name)
	case slices.Contains(comparing, method.Alignment):
		return fmt.Errorf("%s compares all rows of a batch with each other, which %d processes cannot do, each with a share of them", method.Name, n)
	}
	return nil
}

// share returns this process's rows of a batch.
func (p processes) share(b batch) batch {
	if p.alone() {
		return b
	}
	rows, size := b.rows()/p.size(), datasets.Size(b.shape)
	from := p.group.Rank() * rows
	return batch{
		shape:  b.shape,
		source: b.source.part(from*size, rows*size), target: b.target.part(from*size, rows*size),
		labels: b.labels[from:][:rows],
	}
}

// total completes a sum over rows of this process to that over the rows of all; it is
// constant to autograd.
func (p processes) total(x torch.Tensor) torch.Tensor {
	if p.alone() {
		return x
	}
	sum := x.Detach().Clone()
	p.group.Sum(sum)
	return sum
}

// allMean returns, in each row's place, the mean over the rows of all processes, for a loss
// that takes no more than the mean of them; alone, the rows themselves.
func (p processes) allMean(rows torch.Tensor) torch.Tensor {
	if p.alone() {
		return rows
	}
	n := rows.Len()
	mean := p.total(rows.Sum()).Scale(1 / float64(n*p.size()))
	return mean.Reshape(1).IndexSelect(0, torch.Full(0, torch.Int64, rows.Device(), n))
}

// mean returns the mean over the processes of a value.
func (p processes) mean(x torch.Tensor) torch.Tensor {
	if p.alone() {
		return x
	}
	mean := x.Detach().Clone()
	p.group.Mean(mean)
	return mean
}

// averageGradients makes those of the parameters what they are for the mean of the
// processes' losses.
func (p processes) averageGradients(parameters []torch.Tensor) {
	if p.alone() {
		return
	}
	var gradients []torch.Tensor
	for _, parameter := range parameters {
		if gradient, ok := parameter.Grad(); ok {
			gradients = append(gradients, gradient)
		}
	}
	p.group.Mean(gradients...)
}

// wholeBatch returns the predictions for the rows of all processes, source rows first, in
// the order of the batch.
func (p processes) wholeBatch(f stepOutputs) torch.Tensor {
	if p.alone() {
		return f.probabilities
	}
	source, target := f.split(f.probabilities)
	return torch.Cat(0, p.group.Gather(source), p.group.Gather(target))
}

// copyOfFirst gives all processes the first one's values: of parameters at the start, in
// case machines initialise differently, and of running statistics before they are used.
func (p processes) copyOfFirst(state nets.State) {
	if p.alone() {
		return
	}
	var tensors []torch.Tensor
	for _, e := range state {
		if e.Tensor.DType() == torch.Float32 {
			tensors = append(tensors, e.Tensor)
		}
	}
	p.group.Broadcast(0, tensors...)
}

// seedDropout lets the other processes draw other dropout than the first one, whose draws
// go on from step to step and are in the checkpoint: theirs follow from the step.
func (p processes) seedDropout(random *torch.Random, seed int64, step int) {
	if !p.first() {
		random.Seed(datasets.Stream(seed, fmt.Sprintf("dropout of process %d in step %d", p.group.Rank(), step)).Uint64())
	}
}

// agreement is the number of steps between two moments at which the processes tell each
// other whether one of them was asked to stop; on GPUs each waits for what was computed.
const agreement = 10

// stopping returns the error of a context that was cancelled, of any of the processes,
// so that all of them stop after the same step.
func (p processes) stopping(ctx context.Context, done int) (err error) {
	if p.alone() {
		return ctx.Err()
	}
	if done%agreement != 0 {
		return nil
	}
	asked := 0.0
	if ctx.Err() != nil {
		asked = 1
	}
	torch.Tidy(func() {
		if flag := torch.Full(asked, torch.Float32, p.group.Device(), 1); p.total(flag).Item() > 0 {
			err = context.Canceled
		}
	})
	return err
}

// sameStep is an error where the processes go on from different steps.
func (p processes) sameStep(done int) (err error) {
	if p.alone() {
		return nil
	}
	torch.Tidy(func() {
		steps := p.group.Gather(torch.FromSlice([]int64{int64(done)}, 1).To(torch.Int64, p.group.Device()))
		for rank, step := range torch.ToSlice[int64](steps.To(torch.Int64, torch.CPU)) {
			if int(step) != done {
				err = fmt.Errorf("process %d continues from step %d, but process %d from step %d: the folder of results must be the same for all",
					p.group.Rank(), done, rank, step)
			}
		}
	})
	return err
}

// wait returns when all processes have come as far.
func (p processes) wait() {
	if !p.alone() {
		p.group.Wait()
	}
}

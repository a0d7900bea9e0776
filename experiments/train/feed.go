package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"iwda/datasets"
	"iwda/datasets/images"
	"iwda/experiments/checkpoint"
	"iwda/torch"
)

// feed gives the batches of a run. It reads no label of the target.
type feed interface {
	part // of a run: all that the next batches depend on
	// next returns the next batch, whose memory is the feed's until the call after.
	next(ctx context.Context) (batch, error)
	// passSteps is the number of steps that count as a pass over the source.
	passSteps() int
	close() error
}

// batch holds rows of both domains, the same number of each.
type batch struct {
	shape          []int // of one row
	source, target rowValues
	labels         []int64 // of the source rows
}

func (b batch) rows() int { return len(b.labels) }

// images returns the rows of both domains as tensors on the device.
func (b batch) images(device torch.Device) (source, target torch.Tensor) {
	shape := append([]int{b.rows()}, b.shape...)
	return b.source.tensor(device, shape...), b.target.tensor(device, shape...)
}

// classes returns the source labels.
func (b batch) classes() []int {
	classes := make([]int, b.rows())
	for i, label := range b.labels {
		classes[i] = int(label)
	}
	return classes
}

// drawn draws the batches of both domains from sets in memory.
type drawn struct {
	source, target     datasets.Set
	onSource, onTarget sampler
	batch              batch
	steps              int // of a pass
}

// sampler says which rows of a set come next.
type sampler interface {
	next(rows int) []int // valid until the next call
	state() checkpoint.Sampler
	restore(checkpoint.Sampler) error
}

func newDrawn(source, target datasets.Set, onSource, onTarget sampler, rows, steps int) *drawn {
	size := rows * datasets.Size(source.Shape())
	return &drawn{
		source: source, target: target, onSource: onSource, onTarget: onTarget, steps: steps,
		batch: batch{
			shape: source.Shape(), source: rowValues{floats: make([]float32, size)}, target: rowValues{floats: make([]float32, size)}, labels: make([]int64, rows),
		},
	}
}

func (d *drawn) next(context.Context) (batch, error) {
	rows := d.onSource.next(d.batch.rows())
	datasets.CopyRows(d.batch.source.floats, d.source, rows)
	datasets.CopyLabels(d.batch.labels, d.source, rows)
	datasets.CopyRows(d.batch.target.floats, d.target, d.onTarget.next(d.batch.rows()))
	return d.batch, nil
}

func (d *drawn) save(s *saving) {
	s.Feed = checkpoint.Feed{FromSource: d.onSource.state(), FromTarget: d.onTarget.state()}
}

func (d *drawn) restore(r *restoring) error {
	return errors.Join(d.onSource.restore(r.Feed.FromSource), d.onTarget.restore(r.Feed.FromTarget))
}

func (d *drawn) passSteps() int { return d.steps }
func (d *drawn) close() error   { return nil }

// newResampled draws every batch with replacement, as the released code does for digits. A
// pass is an epoch: as many steps as fill the larger set.
func newResampled(source, target datasets.Set, rows int, seed int64) *drawn {
	of := func(set datasets.Set, purpose string) sampler {
		return newResampler(set.Len(), rows, datasets.Stream(seed, purpose))
	}
	return newDrawn(source, target, of(source, "source batches"), of(target, "target batches"), rows, max(source.Len(), target.Len())/rows)
}

// resampler draws rows of a set of n uniformly with replacement.
type resampler struct {
	n         int
	generator *rand.PCG
	random    *rand.Rand // draws from it
	rows      []int
}

func newResampler(n, rows int, generator *rand.PCG) resampler {
	return resampler{n, generator, rand.New(generator), make([]int, rows)}
}

func (r resampler) next(int) []int {
	for i := range r.rows {
		r.rows[i] = r.random.IntN(r.n)
	}
	return r.rows
}

func (r resampler) state() checkpoint.Sampler {
	return checkpoint.Sampler{Generator: marshal(r.generator)}
}

func (r resampler) restore(s checkpoint.Sampler) error {
	return r.generator.UnmarshalBinary(s.Generator)
}

// newShuffled takes batches without replacement from sets of which there are several views of
// each row: the first n rows, then the same rows once more. A pass draws one view of each row
// in a new order and leaves out the last incomplete batch; the next pass takes the next view.
func newShuffled(source, target datasets.Set, views, rows int, seed int64) *drawn {
	of := func(set datasets.Set, purpose string) sampler {
		return &shuffler{rows: set.Len() / views, views: views, generator: datasets.Stream(seed, purpose)}
	}
	return newDrawn(source, target, of(source, "source batches"), of(target, "target batches"), rows, source.Len()/views/rows)
}

// shuffler draws rows without replacement, one view of each in a pass.
type shuffler struct {
	rows, views int // rows of one view
	generator   *rand.PCG
	order       []int // what is left of the pass
	passes      int   // begun
}

// next begins a new pass where what is left does not suffice.
func (s *shuffler) next(n int) []int {
	if len(s.order) < n {
		s.order = rand.New(s.generator).Perm(s.rows)
		for i := range s.order {
			s.order[i] += s.passes % s.views * s.rows
		}
		s.passes++
	}
	rows := s.order[:n]
	s.order = s.order[n:]
	return rows
}

func (s *shuffler) state() checkpoint.Sampler {
	return checkpoint.Sampler{Generator: marshal(s.generator), Order: s.order, Passes: s.passes}
}

func (s *shuffler) restore(state checkpoint.Sampler) error {
	for _, row := range state.Order {
		if all := s.rows * s.views; row < 0 || row >= all {
			return fmt.Errorf("row %d of %d is to come", row, all)
		}
	}
	s.order, s.passes = slices.Clone(state.Order), state.Passes
	return s.generator.UnmarshalBinary(state.Generator)
}

// marshal returns the state of a generator, which can always be saved.
func marshal(generator *rand.PCG) []byte {
	state, err := generator.MarshalBinary()
	if err != nil {
		panic("train: " + err.Error())
	}
	return state
}

// loaded takes the batches of image files from one loader a domain, each of which
// starts over on its own.
type loaded struct {
	source, target           *images.Loader
	sourceLabels             datasets.Labels // of all images of the source
	labels                   []int64         // of the source's last batch
	sourceBatch, targetBatch *images.Batch   // handed out last
	batches                  int             // handed out
	shape                    []int           // of an image
}

// newLoaded gives augmented images, which are read while the run trains.
func newLoaded(source, target *imageDomain) (l *loaded, err error) {
	l = &loaded{sourceLabels: source.reader.Set().Labels(), shape: cropShape(source.run)}
	if l.source, err = source.loader("source"); err != nil {
		return nil, err
	}
	l.target, err = target.loader("target")
	return l, err
}

func (l *loaded) next(ctx context.Context) (batch, error) {
	if l.sourceBatch != nil {
		l.source.Release(l.sourceBatch)
		l.target.Release(l.targetBatch)
		l.sourceBatch, l.targetBatch = nil, nil
	}
	source, err := l.source.Next(ctx)
	if err != nil {
		return batch{}, err
	}
	target, err := l.target.Next(ctx)
	if err != nil {
		return batch{}, err
	}
	l.sourceBatch, l.targetBatch = source, target
	l.batches++
	l.labels = l.labels[:0]
	for _, row := range source.Rows {
		class, _ := l.sourceLabels.At(row) // all are known, see data.check
		l.labels = append(l.labels, int64(class))
	}
	return batch{shape: l.shape, source: valuesOf(source), target: valuesOf(target), labels: l.labels}, nil
}

// valuesOf are those of a batch of images.
func valuesOf(b *images.Batch) rowValues { return rowValues{b.Values, b.Bytes} }

// save counts the batches that both loaders gave: a step that was interrupted
// between the two took none.
func (l *loaded) save(s *saving) { s.Feed.Batches = l.batches }

func (l *loaded) restore(r *restoring) error {
	if l.batches = r.Feed.Batches; l.batches < 0 {
		return fmt.Errorf("%d batches were handed out", l.batches)
	}
	l.source.Seek(l.batches)
	l.target.Seek(l.batches)
	return nil
}

func (l *loaded) passSteps() int { return l.source.BatchesPerPass() }

func (l *loaded) close() error {
	l.source.Close()
	l.target.Close()
	return nil
}

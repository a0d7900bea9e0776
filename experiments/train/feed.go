package train

import (
	"context"
	"encoding"
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
	// next returns the next batch, whose memory is the feed's until the call after.
	next(ctx context.Context) (batch, error)
	// state returns all that the next batches depend on, for restore.
	state() checkpoint.Feed
	// restore makes the batches follow that another feed of the same data and settings
	// would have returned after its state.
	restore(checkpoint.Feed) error
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

// feedPart is a feed as a part of a run.
type feedPart struct{ feed }

func (f feedPart) save(s *saving) { s.Feed = f.state() }

func (f feedPart) restore(r *restoring) error { return f.feed.restore(r.Feed) }

// resampled draws every batch with replacement from sets in memory, as the released
// code does for digits. A pass is an epoch: as many steps as fill the larger set.
type resampled struct {
	source, target               datasets.Set
	sourceSampler, targetSampler *datasets.WithReplacement
	indices                      []int
	batch                        batch
}

func newResampled(source, target datasets.Set, rows int, seed int64) *resampled {
	size := rows * datasets.Size(source.Shape())
	return &resampled{
		source: source, target: target,
		sourceSampler: datasets.NewWithReplacement(source.Len(), datasets.Stream(seed, "source batches")),
		targetSampler: datasets.NewWithReplacement(target.Len(), datasets.Stream(seed, "target batches")),
		indices:       make([]int, rows),
		batch: batch{
			shape: source.Shape(), source: rowValues{floats: make([]float32, size)}, target: rowValues{floats: make([]float32, size)}, labels: make([]int64, rows),
		},
	}
}

func (r *resampled) next(context.Context) (batch, error) {
	r.sourceSampler.Next(r.indices)
	datasets.CopyRows(r.batch.source.floats, r.source, r.indices)
	datasets.CopyLabels(r.batch.labels, r.source, r.indices)
	r.targetSampler.Next(r.indices)
	datasets.CopyRows(r.batch.target.floats, r.target, r.indices)
	return r.batch, nil
}

func (r *resampled) state() checkpoint.Feed {
	return checkpoint.Feed{Source: marshal(r.sourceSampler), Target: marshal(r.targetSampler)}
}

func (r *resampled) restore(s checkpoint.Feed) error {
	return errors.Join(r.sourceSampler.UnmarshalBinary(s.Source), r.targetSampler.UnmarshalBinary(s.Target))
}

// marshal returns the state of a generator of this project or of math/rand/v2, none of
// which has a state that cannot be saved.
func marshal(generator encoding.BinaryMarshaler) []byte {
	state, err := generator.MarshalBinary()
	if err != nil {
		panic("train: " + err.Error())
	}
	return state
}

func (r *resampled) passSteps() int { return max(r.source.Len(), r.target.Len()) / r.batch.rows() }
func (r *resampled) close() error   { return nil }

// loaded takes the batches of image files from one loader a domain, each of which
// starts over on its own.
type loaded struct {
	source, target           *images.Loader
	sourceLabels             datasets.Labels // of all images of the source
	labels                   []int64         // of the source's last batch
	sourceBatch, targetBatch *images.Batch   // handed out last
	batches                  int             // handed out
	crop                     int
	domains                  []*imageDomain // closed with the feed
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
	return batch{shape: []int{3, l.crop, l.crop}, source: valuesOf(source), target: valuesOf(target), labels: l.labels}, nil
}

// valuesOf are those of a batch of images.
func valuesOf(b *images.Batch) rowValues { return rowValues{b.Values, b.Bytes} }

// state counts the batches that both loaders gave: a step that was interrupted
// between the two took none.
func (l *loaded) state() checkpoint.Feed { return checkpoint.Feed{Batches: l.batches} }

func (l *loaded) restore(s checkpoint.Feed) error {
	if s.Batches < 0 {
		return fmt.Errorf("%d batches were handed out", s.Batches)
	}
	l.batches = s.Batches
	l.source.Seek(s.Batches)
	l.target.Seek(s.Batches)
	return nil
}

func (l *loaded) passSteps() int { return l.source.BatchesPerPass() }

func (l *loaded) close() error {
	l.source.Close()
	l.target.Close()
	var problems []error
	for _, domain := range l.domains {
		problems = append(problems, domain.close())
	}
	return errors.Join(problems...)
}

// shuffled takes batches without replacement from vectors in memory, of which there
// are several views of each row: the first n rows, then the same rows once more. A
// pass draws one view of each row in a new order and leaves out the last incomplete
// batch; the next pass takes the next view.
type shuffled struct {
	source, target shuffledSet
	batch          batch
}

type shuffledSet struct {
	set       datasets.Set
	rows      int // of one view
	generator *rand.PCG
	order     []int // what is left of the pass
	passes    int   // begun
}

func newShuffled(source, target datasets.Set, views, rows int, seed int64) *shuffled {
	size := rows * datasets.Size(source.Shape())
	of := func(set datasets.Set, purpose string) shuffledSet {
		return shuffledSet{set: set, rows: set.Len() / views, generator: datasets.Stream(seed, purpose)}
	}
	return &shuffled{
		source: of(source, "source batches"), target: of(target, "target batches"),
		batch: batch{
			shape: source.Shape(), source: rowValues{floats: make([]float32, size)}, target: rowValues{floats: make([]float32, size)}, labels: make([]int64, rows),
		},
	}
}

func (s *shuffled) next(context.Context) (batch, error) {
	n := s.batch.rows()
	rows := s.source.next(n)
	datasets.CopyRows(s.batch.source.floats, s.source.set, rows)
	datasets.CopyLabels(s.batch.labels, s.source.set, rows)
	datasets.CopyRows(s.batch.target.floats, s.target.set, s.target.next(n))
	return s.batch, nil
}

// next returns the next n rows of the pass, of a new one where they do not suffice.
func (s *shuffledSet) next(n int) []int {
	if len(s.order) < n {
		s.order = rand.New(s.generator).Perm(s.rows)
		view := s.passes % (s.set.Len() / s.rows)
		for i := range s.order {
			s.order[i] += view * s.rows
		}
		s.passes++
	}
	rows := s.order[:n]
	s.order = s.order[n:]
	return rows
}

func (s *shuffled) state() checkpoint.Feed {
	return checkpoint.Feed{
		Source: marshal(s.source.generator), SourceOrder: s.source.order, SourcePasses: s.source.passes,
		Target: marshal(s.target.generator), TargetOrder: s.target.order, TargetPasses: s.target.passes,
	}
}

func (s *shuffled) restore(state checkpoint.Feed) error {
	return errors.Join(
		s.source.restore(state.Source, state.SourceOrder, state.SourcePasses),
		s.target.restore(state.Target, state.TargetOrder, state.TargetPasses))
}

func (s *shuffledSet) restore(generator []byte, order []int, passes int) error {
	for _, row := range order {
		if row < 0 || row >= s.set.Len() {
			return fmt.Errorf("row %d of %d is to come", row, s.set.Len())
		}
	}
	s.order, s.passes = slices.Clone(order), passes
	return s.generator.UnmarshalBinary(generator)
}

func (s *shuffled) passSteps() int { return s.source.rows / s.batch.rows() }
func (s *shuffled) close() error   { return nil }

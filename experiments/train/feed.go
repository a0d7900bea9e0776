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

// batch holds rows of all domains, the same number of each.
type batch struct {
	shape          []int     // of one row
	source, target rowValues // those of several sources one after the other
	labels         []int64   // of the source rows
}

// images returns the rows of all domains as tensors on the device.
func (b batch) images(device torch.Device) (source, target torch.Tensor) {
	of := func(values rowValues) torch.Tensor {
		return values.tensor(device, append([]int{values.len() / datasets.Size(b.shape)}, b.shape...)...)
	}
	return of(b.source), of(b.target)
}

// drawn draws the batches of all domains from sets in memory.
type drawn struct {
	sources   []datasets.Set
	target    datasets.Set
	onSources []sampler
	onTarget  sampler
	batch     batch
	rows      int // of each domain in a batch
	steps     int // of a pass
}

// sampler says which rows of a set come next.
type sampler interface {
	next(rows int) []int // valid until the next call
	state() checkpoint.Sampler
	restore(checkpoint.Sampler) error
}

// newDrawn makes samplers of a set by what they are for, and passes of so many steps of a set.
func newDrawn(sources []datasets.Set, target datasets.Set, rows int, of func(set datasets.Set, purpose string) sampler, steps func(datasets.Set) int) *drawn {
	n, size := len(sources), rows*datasets.Size(target.Shape())
	d := &drawn{
		sources: sources, target: target, onTarget: of(target, "target batches"), rows: rows,
		batch: batch{
			shape: target.Shape(), source: rowValues{floats: make([]float32, n*size)}, target: rowValues{floats: make([]float32, size)}, labels: make([]int64, n*rows),
		},
	}
	for i, source := range sources {
		d.onSources = append(d.onSources, of(source, purposeOf(i)+" batches"))
		d.steps = max(d.steps, steps(source))
	}
	return d
}

func (d *drawn) next(context.Context) (batch, error) {
	size := len(d.batch.target.floats)
	for i, source := range d.sources {
		rows := d.onSources[i].next(d.rows)
		datasets.CopyRows(d.batch.source.floats[i*size:(i+1)*size], source, rows)
		datasets.CopyLabels(d.batch.labels[i*d.rows:(i+1)*d.rows], source, rows)
	}
	datasets.CopyRows(d.batch.target.floats, d.target, d.onTarget.next(d.rows))
	return d.batch, nil
}

func (d *drawn) save(s *saving) {
	s.Feed = checkpoint.Feed{FromSource: d.onSources[0].state(), FromTarget: d.onTarget.state()}
	for _, other := range d.onSources[1:] {
		s.Feed.FromOthers = append(s.Feed.FromOthers, other.state())
	}
}

func (d *drawn) restore(r *restoring) error {
	if there, here := 1+len(r.Feed.FromOthers), len(d.onSources); there != here {
		return fmt.Errorf("it has batches of %d sources, not %d", there, here)
	}
	err := errors.Join(d.onSources[0].restore(r.Feed.FromSource), d.onTarget.restore(r.Feed.FromTarget))
	for i, other := range r.Feed.FromOthers {
		err = errors.Join(err, d.onSources[1+i].restore(other))
	}
	return err
}

func (d *drawn) passSteps() int { return d.steps }
func (d *drawn) close() error   { return nil }

// newResampled draws every batch with replacement, as the released code does for digits. A
// pass is an epoch: as many steps as fill the largest set.
func newResampled(sources []datasets.Set, target datasets.Set, rows int, seed int64) *drawn {
	return newDrawn(sources, target, rows, func(set datasets.Set, purpose string) sampler {
		return newResampler(set.Len(), rows, datasets.Stream(seed, purpose))
	}, func(source datasets.Set) int { return max(source.Len(), target.Len()) / rows })
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
func newShuffled(sources []datasets.Set, target datasets.Set, views, rows int, seed int64) *drawn {
	return newDrawn(sources, target, rows, func(set datasets.Set, purpose string) sampler {
		return &shuffler{rows: set.Len() / views, views: views, generator: datasets.Stream(seed, purpose)}
	}, func(source datasets.Set) int { return source.Len() / views / rows })
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
	loaders      []*images.Loader // of the sources and, last, of the target
	sourceLabels datasets.Labels  // of all images of the sources
	labels       []int64          // of the sources' last batches
	sources      rowValues        // the images of several
	handed       []*images.Batch  // out last, of each loader
	batches      int              // handed out
	shape        []int            // of an image
}

// newLoaded gives augmented images, which are read while the run trains.
func newLoaded(sources []*imageDomain, target *imageDomain) (*loaded, error) {
	l := &loaded{sourceLabels: sources[0].reader.Set().Labels(), shape: cropShape(target.run)}
	for i, domain := range append(slices.Clone(sources), target) {
		purpose := "target"
		if i < len(sources) {
			purpose = purposeOf(i)
		}
		options := images.LoaderOptions{ViewOptions: domain.views(domain.run.Train.Batch), Seed: domain.run.Seed, Purpose: purpose}
		loader, err := images.NewLoader(domain.reader, options)
		if err != nil {
			return nil, err
		}
		l.loaders = append(l.loaders, loader)
	}
	return l, nil
}

// purposeOf is what is random for in a source's batches.
func purposeOf(source int) string {
	if source == 0 {
		return "source"
	}
	return fmt.Sprintf("source %d", source+1)
}

func (l *loaded) next(ctx context.Context) (b batch, err error) {
	for i, batch := range l.handed {
		l.loaders[i].Release(batch)
	}
	l.handed, l.labels = l.handed[:0], l.labels[:0]
	for _, loader := range l.loaders {
		images, err := loader.Next(ctx)
		if err != nil {
			return batch{}, err
		}
		l.handed = append(l.handed, images)
	}
	l.batches++
	last := len(l.handed) - 1
	for _, of := range l.handed[:last] {
		for _, row := range of.Rows {
			class, _ := l.sourceLabels.At(row) // all are known, see data.check
			l.labels = append(l.labels, int64(class))
		}
	}
	b = batch{shape: l.shape, source: valuesOf(l.handed[0]), target: valuesOf(l.handed[last]), labels: l.labels}
	if last > 1 {
		l.sources.floats, l.sources.bytes = l.sources.floats[:0], l.sources.bytes[:0]
		for _, of := range l.handed[:last] {
			l.sources.floats, l.sources.bytes = append(l.sources.floats, of.Values...), append(l.sources.bytes, of.Bytes...)
		}
		b.source = l.sources
	}
	return b, nil
}

// valuesOf are those of a batch of images.
func valuesOf(b *images.Batch) rowValues { return rowValues{b.Values, b.Bytes} }

// save counts the batches that all loaders gave: a step that was interrupted
// between two took none.
func (l *loaded) save(s *saving) { s.Feed.Batches = l.batches }

func (l *loaded) restore(r *restoring) error {
	if l.batches = r.Feed.Batches; l.batches < 0 {
		return fmt.Errorf("%d batches were handed out", l.batches)
	}
	for _, loader := range l.loaders {
		loader.Seek(l.batches)
	}
	return nil
}

func (l *loaded) passSteps() (steps int) {
	for _, loader := range l.loaders[:len(l.loaders)-1] {
		steps = max(steps, loader.BatchesPerPass())
	}
	return steps
}

func (l *loaded) close() error {
	for _, loader := range l.loaders {
		loader.Close()
	}
	return nil
}

package images

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"

	"iwda/internal/evenly"
	"iwda/internal/parallel"
	"iwda/internal/printable"
)

// Batch is some images as a network reads them.
type Batch struct {
	// Values are the normalised pixels in C order of {len(Rows), 3, crop, crop}.
	Values []float32
	// Bytes are the pixels as they are, in the place of Values, where that was asked for.
	Bytes []uint8
	// Rows are the numbers of the images in their set, which knows their labels.
	Rows []int
}

// ViewOptions says which images become views of which size, and how many at once.
type ViewOptions struct {
	// Rows are the images of the set that are read, in the order that a pass
	// without shuffling has; nil means all. The slice is kept.
	Rows []int
	// BatchSize is the number of images of a batch.
	BatchSize int
	// Crop is the side of the square views, in pixels, at most the reader's side.
	Crop int
	// Central and Unmirrored leave out what is random in the views of a [Loader]: the crop, and left
	// and right exchanged half of the time.
	Central, Unmirrored bool
	// Bytes leaves the pixels as they are, for a device that normalises them: a fourth
	// of what Values take.
	Bytes bool
	// Workers is the number of goroutines that read; zero means as many as may run
	// at once (runtime.GOMAXPROCS). No value depends on it.
	Workers int
	// Ahead is the number of batches that are made before they are asked for, a
	// bound of the memory; zero means 2.
	Ahead int
}

// withDefaults returns the options with every choice made, or an error where one is
// impossible.
func (o ViewOptions) withDefaults(reader *Reader) (ViewOptions, error) {
	set := reader.set
	if o.Rows == nil {
		o.Rows = evenly.All(set.Len())
	}
	for _, row := range o.Rows {
		if row < 0 || row >= set.Len() {
			return o, fmt.Errorf("images: row %d of %s, which has %s", row, set.name, printable.Count(set.Len(), "image"))
		}
	}
	o.Workers, o.Ahead = cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), cmp.Or(o.Ahead, 2)
	switch {
	case o.BatchSize <= 0:
		return o, fmt.Errorf("images: batches of %d images, want a positive number", o.BatchSize)
	case o.Crop <= 0 || o.Crop > reader.side:
		return o, fmt.Errorf("images: views of %d pixels a side, want 1 to %d, the side of the images", o.Crop, reader.side)
	case o.Workers < 0 || o.Ahead < 0:
		return o, fmt.Errorf("images: %d workers and %d batches ahead, want positive numbers", o.Workers, o.Ahead)
	}
	return o, nil
}

// plan is what a batch is made of.
type plan struct {
	rows []int
	// random returns the generator of the random view of the batch's n-th image;
	// nil asks for test views.
	random func(n int) *rand.Rand
}

// made is a batch, or the error of the first of its images that has one.
type made struct {
	batch *Batch
	err   error
}

// stream makes batches ahead, in order, until it is stopped.
type stream struct {
	reader  *Reader
	options ViewOptions
	batches chan made   // in order; closed after the last
	free    chan *Batch // given back, to be used again
	own     []scratch   // of each worker
	stop    context.CancelFunc
	running sync.WaitGroup
}

// startStream starts to make the batches that next plans, until it returns false.
func startStream(reader *Reader, options ViewOptions, next func() (plan, bool)) *stream {
	stopped, stop := context.WithCancel(context.Background())
	s := &stream{
		reader:  reader,
		options: options,
		batches: make(chan made, options.Ahead),
		free:    make(chan *Batch, options.Ahead+1),
		own:     make([]scratch, options.Workers),
		stop:    stop,
	}
	s.running.Go(func() {
		defer close(s.batches)
		for planned, more := next(); more; planned, more = next() {
			select {
			case s.batches <- s.fill(stopped, planned):
			case <-stopped.Done():
				return
			}
		}
	})
	return s
}

// take returns the next batch; there must be one. An error is the context's, or the batch's.
func (s *stream) take(ctx context.Context) (*Batch, error) {
	select {
	case m := <-s.batches:
		return m.batch, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fill makes a batch, unless it is stopped before.
func (s *stream) fill(stopped context.Context, planned plan) made {
	b, errs := s.newBatch(planned), make([]error, len(planned.rows))
	parallel.Each(len(s.own), len(planned.rows), func(worker, n int) {
		if stopped.Err() == nil {
			errs[n] = s.read(b, planned, n, &s.own[worker])
		}
	})
	return made{b, cmp.Or(errs...)}
}

// newBatch returns a batch without values, in memory that was given back where
// there is some.
func (s *stream) newBatch(planned plan) *Batch {
	var b *Batch
	select {
	case b = <-s.free:
	default:
		b = new(Batch)
	}
	n := len(planned.rows)
	if s.options.Bytes {
		b.Bytes = grown(b.Bytes, n*s.imageSize())
	} else {
		b.Values = grown(b.Values, n*s.imageSize())
	}
	b.Rows = append(b.Rows[:0], planned.rows...)
	return b
}

func (s *stream) imageSize() int { return 3 * s.options.Crop * s.options.Crop }

// read reads the n-th image of a batch.
func (s *stream) read(b *Batch, planned plan, n int, own *scratch) error {
	row := planned.rows[n]
	own.square.reshape(s.reader.side, s.reader.side)
	if err := s.reader.read(&own.square, row, own); err != nil {
		return &FileError{Path: s.reader.set.Path(row), Err: err}
	}
	var v view
	if planned.random != nil {
		v = own.trainingView(s.options, planned.random(n))
	} else {
		v = own.testView(s.options.Crop)
	}
	first, size := n*s.imageSize(), s.imageSize()
	if s.options.Bytes {
		writePlanes(b.Bytes[first:][:size], &v, &asTheyAre)
	} else {
		writePlanes(b.Values[first:][:size], &v, &normalised)
	}
	return nil
}

// release takes back the memory of a batch.
func (s *stream) release(b *Batch) {
	select {
	case s.free <- b:
	default:
	}
}

// close ends every goroutine.
func (s *stream) close() {
	s.stop()
	s.running.Wait()
}

// Batches ranges over the images once, in order, in test views: the centre of each,
// normalised as [Loader] does; the last batch may be smaller. A batch is only valid
// within its step of the range. An error ends it: impossible options, an image that
// cannot be read (a [FileError]), or the context's.
func (r *Reader) Batches(ctx context.Context, options ViewOptions) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		options, err := options.withDefaults(r)
		if err != nil {
			yield(nil, err)
			return
		}
		rest := options.Rows
		s := startStream(r, options, func() (plan, bool) {
			rows := rest[:min(options.BatchSize, len(rest))]
			rest = rest[len(rows):]
			return plan{rows: rows}, len(rows) > 0
		})
		defer s.close()
		for left := len(options.Rows); left > 0; left -= options.BatchSize {
			batch, err := s.take(ctx)
			if err = cmp.Or(ctx.Err(), err); err != nil { // the context's, even if the batch is ready
				yield(nil, err)
				return
			}
			if !yield(batch, nil) {
				return
			}
			s.release(batch)
		}
	}
}

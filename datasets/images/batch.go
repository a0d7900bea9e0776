package images

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"iwda/internal/evenly"
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

// pending is a batch that workers fill.
type pending struct {
	batch  *Batch
	random func(n int) *rand.Rand
	left   atomic.Int64 // images to be read
	done   chan struct{}
	errors []error // of the batch's images
}

// wait returns the batch once it is made. An error is the context's, or that of the first of its
// images that has one.
func (p *pending) wait(ctx context.Context) (*Batch, error) {
	select {
	case <-p.done:
		return p.batch, cmp.Or(p.errors...)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stream makes batches ahead, in order, until it is stopped.
type stream struct {
	reader  *Reader
	options ViewOptions
	batches chan *pending // in order; closed after the last
	free    chan *Batch   // given back, to be used again
	stop    context.CancelFunc
	running sync.WaitGroup
}

// task is one image of a batch.
type task struct {
	*pending
	n int
}

// startStream starts to make the batches that next plans, until it returns false.
func startStream(reader *Reader, options ViewOptions, next func() (plan, bool)) *stream {
	stopped, stop := context.WithCancel(context.Background())
	s := &stream{
		reader:  reader,
		options: options,
		batches: make(chan *pending, options.Ahead),
		free:    make(chan *Batch, options.Ahead+1),
		stop:    stop,
	}
	tasks := make(chan task)
	s.running.Go(func() {
		defer close(tasks)
		s.feed(stopped.Done(), tasks, next)
	})
	for range options.Workers {
		s.running.Go(func() {
			var own scratch
			for t := range tasks {
				s.run(t, &own)
			}
		})
	}
	return s
}

// feed queues the batches and hands out their images.
func (s *stream) feed(stopped <-chan struct{}, tasks chan<- task, next func() (plan, bool)) {
	defer close(s.batches)
	for {
		planned, more := next()
		if !more {
			return
		}
		p := &pending{random: planned.random, done: make(chan struct{}), errors: make([]error, len(planned.rows))}
		p.left.Store(int64(len(planned.rows)))
		select {
		case s.batches <- p:
		case <-stopped:
			return
		}
		p.batch = s.newBatch(planned)
		for n := range planned.rows {
			select {
			case tasks <- task{p, n}:
			case <-stopped:
				return
			}
		}
	}
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

// run reads one image into its batch.
func (s *stream) run(t task, own *scratch) {
	row := t.batch.Rows[t.n]
	own.square.reshape(s.reader.side, s.reader.side)
	if err := s.reader.read(&own.square, row, own); err != nil {
		t.errors[t.n] = &FileError{Path: s.reader.set.Path(row), Err: err}
	} else {
		var v view
		if t.random != nil {
			v = own.trainingView(s.options, t.random(t.n))
		} else {
			v = own.testView(s.options.Crop)
		}
		first, size := t.n*s.imageSize(), s.imageSize()
		if s.options.Bytes {
			writePlanes(t.batch.Bytes[first:][:size], &v, &asTheyAre)
		} else {
			writePlanes(t.batch.Values[first:][:size], &v, &normalised)
		}
	}
	if t.left.Add(-1) == 0 {
		close(t.done)
	}
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
		for p := range s.batches {
			batch, err := p.wait(ctx)
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

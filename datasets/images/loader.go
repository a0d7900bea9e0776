package images

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"iwda/datasets"
	"iwda/internal/printable"
)

// LoaderOptions says what a [Loader] loads.
type LoaderOptions struct {
	ViewOptions
	// Seed and Purpose, as in "source", choose the stream of randomness: see
	// [datasets.Stream]. Loaders with the same ones, reading as many images, choose
	// the same places and views.
	Seed    int64
	Purpose string
}

// Loader makes the batches of training: images drawn without replacement, a new
// order each pass, the incomplete batch at the end of a pass left out; of each image
// a random crop (a share of 0.08 to 1 of the area, sides of 3:4 to 4:3) resized
// bilinearly, flipped half of the time, unless the options leave these out, and normalised with ImageNet's means and
// deviations.
//
// Goroutines work ahead of the caller. Order and views follow from the seed, the
// purpose and the position alone. The methods of a loader are for one goroutine.
type Loader struct {
	reader  *Reader
	options LoaderOptions
	first   int     // the position of the first batch
	stream  *stream // nil until it is asked for
}

// NewLoader returns a loader at position 0. Options that are impossible, and fewer
// images than a batch has, are errors.
func NewLoader(reader *Reader, options LoaderOptions) (*Loader, error) {
	var err error
	if options.ViewOptions, err = options.ViewOptions.withDefaults(reader); err != nil {
		return nil, err
	}
	if n := len(options.Rows); n < options.BatchSize {
		return nil, fmt.Errorf("images: %s has %s, less than a batch of %d", reader.set.name, printable.Count(n, "image"), options.BatchSize)
	}
	return &Loader{reader: reader, options: options}, nil
}

// BatchesPerPass returns the number of batches of a pass over the images.
func (l *Loader) BatchesPerPass() int { return len(l.options.Rows) / l.options.BatchSize }

// Seek makes the batch after so many, over all passes, the first one: a new loader goes on
// from where another one had come to. It panics if the position is negative or [Loader.Next]
// was called before.
func (l *Loader) Seek(position int) {
	if position < 0 || l.stream != nil {
		panic(fmt.Sprintf("images: Seek: position %d; want one that is not negative, before the first batch", position))
	}
	l.first = position
}

// Next returns the next batch, which is the caller's until [Loader.Release]. An error is the
// context's, or a [FileError] of an image that cannot be read. Nothing but Close may follow it.
func (l *Loader) Next(ctx context.Context) (*Batch, error) {
	if l.stream == nil {
		l.stream = startStream(l.reader, l.options.ViewOptions, l.planner())
	}
	return l.stream.take(ctx)
}

// Release gives a batch's memory back, for batches to come.
func (l *Loader) Release(batch *Batch) { l.stream.release(batch) }

// Close ends the loader's goroutines: it is the last call. The reader stays open.
func (l *Loader) Close() {
	if l.stream != nil {
		l.stream.close()
	}
}

// planner returns a function that plans one batch after the other from the first on.
func (l *Loader) planner() func() (plan, bool) {
	position, shuffledPass := l.first, -1
	var shuffled []int
	return func() (plan, bool) {
		pass, batch := position/l.BatchesPerPass(), position%l.BatchesPerPass()
		position++
		if pass != shuffledPass {
			shuffled, shuffledPass = l.shuffled(pass), pass
		}
		first := batch * l.options.BatchSize
		return plan{
			rows:   shuffled[first:][:l.options.BatchSize],
			random: func(n int) *rand.Rand { return l.random("view", pass, first+n) },
		}, true
	}
}

// shuffled returns the rows in the order of a pass.
func (l *Loader) shuffled(pass int) []int {
	rows := slices.Clone(l.options.Rows)
	l.random("order", pass, 0).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// random returns a generator of its own for every use, pass and place in the pass.
func (l *Loader) random(use string, pass, place int) *rand.Rand {
	purpose := fmt.Sprintf("%s images: %s %d of pass %d", l.options.Purpose, use, place, pass)
	return rand.New(datasets.Stream(l.options.Seed, purpose))
}

package images

import (
	"context"
	"iter"
)

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
			select {
			case <-p.done:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
			if err := p.err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(p.batch, nil) {
				return
			}
			s.release(p.batch)
		}
	}
}

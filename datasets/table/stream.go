package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// NewStream makes a table of .npy arrays that follow each other, as from standard input:
// one, or several of the same width and type. Their rows have no labels, for which it is an
// error to ask, and no ids, and can be read once, by [Table.Batches] or [Table.Load].
func NewStream(r io.Reader, name string, options Options) (*Table, error) {
	if options.Kind == 0 {
		options.Kind = Features
	}
	t := &Table{name: name, options: options}
	return t.open(func(t *Table) error {
		if named := options.named(); named != nil {
			return fmt.Errorf("no %q: a stream has values without a name, no labels and no ids", named[0])
		}
		buffered := bufio.NewReaderSize(r, 1<<16)
		a, _, err := readHeader(buffered)
		if err != nil {
			return err
		}
		a.name = t.name
		width, err := a.streamed()
		if err != nil {
			return err
		}
		t.kind, t.rows, t.width = options.Kind, -1, width
		t.form = &stream{r: buffered, first: a, origins: options.Reference.Origins}
		return nil
	})
}

// streamed is the width of an array whose rows are read as they come.
func (a *array) streamed() (width int, err error) {
	if a.byColumn {
		return 0, errors.New("the array is in Fortran order, so that its first row is whole at its end; save it with numpy.ascontiguousarray, or read it as a file")
	}
	if width, err = a.width(); err == nil && (a.shape[0] < 0 || a.shape[0] > maxRows) {
		err = fmt.Errorf("a number of %d rows", a.shape[0])
	}
	return width, err
}

// stream is the form of arrays that cannot be read twice.
type stream struct {
	r     *bufio.Reader
	first *array
	begun bool
	// origins are those of the values; nil for none.
	origins []float64
}

func (s *stream) Close() error { return nil }

func (s *stream) scan(bool) (cursor, error) {
	if s.begun {
		return nil, errors.New("a stream cannot be read again")
	}
	s.begun = true
	s.first.open = func() (io.ReadCloser, error) { return io.NopCloser(s.r), nil }
	c, err := s.first.read()
	if err != nil {
		return nil, err
	}
	c.followed, c.origins = true, s.origins
	c.buffer = make([]byte, max(1, chunk/c.size)*c.size) // for those that follow, too
	return &streamCursor{c, s.r}, nil
}

// streamCursor goes over arrays that follow each other as if they were one, which grows by
// the rows of each.
type streamCursor struct {
	*column
	r *bufio.Reader
}

func (c *streamCursor) next(b *Batch, n int) (err error) {
	for c.row == c.shape[0] {
		if _, err := c.r.Peek(1); err != nil {
			return err
		}
		if err := c.follow(); err != nil {
			return fmt.Errorf("after row %d: %w", c.row-1, err)
		}
	}
	n = min(n, c.shape[0]-c.row)
	b.Values, err = c.appendFloats(b.Values, n)
	b.rows += n
	return err
}

// follow reads the header of the next array.
func (c *streamCursor) follow() error {
	following, _, err := readHeader(c.r)
	if err != nil {
		return err
	}
	following.name = c.name
	width, err := following.streamed()
	if err != nil {
		return err
	}
	if following.element != c.element || width != c.shape[1] {
		return fmt.Errorf("an array of %d values of %s a row; the first one has %d of %s", width, following.element, c.shape[1], c.element)
	}
	c.shape[0] += following.shape[0]
	return nil
}

package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
)

// NewStream makes a table of .npy arrays that follow each other, as from standard input:
// one, or several of the same width and type. Their rows have no labels and no ids, for
// which it is an error to ask, and can be read once, by [Table.Batches] or [Table.Load].
func NewStream(r io.Reader, name string, options Options) (*Table, error) {
	if options.Kind == 0 {
		options.Kind = Features
	}
	t := &Table{name: name, options: options}
	return t.open(func(t *Table) error {
		for _, name := range slices.Concat(options.Values, []string{options.Labels, options.IDs}) {
			if name != "" {
				return fmt.Errorf("no %q: a stream has values without a name, no labels and no ids", name)
			}
		}
		buffered := bufio.NewReaderSize(r, 1<<16)
		a, _, err := readHeader(buffered)
		if err != nil {
			return err
		}
		a.name = "the array"
		width, err := a.streamed()
		if err != nil {
			return err
		}
		t.kind, t.element, t.rows, t.width = options.Kind, a.element.String(), -1, width
		t.form = &stream{r: buffered, first: a}
		return nil
	})
}

// streamed is the width of an array whose rows are read as they come.
func (a *array) streamed() (width int, err error) {
	if a.byColumn {
		return 0, errors.New("the array is in Fortran order, so that its first row is whole at its end; save it with numpy.ascontiguousarray, or read it as a file")
	}
	return a.width()
}

// stream is the form of arrays that cannot be read twice.
type stream struct {
	r     *bufio.Reader
	first *array
	begun bool
}

func (s *stream) Close() error { return nil }

func (s *stream) scan(parts) (cursor, error) {
	if s.begun {
		return nil, errors.New("a stream cannot be read again")
	}
	s.begun = true
	return &streamCursor{r: s.r, array: s.first, left: s.first.shape[0]}, nil
}

type streamCursor struct {
	r      *bufio.Reader
	array  *array
	left   int // rows of the array
	row    int
	buffer []byte
}

func (c *streamCursor) Close() error { return nil }

func (c *streamCursor) next(b *Batch, n int) error {
	for c.left == 0 {
		if _, err := c.r.Peek(1); err != nil {
			return err
		}
		following, _, err := readHeader(c.r)
		if err != nil {
			return fmt.Errorf("after row %d: %w", c.row-1, err)
		}
		following.name = "the array"
		if _, err := following.streamed(); err != nil {
			return fmt.Errorf("after row %d: %w", c.row-1, err)
		}
		if following.element != c.array.element || following.shape[1] != c.array.shape[1] {
			return fmt.Errorf("after row %d: an array of %d values of %s a row; the first one has %d of %s",
				c.row-1, following.shape[1], following.element, c.array.shape[1], c.array.element)
		}
		c.array, c.left = following, following.shape[0]
	}
	size := c.array.shape[1] * c.array.element.size
	if c.buffer == nil {
		c.buffer = make([]byte, max(size, chunk/size*size))
	}
	n = min(n, c.left, len(c.buffer)/size)
	part := c.buffer[:n*size]
	if got, err := io.ReadFull(c.r, part); err != nil {
		return fmt.Errorf("row %d: %w", c.row+got/size, notWhole("truncated", err))
	}
	b.Values = extend(b.Values, n*c.array.shape[1])
	c.array.element.floats(b.Values[len(b.Values)-n*c.array.shape[1]:], part)
	c.row, c.left = c.row+n, c.left-n
	return nil
}

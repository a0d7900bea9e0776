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
		if t.width, err = a.streamed(); err != nil {
			return err
		}
		begun := false
		a.open = func() (io.ReadCloser, error) {
			if begun {
				return nil, errors.New("a stream cannot be read again")
			}
			begun = true
			return io.NopCloser(buffered), nil
		}
		a.follow = func() error { return a.followed(buffered) }
		t.kind, t.rows, t.form = options.Kind, -1, &arrays{t: t, values: a}
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

// followed makes the array longer by the one that follows its last row, and returns io.EOF if there is none.
func (a *array) followed(r *bufio.Reader) error {
	if _, err := r.Peek(1); err != nil {
		return err
	}
	following, _, err := readHeader(r)
	if err == nil {
		following.name = a.name
		var width int
		if width, err = following.streamed(); err == nil && (following.element != a.element || width != a.shape[1]) {
			err = fmt.Errorf("an array of %d values of %s a row; the first one has %d of %s", width, following.element, a.shape[1], a.element)
		}
	}
	if err != nil {
		return fmt.Errorf("after row %d: %w", a.shape[0]-1, err)
	}
	a.shape[0] += following.shape[0]
	return nil
}

package table

import (
	"fmt"
	"io"
	"math"
)

// array is an array of a file: how its elements are described, where they are.
type array struct {
	name    string
	element element
	shape   []int
	// byColumn says that the elements of a column follow each other (Fortran order), not those
	// of a row.
	byColumn bool
	// open gives the bytes of the elements from the first one on, and an error where
	// they are not followed by the end.
	open func() (io.ReadCloser, error)
	// mapped holds these bytes where they can be mapped, nil elsewhere, and intact compares them
	// with the file's checksum, where it has one that reading by open does.
	mapped []byte
	intact func() error
}

// maxWidth bounds the values of a row, of which there is always one in memory.
const maxWidth = 1 << 20

// maxRows bounds the rows that a file may claim to have.
const maxRows = 1 << 48

// width is the number of values of a row, where the array is a table of some.
func (a *array) width() (int, error) {
	switch {
	case !a.element.number():
		return 0, fmt.Errorf("%s holds elements of type %s; want numbers", a.name, a.element)
	case len(a.shape) != 2:
		return 0, fmt.Errorf("%s has shape %v; want rows × values", a.name, a.shape)
	case a.shape[1] < 1 || a.shape[1] > maxWidth:
		return 0, fmt.Errorf("%s has %d values a row; want 1 to %d", a.name, a.shape[1], maxWidth)
	}
	return a.shape[1], nil
}

// column returns an error unless the array has one element for each of the rows. That may
// be a table of one column, as a data frame's.
func (a *array) column(rows int) error {
	if len(a.shape) == 2 && a.shape[1] == 1 {
		a.shape = a.shape[:1]
	}
	if len(a.shape) != 1 {
		return fmt.Errorf("%s has shape %v; want one element a row", a.name, a.shape)
	}
	if a.shape[0] != rows {
		return fmt.Errorf("%s has %d elements for %d rows", a.name, a.shape[0], rows)
	}
	return nil
}

// texts returns all elements as texts. There are at most limit.
func (a *array) texts(limit int) ([]string, error) {
	if len(a.shape) != 1 || a.shape[0] > limit {
		return nil, fmt.Errorf("%s has shape %v; want one row of at most %d", a.name, a.shape, limit)
	}
	column, err := a.read()
	if err != nil {
		return nil, err
	}
	defer column.Close()
	return column.append(nil, a.shape[0])
}

// bytesOf returns the bytes of an array of that shape, and false where no slice can have
// as many.
func bytesOf(shape []int, size int) (int, bool) {
	count := size
	for _, d := range shape {
		if d < 0 || d > 0 && count > math.MaxInt/d {
			return 0, false
		}
		count *= d
	}
	return count, true
}

// fills returns an error unless the array has exactly that many bytes.
func (a *array) fills(size int64) error {
	if want, ok := bytesOf(a.shape, a.element.size); !ok || int64(want) != size {
		return fmt.Errorf("%d bytes follow the header, which do not fill the shape %v of %d bytes an element", size, a.shape, a.element.size)
	}
	return nil
}

// notWhole says that a part of a file ended too early, or could not be read.
func notWhole(what string, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: %w", what, err)
}

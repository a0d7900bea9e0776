package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/sbinet/npyio"
)

// openNPY opens one array of values, and maps it.
func openNPY(t *Table) error {
	f := new(arrays)
	t.form = f
	if names := t.options.named(); len(names) > 0 {
		return fmt.Errorf("no %q; the file is one array, without names", names[len(names)-1])
	}
	m, err := f.mapFile(t.name)
	if err != nil {
		return err
	}
	a, length, err := readHeader(io.NewSectionReader(m.file, 0, m.size))
	if err == nil {
		err = m.place(a, int64(length), m.size-int64(length))
	}
	if err != nil {
		return err
	}
	f.values, a.name = a, "the array"
	return f.describe(t)
}

// A .npy file starts with its magic, two bytes of version and the length of the header
// in two bytes, or in four from version 2 on.
const (
	npyMagic  = "\x93NUMPY"
	maxHeader = 1 << 16
)

// readHeader reads the header of a .npy file and leaves the elements to be read; length is
// the number of bytes it read.
func readHeader(r io.Reader) (a *array, length int, err error) {
	start := make([]byte, 10, 12)
	if _, err := io.ReadFull(r, start); err != nil {
		return nil, 0, notWhole("the header is cut off", err)
	}
	if string(start[:6]) != npyMagic {
		return nil, 0, errors.New("not a .npy file")
	}
	size := int(start[8]) | int(start[9])<<8
	if start[6] > 1 {
		start = start[:12]
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return nil, 0, notWhole("the header is cut off", err)
		}
		size |= int(start[10])<<16 | int(start[11])<<24
	}
	if size > maxHeader {
		return nil, 0, fmt.Errorf("a header of %d bytes, which no .npy file has", size)
	}
	header := make([]byte, len(start)+size)
	copy(header, start)
	if _, err := io.ReadFull(r, header[len(start):]); err != nil {
		return nil, 0, notWhole("the header is cut off", err)
	}
	if a, err = parseHeader(header); err != nil {
		return nil, 0, err
	}
	return a, len(header), nil
}

// parseHeader reads a whole header. npyio cuts it into pieces without looking whether they
// are there, and panics where they are not.
func parseHeader(header []byte) (a *array, err error) {
	defer func() {
		if damage := recover(); damage != nil {
			a, err = nil, fmt.Errorf("damaged header: %v", damage)
		}
	}()
	npy, err := npyio.NewReader(bytes.NewReader(header))
	if err != nil {
		return nil, fmt.Errorf("damaged header: %w", err)
	}
	a = &array{shape: npy.Header.Descr.Shape}
	a.byColumn = npy.Header.Descr.Fortran && len(a.shape) > 1
	if a.element, err = parseElement(npy.Header.Descr.Type); err != nil {
		return nil, err
	}
	return a, nil
}

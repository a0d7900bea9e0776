package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/sbinet/npyio"
)

// openNPY opens one array, and those beside it: of P-features.npy, P-labels.npy and
// P-ids.npy.
func openNPY(t *Table) (err error) {
	f := new(arrays)
	t.form = f
	if f.values, err = f.openNPY(t.name); err != nil {
		return err
	}
	f.values.name = "the array"
	beside := "" // what the names of the others begin with
	for _, name := range kindNames {
		if p, found := strings.CutSuffix(strings.TrimSuffix(t.name, filepath.Ext(t.name)), "-"+name); found {
			beside, f.values.name = p, name
		}
	}
	o := t.options
	if others := o.named(); o.Label != "" && len(others) > 1 || o.Label == "" && len(others) > 0 {
		return fmt.Errorf("no %q; the file is one array, without names", others[len(others)-1])
	}
	if !o.IgnoreLabels {
		f.roles[labelRole], err = f.openBeside(o.Label, beside, "labels")
	}
	if err == nil {
		f.roles[idRole], err = f.openBeside("", beside, "ids")
	}
	if err != nil {
		return err
	}
	return f.describe(t)
}

// openBeside opens the array that was asked for, or that of the usual name, if it is there.
func (f *arrays) openBeside(asked, beside, name string) (*array, error) {
	if asked != "" {
		return f.openNPY(asked)
	}
	if beside == "" {
		return nil, nil
	}
	a, err := f.openNPY(beside + "-" + name + ".npy")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return a, err
}

// openNPY maps a .npy file, whose path is the array's name.
func (f *arrays) openNPY(path string) (*array, error) {
	m, err := f.mapFile(path)
	if err != nil {
		return nil, err
	}
	a, length, err := readHeader(io.NewSectionReader(m.file, 0, m.size))
	if err == nil {
		err = m.place(a, int64(length), m.size-int64(length))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	a.name = path
	return a, nil
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

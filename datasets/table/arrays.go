package table

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/edsrzf/mmap-go"

	"iwda/internal/input"
)

// arrays is the form of files that hold arrays: .npz and .npy.
type arrays struct {
	t      *Table
	file   *mapping
	values *array
	roles  [roles]*array // nil where there are none
	names  []string
}

func (f *arrays) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// openNamed opens those of the arrays that are wanted, each by its place among the names.
func (f *arrays) openNamed(there []string, t *Table, open func(i int) (*array, error)) error {
	o := t.options
	t.there = there
	l, err := chooseArrays(there, o)
	if err != nil {
		return err
	}
	if l.values == nil {
		return fmt.Errorf("no array of the values, %s; there are %s", strings.Join(wantedValues(o), ", "), listed(there))
	}
	t.beside = l.besides(there)
	if o.IgnoreLabels {
		l.roles[labelRole] = -1
	}
	named := func(i int) (*array, error) {
		a, err := open(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", there[i], err)
		}
		a.name = there[i]
		return a, nil
	}
	f.values, err = named(l.values[0])
	for r, i := range l.roles {
		if err == nil && i >= 0 {
			f.roles[r], err = named(i)
		}
	}
	return err
}

// describe tells the table what the arrays are, which must belong together.
func (f *arrays) describe(t *Table) (err error) {
	f.t = t
	if t.width, err = f.values.width(); err != nil {
		return err
	}
	t.rows = f.values.shape[0]
	for _, a := range f.roles {
		if a == nil {
			continue
		}
		if err := a.column(t.rows); err != nil {
			return err
		}
	}
	t.kind = kindOf(f.values.name, t.options)
	t.labels, t.named = f.roles[labelRole] != nil, f.names
	t.single = func(int) bool { return f.values.element.single() }
	if f.values.mapped != nil && !f.values.byColumn { // a row would be gathered from all over the file
		t.mapped = f.values
	}
	return nil
}

func (f *arrays) scan(labelsAlone bool) (_ cursor, err error) {
	c := &arraysCursor{form: f}
	if !labelsAlone {
		if c.values, err = f.values.readValues(); err == nil {
			c.values.origins = f.t.options.Reference.Origins
		}
	}
	for r, a := range f.roles {
		if err == nil && a != nil && (!labelsAlone || role(r).always()) {
			c.roles[r], err = a.read()
		}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// arraysCursor goes over arrays side by side; those that are not read are nil.
type arraysCursor struct {
	form   *arrays
	values *column
	roles  [roles]*column
	row    int // how many were read
}

func (c *arraysCursor) Close() error {
	var errs []error
	for _, column := range append(c.roles[:], c.values) {
		if column != nil {
			errs = append(errs, column.Close())
		}
	}
	return errors.Join(errs...)
}

func (c *arraysCursor) next(b *Batch, n int) (err error) {
	if n = min(n, c.form.values.shape[0]-c.row); n == 0 {
		return io.EOF
	}
	if c.values != nil {
		c.values.samples = b.samples
		if b.Values, err = c.values.appendFloats(b.Values, n); err != nil {
			return err
		}
	}
	for r, column := range c.roles {
		if column == nil {
			continue
		}
		if b.texts[r], err = column.append(b.texts[r], n); err != nil {
			return err
		}
		if role(r) == labelRole && column.element.number() {
			if err := nameLabels(b.last(labelRole, n), c.form.names, column.name, c.row); err != nil {
				return err
			}
		}
	}
	keep, kept := c.form.t.keep(b, c.row, n)
	b.keepTexts(keep)
	if keep != nil && c.values != nil {
		b.Values = keepRows(b.Values, c.form.t.width, keep)
	}
	b.rows += kept
	c.row += n
	return nil
}

// mapping is a file whose content is mapped.
type mapping struct {
	file    *os.File
	content mmap.MMap
	size    int64
}

// mapFile maps a file until the form is closed.
func (f *arrays) mapFile(path string) (*mapping, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	m := &mapping{file: file}
	f.file = m
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if m.size = info.Size(); m.size == 0 {
		return m, nil // nothing can be mapped
	}
	m.content, err = mmap.Map(file, mmap.RDONLY, 0)
	return m, err
}

func (m *mapping) Close() error {
	err := m.content.Unmap()
	return errors.Join(err, m.file.Close())
}

// place gives an array its elements, a part of the file, which must be as many as the array has.
// Passes over it read the file and leave the mapping to those who ask for rows in any order, so
// that a pass takes no memory.
func (m *mapping) place(a *array, offset, size int64) error {
	a.mapped = m.content[offset : offset+size]
	a.open = func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(m.file, offset, size)), nil
	}
	return a.fills(size)
}

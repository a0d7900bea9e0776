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

// arrays is the form of files that hold arrays: .npz, .npy and .safetensors.
type arrays struct {
	t      *Table
	files  []*mapping
	values *array
	// nil where there are none
	labels, ids, groups, domain *array
	names                       []string
}

func (f *arrays) Close() error {
	var errs []error
	for _, m := range f.files {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
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
		l.labels = -1
	}
	for _, part := range []struct {
		i  int
		to **array
	}{{l.values[0], &f.values}, {l.labels, &f.labels}, {l.ids, &f.ids}, {l.groups, &f.groups}, {l.domain, &f.domain}} {
		if part.i < 0 {
			continue
		}
		if *part.to, err = open(part.i); err != nil {
			return fmt.Errorf("%s: %w", there[part.i], err)
		}
		(*part.to).name = there[part.i]
	}
	return nil
}

// describe tells the table what the arrays are, which must belong together.
func (f *arrays) describe(t *Table) (err error) {
	f.t = t
	if t.width, err = f.values.width(); err != nil {
		return err
	}
	t.rows = f.values.shape[0]
	for _, a := range []*array{f.labels, f.ids, f.groups, f.domain} {
		if a == nil {
			continue
		}
		if err := a.column(t.rows); err != nil {
			return err
		}
	}
	t.kind = kindOf(f.values.name, t.options)
	t.labels, t.named = f.labels != nil, f.names
	t.single = func(int) bool { return f.values.element.single() }
	if f.values.mapped != nil && !f.values.byColumn { // a row would be gathered from all over the file
		t.mapped = f.values
	}
	return nil
}

func (f *arrays) scan(labelsAlone bool) (cursor, error) {
	c := &arraysCursor{form: f}
	var err error
	if f.labels != nil {
		c.labels, err = f.labels.read()
	}
	if err == nil && f.domain != nil {
		c.domain, err = f.domain.read()
	}
	if err == nil && !labelsAlone {
		if c.values, err = f.values.readValues(); err == nil {
			c.values.origins = f.t.options.Reference.Origins
		}
	}
	if err == nil && !labelsAlone && f.ids != nil {
		c.ids, err = f.ids.read()
	}
	if err == nil && !labelsAlone && f.groups != nil {
		c.groups, err = f.groups.read()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// arraysCursor goes over arrays side by side; those that are not read are nil.
type arraysCursor struct {
	form                                *arrays
	values, labels, ids, groups, domain *column
	row                                 int // how many were read
}

func (c *arraysCursor) Close() error {
	var errs []error
	for _, column := range []*column{c.values, c.labels, c.ids, c.groups, c.domain} {
		if column != nil {
			errs = append(errs, column.Close())
		}
	}
	return errors.Join(errs...)
}

func (c *arraysCursor) next(b *Batch, n int) (err error) {
	n = min(n, c.form.values.shape[0]-c.row)
	if n == 0 {
		return io.EOF
	}
	if c.values != nil {
		c.values.samples = b.samples
		if b.Values, err = c.values.appendFloats(b.Values, n); err != nil {
			return err
		}
	}
	if c.labels != nil {
		if b.names, err = c.labels.append(b.names, n); err != nil {
			return err
		}
		if c.labels.element.number() {
			if err := nameLabels(b.names[len(b.names)-n:], c.form.names, c.labels.name, c.row); err != nil {
				return err
			}
		}
	}
	for _, part := range []struct {
		*column
		to *[]string
	}{{c.ids, &b.ids}, {c.groups, &b.groups}} {
		if part.column == nil {
			continue
		}
		if *part.to, err = part.append(*part.to, n); err != nil {
			return err
		}
	}
	kept := n
	if c.domain != nil {
		if kept, err = c.keepDomain(b, n); err != nil {
			return err
		}
	}
	b.rows += kept
	c.row += n
	return nil
}

// keepDomain removes the rows of other domains among the n last ones, and returns how many are left.
func (c *arraysCursor) keepDomain(b *Batch, n int) (kept int, err error) {
	domains, err := c.domain.append(nil, n)
	if err != nil {
		return 0, err
	}
	keep := make([]bool, n)
	for i, domain := range domains {
		if keep[i] = c.form.t.wanted(b, domain, c.row+i); keep[i] {
			kept++
		}
	}
	if c.values != nil {
		b.Values = keepRows(b.Values, c.form.t.width, keep)
	}
	if c.labels != nil {
		b.names = keepRows(b.names, 1, keep)
	}
	if c.ids != nil {
		b.ids = keepRows(b.ids, 1, keep)
	}
	if c.groups != nil {
		b.groups = keepRows(b.groups, 1, keep)
	}
	return kept, nil
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
	f.files = append(f.files, m)
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

package table

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// arrays is the form of files that hold arrays: .npz, .npy and .safetensors.
type arrays struct {
	values      *array
	labels, ids *array // nil where there are none
	names       []string
	close       func() error
}

// check returns an error unless the arrays belong together.
func (f *arrays) check() error {
	if _, err := f.values.width(); err != nil {
		return err
	}
	rows := f.values.shape[0]
	for _, a := range []*array{f.labels, f.ids} {
		if a == nil {
			continue
		}
		if err := a.column(rows); err != nil {
			return err
		}
	}
	return nil
}

func (f *arrays) scan(want parts) (cursor, error) {
	c := &arraysCursor{form: f, rows: f.values.shape[0]}
	if want&partValues != 0 {
		values, err := f.values.readValues()
		if err != nil {
			return nil, err
		}
		c.values = values
	}
	for _, open := range []struct {
		part  parts
		array *array
		to    **column
	}{{partLabels, f.labels, &c.labels}, {partIDs, f.ids, &c.ids}} {
		if open.array == nil || want&open.part == 0 {
			continue
		}
		column, err := open.array.read()
		if err != nil {
			c.Close()
			return nil, err
		}
		*open.to = column
	}
	return c, nil
}

// setArrays makes a table of arrays that belong together.
func (t *Table) setArrays(values, labels, ids *array, classNames []string, close func() error) error {
	f := &arrays{values: values, labels: labels, ids: ids, names: classNames, close: close}
	t.form = f
	if err := f.check(); err != nil {
		return err
	}
	t.kind = kindOf(values.name, t.options)
	t.element = values.element.String()
	t.rows, t.width = values.shape[0], values.shape[1]
	t.labels, t.ids, t.named = labels != nil, ids != nil, classNames
	if values.mapped != nil && !values.byColumn { // a row would be gathered from all over the file
		t.mapped = values
	}
	return nil
}

func (f *arrays) Close() error { return f.close() }

// arraysCursor goes over all arrays side by side.
type arraysCursor struct {
	form        *arrays
	values      valuesReader
	labels, ids *column
	row, rows   int
}

func (c *arraysCursor) Close() error {
	var errs []error
	if c.values != nil {
		errs = append(errs, c.values.Close())
	}
	for _, column := range []*column{c.labels, c.ids} {
		if column != nil {
			errs = append(errs, column.Close())
		}
	}
	return errors.Join(errs...)
}

func (c *arraysCursor) next(b *Batch, n int) (err error) {
	n = min(n, c.rows-c.row)
	if n == 0 {
		return io.EOF
	}
	if c.values != nil {
		if b.Values, err = c.values.appendFloats(b.Values, n); err != nil {
			return err
		}
	}
	if c.labels != nil {
		if b.names, err = c.labels.append(b.names, n); err != nil {
			return err
		}
		if err := c.nameLabels(b.names[len(b.names)-n:]); err != nil {
			return err
		}
	}
	if c.ids != nil {
		if b.ids, err = c.ids.append(b.ids, n); err != nil {
			return err
		}
	}
	c.row += n
	return nil
}

// nameLabels replaces integers by the names that the file gives them.
func (c *arraysCursor) nameLabels(labels []string) error {
	if letter := c.labels.element.letter; c.form.names == nil || letter == 'U' || letter == 'S' {
		return nil
	}
	for i, label := range labels {
		if Unknown(label) {
			continue
		}
		number, err := strconv.Atoi(label)
		if err != nil || number < 0 || number >= len(c.form.names) {
			return fmt.Errorf("%s: row %d: label %s; class_names has %d names, of 0 to %d", c.labels.name, c.row+i, label, len(c.form.names), len(c.form.names)-1)
		}
		labels[i] = c.form.names[number]
	}
	return nil
}

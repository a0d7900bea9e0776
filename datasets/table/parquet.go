package table

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"iwda/internal/convert"
	"iwda/internal/input"
)

// parquetFile is the form of Parquet files: the values are one column of lists, or many of
// numbers.
type parquetFile struct {
	t      *Table
	file   *os.File
	size   int64
	parsed *parquet.File
	list   bool
	names  []string // those that the metadata gives the classes; nil for none
	// All columns are at the ends of the schema.
	values []*parquet.Column
	roles  [roles]*parquet.Column // nil where there are none
	rows   int
}

func openParquet(t *Table) (err error) {
	file, err := input.Open(t.name)
	if err != nil {
		return err
	}
	f := &parquetFile{t: t, file: file}
	t.form = f
	return protected(f.open)
}

// protected turns what parquet-go does on damaged files into an error.
func protected(f func() error) (err error) {
	defer func() {
		if damage := recover(); damage != nil {
			err = fmt.Errorf("damaged Parquet file: %v", damage)
		}
	}()
	return f()
}

// open reads what the file has at its end.
func (f *parquetFile) open() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	if err = checkFooter(f.file, f.size); err == nil {
		f.parsed, err = parquet.OpenFile(f.file, f.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	}
	if err != nil {
		return fmt.Errorf("not a whole Parquet file: %w", err)
	}
	if err := f.choose(f.parsed.Root().Columns()); err != nil {
		return err
	}
	if text, found := f.parsed.Lookup(classNamesArray); found {
		if err = json.Unmarshal([]byte(text), &f.names); err != nil {
			return fmt.Errorf("class_names of the metadata is no list of texts: %w", err)
		}
		f.t.named = f.names
	}
	return f.measure()
}

// choose finds the columns that are wanted.
func (f *parquetFile) choose(fields []*parquet.Column) error {
	t := f.t
	there := convert.Each(fields, (*parquet.Column).Name)
	t.there = there
	l, err := chooseArrays(there, t.options)
	if err != nil {
		return err
	}
	if l.values != nil && leafOf(fields[l.values[0]]).MaxRepetitionLevel() > 0 {
		f.list, t.kind, t.beside = true, kindOf(there[l.values[0]], t.options), l.besides(there)
	} else if l, err = t.chooseColumns(there); err != nil {
		return err
	}
	if t.options.IgnoreLabels {
		l.roles[labelRole] = -1
	}
	t.labels = l.roles[labelRole] >= 0
	for r, at := range l.roles {
		if at < 0 {
			continue
		}
		if f.roles[r], err = single(fields[at]); err == nil {
			err = readable(f.roles[r])
		}
		if err != nil {
			return err
		}
	}
	for _, i := range l.values {
		leaf := leafOf(fields[i])
		if !f.list {
			leaf, err = single(fields[i])
		} else if leaf.MaxRepetitionLevel() > 1 {
			err = fmt.Errorf("column %q holds lists of lists; want lists of numbers", there[i])
		}
		if err != nil {
			return err
		}
		if !leaf.Leaf() || !isNumeric(leaf) && (f.list || !isText(leaf) && momentOf(leaf) == nil) {
			return notNumbers(leaf)
		}
		f.values = append(f.values, leaf)
	}
	return nil
}

// measure finds the numbers of rows and of values a row.
func (f *parquetFile) measure() error {
	rows := f.parsed.NumRows()
	if rows < 0 || rows > maxRows {
		return fmt.Errorf("a number of %d rows", rows)
	}
	f.rows = int(rows)
	f.t.rows, f.t.width = f.rows, len(f.t.columns)
	f.t.single = func(j int) bool {
		if f.list {
			j = 0
		}
		kind := f.values[j].Type().Kind()
		return kind == parquet.Float || kind == parquet.FixedLenByteArray
	}
	if f.list && rows > 0 {
		first := newLeaf(newPass(f), f.values[0])
		values, err := first.list(nil, nil, nil)
		if err != nil {
			return fmt.Errorf("row 0: %w", err)
		}
		f.t.width = len(values)
	}
	columns := int64(max(f.t.width, len(f.values)))
	if columns > 0 && rows > MaxUnpacked(f.size)/4/columns {
		return fmt.Errorf("%d rows of %d values in a file of %d bytes, more than 100 times its size; save it by numpy.savez, as .npz", rows, columns, f.size)
	}
	return nil
}

func (f *parquetFile) Close() error { return f.file.Close() }

func (f *parquetFile) scan(labelsAlone bool) (cursor, error) {
	c, pass := &parquetCursor{form: f}, newPass(f)
	for r, column := range f.roles {
		if column != nil && (!labelsAlone || role(r).always()) {
			c.roles[r] = newLeaf(pass, column)
		}
	}
	if labelsAlone {
		return c, nil
	}
	for _, column := range f.values {
		if f.t.cell == nil && !isNumeric(column) {
			return nil, notNumbers(column)
		}
		c.values = append(c.values, newLeaf(pass, column))
	}
	return c, nil
}

// parquetCursor goes over columns side by side; those that are not read are nil.
type parquetCursor struct {
	form   *parquetFile
	values []*leaf
	roles  [roles]*leaf
	row    int // how many were read
}

func (c *parquetCursor) Close() error { return nil }

func (c *parquetCursor) next(b *Batch, n int) error {
	return protected(func() error { return c.read(b, n) })
}

func (c *parquetCursor) read(b *Batch, n int) (err error) {
	width := c.form.t.width
	// What a header says of the number of rows is not taken for memory: values grow as they
	// come.
	n = min(n, c.form.rows-c.row, max(1, chunk/width))
	if n == 0 {
		return io.EOF
	}
	for r, l := range c.roles {
		if l == nil {
			continue
		}
		if b.texts[r], err = c.texts(l, role(r), b.texts[r], n); err != nil {
			return err
		}
		if role(r) == labelRole && isNumeric(l.column) {
			if err := nameLabels(b.last(labelRole, n), c.form.names, l.column.Name(), c.row); err != nil {
				return err
			}
		}
	}
	keep, kept := c.form.t.keep(b, c.row, n)
	b.keepTexts(keep)
	switch {
	case c.values == nil:
	case c.form.list:
		err = c.readLists(b, n)
	case c.form.t.cell != nil:
		err = c.readCells(b, n, keep, kept)
	default:
		err = c.readColumns(b, n)
	}
	if err != nil {
		return err
	}
	if keep != nil && c.values != nil && c.form.t.cell == nil {
		b.Values = keepRows(b.Values, width, keep)
	}
	b.rows += kept
	c.row += n
	return nil
}

// texts appends those of the next n rows.
func (c *parquetCursor) texts(l *leaf, of role, texts []string, n int) ([]string, error) {
	if err := l.pass.spend(textCost * int64(n)); err != nil {
		return nil, fmt.Errorf("row %d: %s: %w", c.row, of, err)
	}
	for i := range n {
		text, err := l.text()
		if err != nil {
			return nil, fmt.Errorf("row %d: %s: %w", c.row+i, of, err)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func (c *parquetCursor) readLists(b *Batch, n int) (err error) {
	for i := range n {
		row, before, width := c.row+i, len(b.Values), c.form.t.width
		if b.Values, err = c.values[0].list(b.Values, c.form.t.options.Reference.Origins, b.samples); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		if got := len(b.Values) - before; got != width {
			return fmt.Errorf("row %d has %d values, the first row %d", row, got, width)
		}
	}
	return nil
}

func (c *parquetCursor) readColumns(b *Batch, n int) error {
	before, width := len(b.Values), c.form.t.width
	b.Values = extend(b.Values, n*width)
	for j, l := range c.values {
		origin := originOf(c.form.t.options.Reference.Origins, j)
		for i := 0; i < n; {
			numbers, err := l.numbers(n - i)
			if err != nil {
				return fmt.Errorf("row %d: column %q: %w", c.row+i, l.column.Name(), err)
			}
			for _, number := range numbers {
				if b.samples != nil && b.samples[j].due() {
					b.samples[j].add(number)
				}
				b.Values[before+i*width+j] = float32(number - origin)
				i++
			}
		}
	}
	return nil
}

// readCells reads columns whose cells may be words, of the rows that are kept.
func (c *parquetCursor) readCells(b *Batch, n int, keep []bool, kept int) error {
	before, width, at := len(b.Values), c.form.t.width, 0
	b.Values = extend(b.Values, kept*width)
	for j, l := range c.values {
		values, row := 0, 0
		for i := range n {
			text, err := l.cell()
			if err != nil {
				return fmt.Errorf("row %d: column %q: %w", c.row+i, l.column.Name(), err)
			}
			if keep != nil && !keep[i] {
				continue
			}
			of, err := c.form.t.cell(b, b.Values[before+row*width+at:][:0], c.row+i, j, text)
			if err != nil {
				return fmt.Errorf("row %d: %w", c.row+i, err)
			}
			values = len(of)
			row++
		}
		at += values
	}
	return nil
}

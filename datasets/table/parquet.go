package table

import (
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetFile is the form of Parquet files: the values are one column of lists, or many of
// numbers.
type parquetFile struct {
	file   *os.File
	size   int64
	parsed *parquet.File
	list   bool
	width  int
	// values, labels and ids are columns at the ends of the schema; the last two may be nil.
	values      []*parquet.Column
	labels, ids *parquet.Column
}

func openParquet(t *Table) (err error) {
	file, err := os.Open(t.name)
	if err != nil {
		return err
	}
	f := &parquetFile{file: file}
	t.form = f
	return protected(func() error { return f.open(t) })
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

func (f *parquetFile) open(t *Table) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	if err := checkFooter(f.file, f.size); err != nil {
		return fmt.Errorf("not a whole Parquet file: %w", err)
	}
	f.parsed, err = parquet.OpenFile(f.file, f.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("not a whole Parquet file: %w", err)
	}
	fields := make(map[string]*parquet.Column)
	var there []string
	for _, field := range f.parsed.Root().Columns() {
		fields[field.Name()] = field
		there = append(there, field.Name())
	}
	if err := f.choose(t, fields, there); err != nil {
		return err
	}
	if text, found := f.parsed.Lookup(classNamesArray); found {
		if t.named, err = parseClassNames(text); err != nil {
			return err
		}
	}
	return f.measure(t)
}

// choose finds the columns that are wanted.
func (f *parquetFile) choose(t *Table, fields map[string]*parquet.Column, there []string) error {
	labels, ids, err := chooseLabels(there, t.options)
	if err != nil {
		return err
	}
	if t.options.IgnoreLabels {
		labels = ""
	}
	if f.labels, err = single(fields, labels); err != nil {
		return err
	}
	if f.ids, err = single(fields, ids); err != nil {
		return err
	}
	t.labels = f.labels != nil
	values, err := chooseValues(there, t.options)
	if err != nil {
		return err
	}
	if field := fields[values]; field != nil && leafOf(field).MaxRepetitionLevel() > 0 {
		leaf := leafOf(field)
		if leaf.MaxRepetitionLevel() != 1 {
			return fmt.Errorf("column %q holds lists of lists; want lists of numbers", values)
		}
		f.list, f.values = true, []*parquet.Column{leaf}
		t.kind, t.element = kindOf(values, t.options), elementName(leaf)
		return numeric(leaf, values)
	}
	layout, err := chooseColumns(there, t.options)
	if err != nil {
		return err
	}
	for _, i := range layout.values {
		leaf, err := single(fields, there[i])
		if err != nil {
			return err
		}
		if err := numeric(leaf, there[i]); err != nil {
			return err
		}
		f.values = append(f.values, leaf)
	}
	t.kind, t.element = layout.kind, elementName(f.values[0])
	t.columns, t.named = layout.names, layout.named
	return nil
}

// measure finds the numbers of rows and of values a row.
func (f *parquetFile) measure(t *Table) error {
	rows := f.parsed.NumRows()
	if rows < 0 || rows > maxRows {
		return fmt.Errorf("a number of %d rows", rows)
	}
	t.rows, t.width = int(rows), len(f.values)
	if f.list && rows > 0 {
		first := newLeaf(f, f.values[0], true)
		defer first.close()
		values, err := first.list(nil, 0)
		if err != nil {
			return fmt.Errorf("row 0: %w", err)
		}
		t.width = len(values)
	}
	f.width = t.width
	return nil
}

// leafOf returns the column that holds a field's values, which a list has below it.
func leafOf(field *parquet.Column) *parquet.Column {
	for !field.Leaf() && len(field.Columns()) == 1 {
		field = field.Columns()[0]
	}
	return field
}

// single returns a field of one value a row, nil where the name is empty.
func single(fields map[string]*parquet.Column, name string) (*parquet.Column, error) {
	if name == "" {
		return nil, nil
	}
	field := fields[name]
	if !field.Leaf() || field.MaxRepetitionLevel() > 0 {
		return nil, fmt.Errorf("column %q holds %s; want one number or text a row", name, typeName(field))
	}
	return field, nil
}

func typeName(field *parquet.Column) string {
	if leaf := leafOf(field); leaf.Leaf() {
		if leaf.MaxRepetitionLevel() > 0 {
			return "lists"
		}
		return leaf.Type().String()
	}
	return "groups of columns"
}

// numeric returns an error unless a column holds numbers.
func numeric(leaf *parquet.Column, name string) error {
	if !leaf.Leaf() || elementName(leaf) == "" {
		return fmt.Errorf("column %q holds %s; want numbers, but in the columns id and label", name, typeName(leaf))
	}
	return nil
}

// elementName is the type of a column's numbers, empty where they are none.
func elementName(leaf *parquet.Column) string {
	kind, logical := leaf.Type().Kind(), leaf.Type().LogicalType()
	if kind == parquet.FixedLenByteArray {
		if isHalf(logical) {
			return "float16"
		}
		return ""
	}
	if !isPlain(logical) {
		return ""
	}
	return map[parquet.Kind]string{
		parquet.Boolean: "bool", parquet.Int32: "int32", parquet.Int64: "int64", parquet.Float: "float32", parquet.Double: "float64",
	}[kind]
}

func (f *parquetFile) Close() error { return f.file.Close() }

func (f *parquetFile) scan(labelsAlone bool) (cursor, error) {
	c := &parquetCursor{form: f, rows: int(f.parsed.NumRows())}
	if f.labels != nil {
		c.labels = newLeaf(f, f.labels, false)
	}
	if labelsAlone {
		return c, nil
	}
	for _, column := range f.values {
		c.values = append(c.values, newLeaf(f, column, true))
	}
	if f.ids != nil {
		c.ids = newLeaf(f, f.ids, false)
	}
	return c, nil
}

type parquetCursor struct {
	form        *parquetFile
	values      []*leaf
	labels, ids *leaf
	row, rows   int
}

func (c *parquetCursor) Close() error {
	for _, l := range append([]*leaf{c.labels, c.ids}, c.values...) {
		if l != nil {
			l.close()
		}
	}
	return nil
}

func (c *parquetCursor) next(b *Batch, n int) error {
	return protected(func() error { return c.read(b, n) })
}

func (c *parquetCursor) read(b *Batch, n int) (err error) {
	// What a header says of the number of rows is not taken for memory: values grow as they
	// come.
	n = min(n, c.rows-c.row, max(1, chunk/c.form.width))
	if n == 0 {
		return io.EOF
	}
	if c.values != nil && c.form.list {
		err = c.readLists(b, n)
	} else if c.values != nil {
		err = c.readColumns(b, n)
	}
	if err != nil {
		return err
	}
	for i := range n {
		if c.labels != nil {
			text, err := c.labels.text()
			if err != nil {
				return fmt.Errorf("row %d: labels: %w", c.row+i, err)
			}
			b.names = append(b.names, text)
		}
		if c.ids != nil {
			text, err := c.ids.text()
			if err != nil {
				return fmt.Errorf("row %d: ids: %w", c.row+i, err)
			}
			b.ids = append(b.ids, text)
		}
	}
	c.row += n
	b.rows += n
	return nil
}

func (c *parquetCursor) readLists(b *Batch, n int) (err error) {
	for i := range n {
		before := len(b.Values)
		if b.Values, err = c.values[0].list(b.Values, c.form.width); err != nil {
			return fmt.Errorf("row %d: %w", c.row+i, err)
		}
		if got := len(b.Values) - before; got != c.form.width {
			return fmt.Errorf("row %d has %d values, the first row %d", c.row+i, got, c.form.width)
		}
	}
	return nil
}

func (c *parquetCursor) readColumns(b *Batch, n int) error {
	before, width := len(b.Values), c.form.width
	b.Values = extend(b.Values, n*width)
	for j, l := range c.values {
		for i := 0; i < n; {
			numbers, err := l.numbers(n - i)
			if err != nil {
				return fmt.Errorf("row %d: column %q: %w", c.row+i, l.column.Name(), err)
			}
			for _, number := range numbers {
				b.Values[before+i*width+j] = number
				i++
			}
		}
	}
	return nil
}

// isHalf reports whether two bytes are a number of float16.
func isHalf(logical *format.LogicalType) bool {
	if logical == nil {
		return false
	}
	_, half := logical.Value.(*format.Float16Type)
	return half
}

// isPlain reports whether numbers are what they are stored as: no dates, no decimals.
func isPlain(logical *format.LogicalType) bool {
	if logical == nil || logical.Value == nil {
		return true
	}
	_, integer := logical.Value.(*format.IntType)
	return integer
}

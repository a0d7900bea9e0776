package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"iwda/internal/input"
	"iwda/internal/printable"
)

// csvFile is the form of lines of text, the first of which names the columns.
type csvFile struct {
	t       *Table
	columns int
	layout  layout
}

// maxRecord bounds the bytes of a line, which is held whole: a quotation mark that is not
// closed makes the rest of a file one.
const maxRecord = 64 << 20

// maxCells bounds the cells of a line: the values of a row, and some.
const maxCells = maxWidth + 1<<12

func openCSV(t *Table) error {
	f := &csvFile{t: t}
	lines, err := f.open(false)
	if err != nil {
		return err
	}
	defer lines.Close()
	header, err := lines.record()
	if err == io.EOF {
		return errors.New("is empty; want a first line with the names of columns")
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(header, func(name string) bool { return !isNumber(name) }) {
		return fmt.Errorf("%s:1: the first line holds numbers alone; want one with the names of columns", f.t.name)
	}
	names := make([]string, len(header))
	for i, name := range header {
		names[i] = strings.Clone(strings.TrimSpace(name))
	}
	if names[0] == "" {
		names[0] = unnamedIndex
	}
	f.columns = len(names)
	if f.layout, err = t.chooseColumns(names); err != nil {
		return fmt.Errorf("%s:1: %w", f.t.name, err)
	}
	t.rows, t.width, t.labels = -1, len(t.columns), f.layout.labels >= 0
	t.decimalComma = lines.Comma != ','
	t.form = f
	return nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return err == nil
}

func (f *csvFile) Close() error { return nil }

func (f *csvFile) scan(labelsAlone bool) (cursor, error) {
	c, err := f.open(labelsAlone)
	if err != nil {
		return nil, err
	}
	if _, err := c.record(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// csvCursor reads the records of an open file.
type csvCursor struct {
	*csv.Reader
	form        *csvFile
	labelsAlone bool
	file        *os.File
	limited     *limitedReader
}

// open opens the file before its first line, and finds out what separates columns: tabs in a
// .tsv file; in others, the first line has commas, or else tabs, or else semicolons.
func (f *csvFile) open(labelsAlone bool) (*csvCursor, error) {
	file, err := input.Open(f.t.name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	buffered := bufio.NewReaderSize(file, int(min(chunk, info.Size()+1)))
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = buffered.Discard(3) // what Windows puts in front of UTF-8
	}
	limited := &limitedReader{Reader: buffered, separator: make([]byte, 1)}
	reader := csv.NewReader(limited)
	reader.ReuseRecord = true
	reader.FieldsPerRecord = -1
	start, _ := buffered.Peek(chunk)
	line, _, _ := bytes.Cut(start, []byte("\n"))
	separators := ",\t;"
	if strings.EqualFold(filepath.Ext(f.t.name), ".tsv") {
		separators, reader.Comma = "", '\t'
	}
	for _, separator := range separators {
		if bytes.ContainsRune(line, separator) {
			reader.Comma = separator
			break
		}
	}
	limited.separator[0] = byte(reader.Comma)
	return &csvCursor{reader, f, labelsAlone, file, limited}, nil
}

func (c *csvCursor) Close() error { return c.file.Close() }

// record reads a record.
func (c *csvCursor) record() ([]string, error) {
	c.limited.read, c.limited.cells = 0, 0
	record, err := c.Read()
	var damage *csv.ParseError
	if errors.As(err, &damage) {
		return nil, fmt.Errorf("%s:%d: column %d: %w", c.form.t.name, damage.Line, damage.Column, damage.Err)
	}
	return record, err
}

// limitedReader ends with an error where one record is too long.
type limitedReader struct {
	io.Reader
	separator []byte // of cells
	// read are the bytes that were read since a record began, and cells the separators in them.
	read, cells int
}

func (r *limitedReader) Read(p []byte) (int, error) {
	if r.read > maxRecord {
		return 0, fmt.Errorf("a line of more than %d bytes; is a quotation mark not closed?", maxRecord)
	}
	if r.cells > maxCells {
		return 0, fmt.Errorf("a line of more than %d columns", maxCells)
	}
	n, err := r.Reader.Read(p)
	r.read, r.cells = r.read+n, r.cells+bytes.Count(p[:n], r.separator)
	return n, err
}

func (c *csvCursor) next(b *Batch, n int) error {
	l := c.form.layout
	for i := range n {
		record, err := c.record()
		if err == io.EOF && i > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := c.FieldPos(0)
		if len(record) != c.form.columns {
			return fmt.Errorf("%s:%d: %d columns; the first line names %d", c.form.t.name, line, len(record), c.form.columns)
		}
		b.rows++
		b.lines = append(b.lines, line)
		if c.form.t.labels {
			b.names = append(b.names, printable.FromCell(strings.TrimSpace(record[l.labels])))
		}
		if c.labelsAlone {
			continue
		}
		if b.Values, err = c.appendValues(b.Values, record); err != nil {
			return fmt.Errorf("%s:%d: %w", c.form.t.name, line, err)
		}
		if l.ids >= 0 {
			b.ids = append(b.ids, strings.Clone(printable.FromCell(record[l.ids])))
		}
	}
	return nil
}

// appendValues appends the values of a record.
func (c *csvCursor) appendValues(values []float32, record []string) (_ []float32, err error) {
	t := c.form.t
	for j, column := range c.form.layout.values {
		if t.cell != nil {
			if values, err = t.cell(values, j, record[column]); err != nil {
				return values, err
			}
			continue
		}
		value, err := t.parse(record[column])
		if err != nil {
			return values, fmt.Errorf("column %q: %w", t.columns[j], c.form.notNumber(record[column]))
		}
		values = append(values, value)
	}
	return values, nil
}

// notNumber says what is wrong with a text that is no number.
func (f *csvFile) notNumber(text string) error {
	switch {
	case isMissing(text):
		return fmt.Errorf("%.100q stands for a missing value; fill it in, as with the column's mean, or leave out the column or the row", text)
	case f.layout.labels < 0 && !isNumber(text):
		return fmt.Errorf("%.100q is no number of float32; if these are labels, call the column label", text)
	}
	return fmt.Errorf("%.100q is no number of float32", text)
}

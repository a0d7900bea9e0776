package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/internal/printable"
)

// csvFile is the form of lines of text, the first of which names the columns.
type csvFile struct {
	t       *Table
	columns int
	layout  layout
	// nameless are columns of a source without a name, in which nothing may stand.
	nameless []int
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
	line := lines.line
	if err := oddHeader(header); err != nil {
		return f.at(line, err)
	}
	if !slices.ContainsFunc(header, func(name string) bool { return !isNumber(name) }) {
		return f.at(line, errors.New("the first line holds numbers alone; want one with the names of columns"))
	}
	names := convert.Each(header, func(name string) string { return strings.Clone(strings.TrimSpace(name)) })
	if names[0] == "" {
		names[0] = unnamedIndex
	}
	f.columns, t.there = len(names), names
	t.options.Ignore = append(slices.Clip(t.options.Ignore), "")
	if f.layout, err = t.chooseColumns(names); err != nil {
		return f.at(line, err)
	}
	if r := t.options.Reference; t.kind == Features && r.Columns == nil && r.Encoding == nil {
		for i, name := range names {
			if name == "" {
				f.nameless = append(f.nameless, i)
			}
		}
	}
	t.rows, t.width, t.labels = -1, len(t.columns), f.layout.roles[labelRole] >= 0
	t.form = f
	t.decimal, err = f.decimal(lines.Comma == ';')
	return err
}

// oddHeader says what else than the names of columns a first line is; nil if it looks like them.
func oddHeader(header []string) error {
	switch all := strings.Join(header, ""); {
	case strings.Contains(all, "\r"):
		return errors.New("lines end with a carriage return alone; save the file with line feeds (\\n)")
	case len(header) == 1 && strings.Contains(all, "|"):
		return errors.New("the first line has no commas, tabs or semicolons, but |; separate columns by one of those")
	}
	return nil
}

// otherColumns is the error of a line with another number of columns than the first one.
func otherColumns(record, names []string) error {
	hint := ""
	switch {
	case strings.HasPrefix(names[0], "#"):
		hint = "; if that is a comment, delete it"
	case strings.HasPrefix(record[0], "#"):
		hint = "; if this one is a comment, delete it"
	}
	return fmt.Errorf("%s; the first line names %d%s", printable.Count(len(record), "column"), len(names), hint)
}

func isNumber(text string) bool {
	_, err := parseFloat(strings.TrimSpace(text))
	return err == nil || errors.Is(err, strconv.ErrRange)
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
	row         int   // how many were read
	left        int64 // bytes of memory that may still be taken
	counted     int64 // bytes of text of which left knows
	line        int   // of the last record, 0 before the first
	end         int   // the line in which what was read last ends
	// empty are records before ahead, the next one that is not empty, which stands in the line aheadAt.
	// ahead is nil until it is read.
	empty   []emptyRecord
	ahead   []string
	aheadAt int
}

// emptyRecord is one in which no cell holds anything.
type emptyRecord struct{ line, cells int }

// open opens the file before its first line, and finds out what separates columns: tabs in a
// .tsv file; in others, what the first line that is not blank has most of, commas, tabs or semicolons.
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
	size, c := info.Size(), &csvCursor{form: f, labelsAlone: labelsAlone, file: file, left: math.MaxInt64}
	c.limited = &limitedReader{separator: make([]byte, 1), bytes: maxRecord, columns: maxCells}
	buffered := bufio.NewReaderSize(file, int(min(chunk, size+1)))
	if strings.HasSuffix(strings.ToLower(f.t.name), packed) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("not a whole .gz file: %w", err)
		}
		buffered = bufio.NewReaderSize(unpacked, chunk)
		// A line and its cells are held several times over.
		c.left, c.limited.bytes, c.limited.columns = MaxUnpacked(size), int(min(1<<22+size, maxRecord)), int(min(1<<17+size, maxCells))
	}
	buffered = decoded(buffered)
	c.limited.Reader = buffered
	reader := csv.NewReader(c.limited)
	reader.ReuseRecord = true
	reader.FieldsPerRecord = -1
	start, _ := buffered.Peek(chunk)
	line, _, _ := bytes.Cut(bytes.TrimLeft(start, " \r\n"), []byte("\n"))
	separators, most := ",\t;", 0
	if strings.HasPrefix(extension(f.t.name), ".tsv") {
		separators, reader.Comma = "", '\t'
	}
	for _, separator := range separators {
		if n := separatorsIn(line, byte(separator)); n > most {
			reader.Comma, most = separator, n
		}
	}
	c.limited.separator[0] = byte(reader.Comma)
	c.Reader = reader
	return c, nil
}

// separatorsIn counts the separators in a line that are not quoted.
func separatorsIn(line []byte, separator byte) (n int) {
	quoted := false
	for _, b := range line {
		switch {
		case b == '"':
			quoted = !quoted
		case b == separator && !quoted:
			n++
		}
	}
	return n
}

func (c *csvCursor) Close() error { return c.file.Close() }

// record reads a record. Those whose cells are all empty, as a spreadsheet leaves them around a
// table, are passed over above the first other one and below the last.
func (c *csvCursor) record() ([]string, error) {
	for c.ahead == nil {
		record, err := c.read()
		if err != nil {
			return nil, err
		}
		line, _ := c.FieldPos(0)
		if slices.ContainsFunc(record, holds) {
			c.ahead, c.aheadAt = record, line
		} else if c.line > 0 {
			c.empty = append(c.empty, emptyRecord{line, len(record)})
		}
	}
	if len(c.empty) > 0 {
		first := c.empty[0]
		c.line, c.empty = first.line, c.empty[1:]
		return make([]string, first.cells), nil
	}
	record := c.ahead
	c.line, c.ahead = c.aheadAt, nil
	return record, nil
}

// read reads a record as it is.
func (c *csvCursor) read() ([]string, error) {
	c.limited.read, c.limited.cells = 0, 0
	record, err := c.Read()
	var damage *csv.ParseError
	switch {
	case errors.As(err, &damage) && damage.Line > damage.StartLine:
		return nil, fmt.Errorf("%s:%d: a cell that begins with a quotation mark in this line does not end with one before line %d; delete the mark, or write it twice within a quoted cell", c.form.t.name, damage.StartLine, damage.Line)
	case errors.Is(err, errLongLine):
		return nil, fmt.Errorf("%s: after line %d: %w", c.form.t.name, c.end, err)
	case errors.As(err, &damage):
		return nil, fmt.Errorf("%s:%d: column %d: %w", c.form.t.name, damage.Line, damage.Column, damage.Err)
	}
	if i := slices.IndexFunc(record, func(cell string) bool { return !utf8.ValidString(cell) }); i >= 0 {
		line, _ := c.FieldPos(i)
		return nil, fmt.Errorf("%s:%d: %w", c.form.t.name, line, ErrNotUTF8)
	}
	if err == nil {
		c.end, _ = c.FieldPos(len(record) - 1)
		offset := c.InputOffset()
		err = c.spend(offset - c.counted)
		c.counted = offset
	}
	return record, err
}

// holds reports whether something stands in a cell.
func holds(cell string) bool { return strings.TrimSpace(cell) != "" }

// spend counts bytes of memory.
func (c *csvCursor) spend(bytes int64) error {
	if c.left -= bytes; c.left < 0 {
		return fmt.Errorf("%s: takes more than 100 times the memory that it has on disk; unpack it with gunzip", c.form.t.name)
	}
	return nil
}

// errLongLine is wrapped by the error of a record that is too long.
var errLongLine = errors.New("a line")

// limitedReader ends with an error where one record is too long.
type limitedReader struct {
	io.Reader
	separator []byte // of cells
	// bytes and columns bound a record.
	bytes, columns int
	// read are the bytes that were read since a record began, and cells the separators in them.
	read, cells int
}

func (r *limitedReader) Read(p []byte) (int, error) {
	if r.read > r.bytes {
		return 0, fmt.Errorf("%w of more than %d bytes; is a quotation mark not closed?", errLongLine, r.bytes)
	}
	if r.cells > r.columns {
		return 0, fmt.Errorf("%w of more than %d columns", errLongLine, r.columns)
	}
	n, err := r.Reader.Read(p)
	r.read, r.cells = r.read+n, r.cells+bytes.Count(p[:n], r.separator)
	return n, err
}

func (c *csvCursor) next(b *Batch, n int) error {
	l, before := c.form.layout, b.rows
	for b.rows < before+n {
		record, err := c.record()
		if err == io.EOF && b.rows > before {
			return nil
		}
		if err != nil {
			return err
		}
		line := c.line
		if len(record) != c.form.columns {
			return c.form.at(line, otherColumns(record, c.form.t.there))
		}
		c.row++
		if at := l.roles[domainRole]; at >= 0 {
			b.texts[domainRole] = append(b.texts[domainRole], textOf(record[at]))
			if _, kept := c.form.t.keep(b, c.row-1, 1); kept == 0 {
				b.texts[domainRole] = b.texts[domainRole][:b.rows]
				continue
			}
		}
		b.rows++
		b.lines = append(b.lines, line)
		if c.form.t.labels {
			b.texts[labelRole] = append(b.texts[labelRole], textOf(record[l.roles[labelRole]]))
		}
		if c.labelsAlone {
			continue
		}
		if err := c.spend(4*int64(c.form.t.width) + textCost); err != nil {
			return err
		}
		for _, at := range c.form.nameless {
			if holds(record[at]) {
				return c.form.at(line, fmt.Errorf("column %d holds %.100q, but has no name; name it, or delete it", at+1, record[at]))
			}
		}
		if b.Values, err = c.appendValues(b, line, record); err != nil {
			return c.form.at(line, err)
		}
		if at := l.roles[idRole]; at >= 0 {
			b.texts[idRole] = append(b.texts[idRole], strings.Clone(printable.FromCell(record[at])))
		}
		if at := l.roles[groupRole]; at >= 0 {
			b.texts[groupRole] = append(b.texts[groupRole], strings.Clone(textOf(record[at])))
		}
	}
	return nil
}

// textOf is what a cell says.
func textOf(cell string) string { return printable.FromCell(strings.TrimSpace(cell)) }

// at puts file and line before an error that has none.
func (f *csvFile) at(line int, err error) error {
	if strings.HasPrefix(err.Error(), f.t.name+":") {
		return err
	}
	return fmt.Errorf("%s:%d: %w", f.t.name, line, err)
}

// appendValues appends the values of a record in a line to those of the batch.
func (c *csvCursor) appendValues(b *Batch, line int, record []string) (values []float32, err error) {
	t := c.form.t
	values = b.Values
	for j, column := range c.form.layout.values {
		if t.cell != nil {
			if values, err = t.cell(b, values, line, j, record[column]); err != nil {
				return values, err
			}
			continue
		}
		number, is, err := t.parse(record[column])
		if err == nil && !is {
			err = fmt.Errorf("column %q: %w", t.columns[j], c.form.notNumber(record[column]))
		}
		if err != nil {
			return values, err
		}
		if b.samples != nil {
			b.samples[j].codes.add(record[column])
			if b.samples[j].due() {
				b.samples[j].add(number)
			}
		}
		values = append(values, float32(number-originOf(t.options.Reference.Origins, j)))
	}
	return values, nil
}

// notNumber says what is wrong with a text that is no number.
func (f *csvFile) notNumber(text string) error {
	switch {
	case isMissing(text):
		return fmt.Errorf("%.100q stands for a missing value; fill it in, as with the column's mean, or leave out the column or the row", text)
	case f.t.unfit(text):
		return fmt.Errorf("%.100q does not fit the decimal sign %q; write numbers with it", text, f.t.options.Decimal)
	case f.layout.roles[labelRole] < 0 && !isNumber(text):
		return fmt.Errorf("%.100q is not a float32 number; if these are labels, name the column as theirs, or call it label", text)
	}
	return fmt.Errorf("%.100q is not a float32 number", text)
}

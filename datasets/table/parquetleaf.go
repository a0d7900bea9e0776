package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// leaf goes over the values of one column.
type leaf struct {
	pass     *parquetPass
	column   *parquet.Column
	floats   bool // whether it is read by numbers or list, not by text
	unsigned bool
	moment   func(int64) time.Time // of a column of dates
	// What is still to be read: the pages of the column's part in a group of rows, nil before the first
	// one, and the groups from there on.
	pages  *parquet.FilePages
	source pageSource
	group  int
	page   parquet.Page // the last one
	// Of a page of floating-point numbers without nulls, dense are those that are still to be
	// given, and levels the repetition levels of all that are left. Those of 32 bits are in single, from where they
	// come to dense some at a time, in the memory of wide.
	dense  []float64
	single []float32
	wide   []float64
	levels []byte
	// Of any other page, values has those that are left, and read are the values of the buffer that are still
	// to be given.
	values parquet.ValueReader
	left   int
	buffer [256]parquet.Value
	read   []parquet.Value
	last   string // the last text that was given
}

func newLeaf(pass *parquetPass, column *parquet.Column, floats bool) *leaf {
	return &leaf{pass: pass, column: column, floats: floats, unsigned: isUnsigned(column), moment: momentOf(column), source: pageSource{pass: pass, column: column}}
}

var (
	errFewRows   = errors.New("the column ends before the last row")
	errFewValues = errors.New("a page ends before its last value")
	errNull      = errors.New("null; values must be finite numbers")
)

// fill makes sure that there are values to give.
func (l *leaf) fill() error {
	for len(l.dense) == 0 && len(l.read) == 0 {
		if some := l.single[:min(len(l.single), len(l.buffer))]; len(some) > 0 {
			l.single, l.wide = l.single[len(some):], l.wide[:0]
			for _, number := range some {
				l.wide = append(l.wide, float64(number))
			}
			l.dense = l.wide
			continue
		}
		if l.left == 0 {
			if err := l.nextPage(); err != nil {
				return err
			}
			continue
		}
		n, err := l.values.ReadValues(l.buffer[:])
		if n == 0 || n > l.left {
			return errors.Join(errFewValues, err)
		}
		l.read, l.left = l.buffer[:n], l.left-n
	}
	return nil
}

// nextPage goes on to the next page of values, of the next group of rows if need be.
func (l *leaf) nextPage() (err error) {
	parquet.Release(l.page)
	l.page = nil
	for l.page == nil {
		if l.pages == nil {
			if err := l.nextGroup(); err != nil {
				return err
			}
		}
		switch l.page, err = l.pages.ReadPage(); {
		case err != nil && l.source.err != nil:
			return l.source.err
		case err == io.EOF:
			l.pages.Close() // which gives memory to the next ones
			l.pages = nil
		case err != nil:
			return err
		}
	}
	n, data := int(l.page.NumValues()), l.page.Data()
	if l.page.Dictionary() != nil {
		for _, i := range data.Int32() {
			if i < 0 || int(i) >= l.page.Dictionary().Len() {
				return fmt.Errorf("place %d of a dictionary of %d values", i, l.page.Dictionary().Len())
			}
		}
	} else if l.floats && l.page.NumNulls() == 0 {
		switch l.column.Type().Kind() {
		case parquet.Float:
			l.single = data.Float()
		case parquet.Double:
			l.dense = data.Double()
		}
		l.levels = l.page.RepetitionLevels()
		switch len(l.single) + len(l.dense) {
		case n:
			return nil
		case 0:
		default:
			return errFewValues
		}
	}
	l.values, l.left = l.page.Values(), n
	return nil
}

// nextGroup goes on to the column's part in the next group of rows.
func (l *leaf) nextGroup() error {
	file := l.pass.file
	if l.group == len(file.parts) {
		return errFewRows
	}
	part := file.parts[l.group][l.column.Index()]
	if part.at < 0 || part.size < 0 || part.size > file.size-part.at {
		return fmt.Errorf("a column from byte %d on, of %d bytes, in a file of %d", part.at, part.size, file.size)
	}
	chunk := file.parsed.RowGroups()[l.group].ColumnChunks()[l.column.Index()].(*parquet.FileColumnChunk)
	l.group++
	l.source.at, l.source.end, l.source.codec, l.source.dictionary = part.at, part.at+part.size, part.codec, false
	l.pages = chunk.PagesFrom(&l.source)
	return nil
}

// numbers returns one or more of the next n numbers, which are valid until the next call.
func (l *leaf) numbers(n int) ([]float64, error) {
	if err := l.fill(); err != nil {
		return nil, err
	}
	part, _ := l.part(n, false)
	if len(part) == 0 {
		return nil, errNull
	}
	return part, nil
}

// list appends the values of a row, each of which but the first one repeats, less their origins, and adds
// them to the samples of the columns, if there are any.
func (l *leaf) list(values []float32, origins []float64, samples []sample) ([]float32, error) {
	before, sampled := len(values), samples != nil && samples[0].due()
	for {
		if err := l.fill(); err == errFewRows && len(values) > before {
			return values, nil
		} else if err != nil {
			return values, err
		}
		part, more := l.part(maxWidth+1, len(values) > before)
		if !more {
			return values, nil
		}
		if len(part) == 0 {
			return values, fmt.Errorf("column %q: a list that is empty or null, or has a null; values must be finite numbers", l.column.Path()[0])
		}
		for _, number := range part {
			j := len(values) - before
			if sampled && j < len(samples) {
				samples[j].add(number)
			}
			values = append(values, float32(number-originOf(origins, j)))
		}
		if len(values)-before > maxWidth {
			return values, fmt.Errorf("column %q: a list of more than %d values", l.column.Path()[0], maxWidth)
		}
	}
}

// part takes up to n values of what there is of a row, or of a column without lists, and says
// that there was more of the row. What is neither a number nor the end of the row is no part.
func (l *leaf) part(n int, begun bool) (part []float64, more bool) {
	if len(l.dense) == 0 {
		switch value := l.read[0]; {
		case begun && value.RepetitionLevel() == 0:
			return nil, false
		case value.IsNull():
			return nil, true
		default:
			l.wide = append(l.wide[:0], l.numberOf(value))
			l.read = l.read[1:]
			return l.wide, true
		}
	}
	n = min(n, len(l.dense))
	if l.column.MaxRepetitionLevel() > 0 {
		if begun && l.levels[0] == 0 {
			return nil, false
		}
		if end := bytes.IndexByte(l.levels[1:n], 0); end >= 0 {
			n = end + 1
		}
		l.levels = l.levels[n:]
	}
	part, l.dense = l.dense[:n], l.dense[n:]
	return part, true
}

// numberOf returns a value of a column of numbers.
func (l *leaf) numberOf(value parquet.Value) float64 {
	switch value.Kind() {
	case parquet.Float:
		return float64(value.Float())
	case parquet.Double:
		return value.Double()
	case parquet.Int32, parquet.Int64:
		if l.unsigned {
			return float64(unsignedOf(value))
		}
		return float64(signedOf(value))
	case parquet.Boolean:
		if value.Boolean() {
			return 1
		}
		return 0
	}
	return float64(half(binary.LittleEndian.Uint16(value.ByteArray())))
}

func signedOf(value parquet.Value) int64 {
	if value.Kind() == parquet.Int32 {
		return int64(value.Int32())
	}
	return value.Int64()
}

func unsignedOf(value parquet.Value) uint64 {
	if value.Kind() == parquet.Int32 {
		return uint64(value.Uint32())
	}
	return value.Uint64()
}

// cell returns the next value as the text of a cell, which is empty for null.
func (l *leaf) cell() (string, error) {
	if err := l.fill(); err != nil {
		return "", err
	}
	switch value := l.read[0]; value.Kind() {
	case parquet.Float, parquet.Double, parquet.FixedLenByteArray:
		l.read = l.read[1:]
		return strconv.FormatFloat(l.numberOf(value), 'g', -1, 64), nil
	}
	return l.text()
}

// text returns the next value as a text, which is empty for null.
func (l *leaf) text() (string, error) {
	if err := l.fill(); err != nil {
		return "", err
	}
	value := l.read[0]
	l.read = l.read[1:]
	if value.IsNull() {
		return "", nil
	}
	switch value.Kind() {
	case parquet.ByteArray:
		return l.textOf(value.ByteArray())
	case parquet.Int32, parquet.Int64:
		if l.moment != nil {
			return l.moment(signedOf(value)).UTC().Format("2006-01-02 15:04:05.999999999"), nil
		}
		if l.unsigned {
			return strconv.FormatUint(unsignedOf(value), 10), nil
		}
		return strconv.FormatInt(signedOf(value), 10), nil
	case parquet.Boolean:
		return strconv.Itoa(int(l.numberOf(value))), nil
	case parquet.Float:
		return wholeText(float64(value.Float()))
	case parquet.Double:
		return wholeText(value.Double())
	}
	return "", fmt.Errorf("elements of type %s; want integers or texts", l.column.Type())
}

// textOf returns a copy of a text. Those that are equal to the one before share its memory.
func (l *leaf) textOf(text []byte) (string, error) {
	if string(text) == l.last {
		return l.last, nil
	}
	if !utf8.Valid(text) {
		return "", fmt.Errorf("%.100q is not UTF-8; write texts in UTF-8", text)
	}
	l.last = string(text)
	return l.last, l.pass.spend(int64(len(text)))
}

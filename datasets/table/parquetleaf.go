package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// leaf goes over the values of one column.
type leaf struct {
	pass     *parquetPass
	column   *parquet.Column
	kind     parquet.Kind
	width    int // bytes of a value, 0 of texts
	repeated int // the largest level of what repeats, and of what is there
	optional int
	unsigned bool
	moment   func(int64) time.Time // of a column of dates
	// What is still to be read: the column's part in a group of rows, from byte at on, and the groups after it.
	at, end int64
	codec   format.CompressionCodec
	group   int
	parquetPage
	memory []byte // of the page
	// The levels of the next value, once they are looked at.
	peeked           bool
	repeats, defined int
	block            []float64 // numbers that were given
	last             string    // the last text that was given
}

func newLeaf(pass *parquetPass, column *parquet.Column) *leaf {
	l := &leaf{pass: pass, column: column, kind: column.Type().Kind(), width: 4, repeated: column.MaxRepetitionLevel(), optional: column.MaxDefinitionLevel(), unsigned: isUnsigned(column), moment: momentOf(column)}
	switch l.kind {
	case parquet.ByteArray:
		l.width = 0
	case parquet.Int64, parquet.Double:
		l.width = 8
	case parquet.FixedLenByteArray:
		l.width = max(1, column.Type().Length())
	}
	return l
}

var (
	errFewRows   = errors.New("the column ends before the last row")
	errFewValues = errors.New("a page ends before its last value")
	errNull      = errors.New("null; values must be finite numbers")
)

// peek looks at the levels of the next value, on the next page if need be.
func (l *leaf) peek() (err error) {
	if l.peeked {
		return nil
	}
	for l.left == 0 {
		if at := l.at; at == l.end {
			err = l.nextGroup()
		} else if err = l.readPage(); err != nil {
			err = fmt.Errorf("the page at byte %d: %w", at, err)
		}
		if err != nil {
			return err
		}
	}
	l.left--
	if l.repeated > 0 {
		if l.repeats, err = l.repetition.next(); err != nil {
			return fmt.Errorf("repetition levels: %w", err)
		}
	}
	if l.optional > 0 {
		if l.defined, err = l.definition.next(); err != nil {
			return fmt.Errorf("definition levels: %w", err)
		}
	}
	l.peeked = true
	return nil
}

// null reports whether the next value, which was looked at, is null.
func (l *leaf) null() bool { return l.defined < l.optional }

// next returns the next value as it is stored, nil for null; it is valid until the next call.
func (l *leaf) next() ([]byte, error) {
	if err := l.peek(); err != nil {
		return nil, err
	}
	if l.peeked = false; l.null() {
		return nil, nil
	}
	return l.value()
}

// nextGroup goes on to the column's part in the next group of rows.
func (l *leaf) nextGroup() error {
	file := l.pass.file
	groups := file.parsed.Metadata().RowGroups
	if l.group == len(groups) {
		return errFewRows
	}
	of := groups[l.group].Columns[l.column.Index()].MetaData
	at, size := of.DataPageOffset, of.TotalCompressedSize
	if first := of.DictionaryPageOffset; first > 0 {
		at = min(at, first)
	}
	if at < 0 || size < 0 || size > file.size-at {
		return fmt.Errorf("a column from byte %d on, of %d bytes, in a file of %d", at, size, file.size)
	}
	l.group++
	l.at, l.end, l.codec, l.dictionary = at, at+size, of.Codec, nil
	return nil
}

// numbers returns one or more of the next n numbers, which are valid until the next call.
func (l *leaf) numbers(n int) ([]float64, error) {
	const most = 256
	l.block = l.block[:0]
	for len(l.block) < min(n, most) {
		if err := l.peek(); err != nil {
			return nil, err
		}
		if l.null() && len(l.block) == 0 {
			return nil, errNull
		}
		if l.null() {
			break
		}
		value, err := l.next()
		if err != nil {
			return nil, err
		}
		l.block = append(l.block, l.numberOf(value))
		if l.left == 0 {
			break // so that an error is one of the row that it is in
		}
	}
	return l.block, nil
}

// list appends the values of a row, each of which but the first one repeats, less their origins, and adds
// them to the samples of the columns, if there are any.
func (l *leaf) list(values []float32, origins []float64, samples []sample) ([]float32, error) {
	before, sampled := len(values), samples != nil && samples[0].due()
	for j := 0; ; j++ {
		if err := l.peek(); err == errFewRows && j > 0 {
			return values, nil
		} else if err != nil {
			return values, err
		}
		if j > 0 && l.repeats == 0 {
			return values, nil
		}
		if l.null() {
			return values, fmt.Errorf("column %q: a list that is empty or null, or has a null; values must be finite numbers", l.column.Path()[0])
		}
		value, err := l.next()
		if err != nil {
			return values, err
		}
		number := l.numberOf(value)
		if sampled && j < len(samples) {
			samples[j].add(number)
		}
		if values = append(values, float32(number-originOf(origins, j))); len(values)-before > maxWidth {
			return values, fmt.Errorf("column %q: a list of more than %d values", l.column.Path()[0], maxWidth)
		}
	}
}

// numberOf returns a value of a column of numbers.
func (l *leaf) numberOf(value []byte) float64 {
	switch l.kind {
	case parquet.Float:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(value)))
	case parquet.Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(value))
	case parquet.Int32, parquet.Int64:
		if l.unsigned {
			return float64(uint64(l.integerOf(value)))
		}
		return float64(l.integerOf(value))
	case parquet.Boolean:
		return float64(value[0])
	}
	return float64(half(binary.LittleEndian.Uint16(value)))
}

// integerOf returns a whole number. One without a sign is the uint64 of these bits.
func (l *leaf) integerOf(value []byte) int64 {
	switch {
	case len(value) == 8:
		return int64(binary.LittleEndian.Uint64(value))
	case l.unsigned:
		return int64(binary.LittleEndian.Uint32(value))
	}
	return int64(int32(binary.LittleEndian.Uint32(value)))
}

// cell returns the next value as the text of a cell, which is empty for null.
func (l *leaf) cell() (string, error) {
	switch l.kind {
	case parquet.Float, parquet.Double, parquet.FixedLenByteArray:
		value, err := l.next()
		if value == nil {
			return "", err
		}
		return strconv.FormatFloat(l.numberOf(value), 'g', -1, 64), nil
	}
	return l.text()
}

// text returns the next value as a text, which is empty for null.
func (l *leaf) text() (string, error) {
	value, err := l.next()
	if value == nil {
		return "", err
	}
	switch l.kind {
	case parquet.ByteArray:
		return l.textOf(value)
	case parquet.Int32, parquet.Int64:
		if l.moment != nil {
			return l.moment(l.integerOf(value)).UTC().Format("2006-01-02 15:04:05.999999999"), nil
		}
		if l.unsigned {
			return strconv.FormatUint(uint64(l.integerOf(value)), 10), nil
		}
		return strconv.FormatInt(l.integerOf(value), 10), nil
	case parquet.Boolean:
		return strconv.Itoa(int(value[0])), nil
	case parquet.Float, parquet.Double:
		return wholeText(l.numberOf(value))
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

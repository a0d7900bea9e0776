package table

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// decimal finds out what is before the fractions of numbers in a file of text, once, if a cell can be
// read in two ways.
type decimal struct {
	found      atomic.Int32           // point or comma; noNumber until it is known
	given      bool                   // somebody said it
	presumed   atomic.Pointer[string] // see [Table.Decimal]
	semicolons bool                   // separate columns, as where commas are before fractions
	find       func() (written, error)
}

// parse reads a number. The error is that of a file whose numbers can be read in two ways.
func (t *Table) parse(text string) (_ float64, is bool, err error) {
	d, found := t.decimal, noNumber
	if d != nil {
		found = written(d.found.Load())
	}
	if t.unfit(text) {
		return 0, false, nil
	}
	if found == comma && strings.ContainsAny(text, ".,") && !strings.ContainsAny(text, "xX") { // nearly every number of such a file
		if number, wrong := parseNumber(comma.pointed(text)); wrong == nil {
			return number, true, nil
		}
	}
	number, wrong := parseNumber(text)
	if wrong != nil {
		text = plain(strings.TrimSpace(text))
		number, wrong = parseNumber(text)
	}
	if d == nil || wrong == nil && (!d.semicolons || found != noNumber || !threeAfter(text)) || !strings.ContainsAny(text, ".,") || !inTwoWays(text) {
		return number, wrong == nil, nil
	}
	if found, err = d.find(); wrong != nil || found == comma {
		number, wrong = parseNumber(found.pointed(text))
	}
	return number, err == nil && wrong == nil, err
}

// unfit reports whether a text is a number that cannot have the decimal sign that somebody gave, and keeps what those
// with three digits after the other sign are taken for.
func (t *Table) unfit(text string) bool {
	d := t.decimal
	if d == nil || !d.given || !strings.ContainsAny(text, ".,") {
		return false
	}
	way, sign := wayOf(plain(strings.TrimSpace(text))), written(d.found.Load())
	if d.presumed.Load() == nil && (sign == point && way == commaOrThousands || sign == comma && way == pointOrThousands) {
		d.presume(text, asThousands)
	}
	return slices.Contains(surely[opposite[sign]], way)
}

// pointed writes a number with a point before its fraction, and without the sign between thousands.
func (w written) pointed(text string) string {
	between, before := ",", "."
	if w == comma {
		between, before = ".", ","
	}
	if strings.Contains(text, between) && wayOf(text).groups(between) {
		text = strings.ReplaceAll(text, between, "")
	}
	return strings.Replace(text, before, ".", 1)
}

// parseNumber reads a number that float32 has room for.
func parseNumber(text string) (float64, error) {
	number, err := parseFloat(text)
	if err == nil && math.IsInf(float64(float32(number)), 0) && !math.IsInf(number, 0) {
		err = strconv.ErrRange
	}
	return number, err
}

// Fraction reads a number that is at most 1, so that its point or comma stands before a fraction. A number that
// is written in another way is an error.
func Fraction(text string) (float64, error) {
	if withComma.MatchString(text) {
		text = strings.Replace(text, ",", ".", 1)
	}
	return parseFloat(text)
}

// parseFloat is [strconv.ParseFloat] without the underscores of Go, which no table has in numbers: 1_11
// is a name.
func parseFloat(text string) (float64, error) {
	if strings.ContainsRune(text, '_') {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}

var (
	withComma = regexp.MustCompile(`^[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?$`)
	commas    = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`) // between thousands
	points    = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?$`)
)

func inTwoWays(text string) bool {
	return withComma.MatchString(text) || commas.MatchString(text) || points.MatchString(text)
}

// threeAfter reports whether the first point or comma has three characters after it, as in a number that
// may be a fraction or thousands.
func threeAfter(text string) bool {
	at := strings.IndexAny(text, ".,")
	return at >= 0 && at == len(text)-len(".234")
}

// written is how a number is written.
type written int

const (
	noNumber   written = iota
	whole              // without a sign before a fraction
	point              // 1.5
	comma              // 1,5
	withCommas         // 1,234.5 and 1,234,567
	withPoints         // 1.234,5 and 1.234.567
	// Fraction or thousands: 1.234 and 1,234.
	pointOrThousands
	commaOrThousands
	ways
)

func wayOf(text string) written {
	_, err := parseNumber(text)
	hasComma := err != nil && withComma.MatchString(text)
	either := err == nil || hasComma
	switch {
	case hasComma && threeAfter(text) && commas.MatchString(text):
		return commaOrThousands
	case err == nil && threeAfter(text) && points.MatchString(text):
		return pointOrThousands
	case !either && commas.MatchString(text):
		return withCommas
	case !either && points.MatchString(text):
		return withPoints
	case hasComma:
		return comma
	case err == nil && strings.ContainsRune(text, '.'):
		return point
	case err == nil:
		return whole
	}
	return noNumber
}

// groups tells whether a number that is written so may have this sign between thousands.
func (w written) groups(sign string) bool {
	if sign == "," {
		return w == withCommas || w == commaOrThousands
	}
	return w == withPoints || w == pointOrThousands
}

// cellAt is a cell of a file.
type cellAt struct {
	line   int // 0 for none
	column string
	text   string
}

func (c cellAt) String() string {
	return fmt.Sprintf("column %.100q: %.100q", c.column, c.text)
}

// ofColumn is what was seen of the cells of a column.
type ofColumn struct {
	cells [ways]int
	first [ways]cellAt
	large bool // a number of four digits or more without separators
}

var (
	opposite = map[written]written{point: comma, comma: point}
	// surely lists how numbers are written that have this sign before fractions for sure.
	surely = map[written][]written{point: {point, withCommas}, comma: {comma, withPoints}}
)

// sure counts the cells that have this sign before fractions for sure.
func (c *ofColumn) sure(sign written) (cells int) {
	for _, way := range surely[sign] {
		cells += c.cells[way]
	}
	return cells
}

// decimal is that of the columns of values.
func (f *csvFile) decimal(semicolons bool) (*decimal, error) {
	d := &decimal{semicolons: semicolons}
	switch f.t.options.Decimal {
	case "":
	case ".", ",":
		d.given = true
		d.found.Store(int32(map[string]written{".": point, ",": comma}[f.t.options.Decimal]))
		d.find = func() (written, error) { return written(d.found.Load()), nil }
		return d, nil
	default:
		return nil, fmt.Errorf("the decimal sign is %.100q; want a point or a comma", f.t.options.Decimal)
	}
	d.find = sync.OnceValues(func() (written, error) {
		found, err := f.findDecimal(semicolons)
		d.found.Store(int32(found))
		return found, err
	})
	return d, nil
}

// findDecimal goes over all cells of those columns of which nine in ten are numbers, however these
// are written, and returns point or comma: the sign that stands before fractions for sure in some cell, as in 1.5 or
// 1,234.5. Cells that have the other sign for sure are none of numbers if they are few: in each column at most one for
// nine that are whole or have the former; and in all, too, one for nine that have the former, or fewer than these where
// no number could be thousands. Where all numbers with a sign could be thousands, it is the sign of the reference; or
// else, if semicolons separate columns, that of fractions if all numbers of a column have it.
func (f *csvFile) findDecimal(semicolons bool) (written, error) {
	columns := make([]ofColumn, len(f.layout.values))
	if err := f.look(columns); err != nil {
		return noNumber, err
	}
	var all ofColumn
	alike := true                 // no column has numbers without a sign beside those that may be thousands
	against := map[written]bool{} // a column has many numbers with the other sign
	for _, c := range columns {
		numbers := 0
		for _, n := range c.cells[whole:] {
			numbers += n
		}
		if 9*c.cells[noNumber] > numbers {
			continue // one of words
		}
		if n := c.cells[pointOrThousands] + c.cells[commaOrThousands]; n > 0 {
			alike = alike && n >= fewestAlike && n == numbers
		}
		for sign, other := range opposite {
			against[sign] = against[sign] || 9*c.sure(other) > c.sure(sign)+c.cells[whole]
		}
		all.large = all.large || c.large && c.cells[pointOrThousands]+c.cells[commaOrThousands] > 0
		for way, first := range c.first {
			if all.cells[way] += c.cells[way]; all.first[way].line == 0 {
				all.first[way] = first
			}
		}
	}
	firstOf := func(ways ...written) (cellAt, bool) {
		for _, way := range ways {
			if all.cells[way] > 0 {
				return all.first[way], true
			}
		}
		return cellAt{}, false
	}
	d, either := f.t.decimal, all.cells[pointOrThousands]+all.cells[commaOrThousands] > 0
	for sign, other := range opposite {
		sure, few := all.sure(sign), all.sure(other)
		if few == 0 || against[sign] || 9*few > sure && (either || few >= sure) {
			continue
		}
		if sign == comma && all.cells[point] > 0 { // which can mean nothing else
			d.presume(all.first[point].text, "with a point are read, though most numbers have a comma")
		}
		for _, way := range surely[other] {
			all.cells[way] = 0
		}
	}
	ofComma, sureComma := firstOf(surely[comma]...)
	ofPoint, surePoint := firstOf(surely[point]...)
	perComma, hasComma := firstOf(commaOrThousands)
	perPoint, hasPoint := firstOf(pointOrThousands)
	switch {
	case sureComma && (surePoint || hasPoint && !semicolons), !surePoint && hasComma && hasPoint:
		ofComma, ofPoint = cmp.Or(ofComma, perComma), cmp.Or(ofPoint, perPoint)
		return noNumber, fmt.Errorf("%s:%d: %s has a comma, but line %d, %s, a point: which of them is before fractions? Write all numbers in one way, or say it with --decimal, or have the column ignored if it holds no numbers",
			f.t.name, ofComma.line, ofComma, ofPoint.line, ofPoint)
	case surePoint && hasComma, sureComma && hasPoint:
		d.presume(map[bool]cellAt{true: perComma, false: perPoint}[surePoint].text, asThousands)
	case surePoint, sureComma, all.large, hasComma && f.t.options.Reference.Decimal == ",", hasPoint && f.t.options.Reference.Decimal == ".":
	case semicolons && alike && (hasComma || hasPoint):
		d.presume(map[bool]cellAt{true: perComma, false: perPoint}[hasComma].text, "with three digits after the sign are taken for fractions, not thousands")
	case hasComma, semicolons && hasPoint:
		cell := cmp.Or(perComma, perPoint)
		return noNumber, fmt.Errorf("%s:%d: %s may be a fraction or thousands, as all numbers of the file with such a sign: write thousands without a sign, or say with --decimal which sign is before fractions", f.t.name, cell.line, cell)
	}
	if sureComma || hasComma && !surePoint {
		return comma, nil
	}
	return point, nil
}

const asThousands = "with three digits after the sign are taken for thousands, not fractions"

// presume keeps what numbers such as this are taken for.
func (d *decimal) presume(text, what string) {
	said := fmt.Sprintf("%.100s and others %s", text, what)
	d.presumed.Store(&said)
}

// fewestAlike is the number of cells of a column that must all have three digits after a sign to be fractions.
const fewestAlike = 10

// look counts how the cells of the columns of values are written.
func (f *csvFile) look(columns []ofColumn) error {
	lines, err := f.open(false)
	if err != nil {
		return err
	}
	defer lines.Close()
	for first := true; ; first = false {
		record, err := lines.record()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if first || len(record) != f.columns { // which is an error where rows are read
			continue
		}
		line := lines.line
		for j, at := range f.layout.values {
			text := strings.TrimSpace(record[at])
			if isMissing(text) {
				continue
			}
			text = plain(text)
			c, way := &columns[j], wayOf(text)
			if number, unit := cutUnit(text); unit == "%" || unit != "" && strings.TrimLeftFunc(unit, isCurrency) == "" { // others are of words that vary
				if text, way = number, wayOf(number); way == pointOrThousands || way == commaOrThousands {
					way = whole // which says nothing
				}
			}
			if c.cells[way]++; c.cells[way] == 1 {
				c.first[way] = cellAt{line, f.t.there[at], strings.Clone(text[:min(len(text), 100)])}
			}
			digits, _, _ := strings.Cut(strings.Replace(strings.TrimLeft(text, "+-"), ",", ".", 1), ".")
			c.large = c.large || way != noNumber && !way.groups(",") && !way.groups(".") && len(digits) > 3 && !strings.ContainsAny(digits, "eE")
		}
	}
}

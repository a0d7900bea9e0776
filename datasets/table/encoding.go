package table

import (
	"strings"

	"iwda/internal/convert"
)

// Encoding says how the columns of a table, found by their names, become values: see [Learn].
type Encoding []Coding

// Coding is that of a column: of words if it has levels, else of numbers.
type Coding struct {
	Column string `json:"column"`
	// Levels are the words that have a value of their own: 1 for a cell with that word, else 0.
	Levels []string `json:"levels,omitempty"`
	// Median stands for a number that is missing; it is less the column's origin, see [Reference].
	Median float32 `json:"median,omitempty"`
	// Unit stands beside each number, as in 45.3% or $12; "" for none.
	Unit string `json:"unit,omitempty"`
	// Absent is a text that counts as missing in the column, as does an empty cell; "" for none.
	Absent string `json:"absent,omitempty"`
	// Missing adds a value: 1 for a missing cell, else 0.
	Missing bool `json:"missing,omitempty"`
}

// ofWords tells whether the column is one of words.
func (c Coding) ofWords() bool { return len(c.Levels) > 0 }

// Columns names the values of a row: "age" of a column of numbers, "colour=red" of a level,
// "age is missing".
func (e Encoding) Columns() (names []string) {
	for _, c := range e {
		names = append(names, c.values()...)
	}
	return names
}

func (c Coding) values() (names []string) {
	if !c.ofWords() {
		names = append(names, c.Column)
	}
	for _, level := range c.Levels {
		names = append(names, c.Column+"="+level)
	}
	if c.Missing {
		names = append(names, c.Column+" is missing")
	}
	return names
}

// Flags lists the values of a row that are 0 or 1: those of words and of what is missing.
func (e Encoding) Flags() (places []int) {
	at := 0
	for _, c := range e {
		for _, name := range c.values() {
			if name != c.Column {
				places = append(places, at)
			}
			at++
		}
	}
	return places
}

// Places lists of each column the values of a row that it becomes.
func (e Encoding) Places() (places [][]int) {
	at := 0
	for _, c := range e {
		var of []int
		for range c.values() {
			of = append(of, at)
			at++
		}
		places = append(places, of)
	}
	return places
}

// Words lists of each column of words the values of a row that are 0 or 1 for it, at most one of them 1.
func (e Encoding) Words() (places [][]int) {
	for i, of := range e.Places() {
		if e[i].ofWords() {
			places = append(places, of)
		}
	}
	return places
}

// coded are the names of the columns that are encoded.
func (e Encoding) coded() []string {
	return convert.Each(e, func(c Coding) string { return c.Column })
}

// cellFunc appends the values of a cell of column j, in a line or row of the file, which follows
// what was read of the batch.
type cellFunc func(b *Batch, values []float32, place, j int, text string) ([]float32, error)

// encoder gives the cells of a table their values.
func (t *Table) encoder(e Encoding) cellFunc {
	places, origins := make([]map[string]int, len(e)), make([]float64, len(e))
	at := 0 // of the column's first value
	for j, c := range e {
		origins[j] = originOf(t.options.Reference.Origins, at)
		at += len(c.values())
		places[j] = make(map[string]int, len(c.Levels))
		for i, level := range c.Levels {
			places[j][level] = i
		}
	}
	return func(b *Batch, values []float32, place, j int, text string) ([]float32, error) {
		c := &e[j]
		if !c.ofWords() {
			number, missing, err := t.numberIn(b, place, j, text)
			if err != nil {
				return values, err
			}
			return c.code(values, float32(number-origins[j]), noLevel, missing), nil
		}
		if isMissing(text) {
			return c.code(values, 0, noLevel, true), nil
		}
		word := strings.TrimSpace(text)
		level, known := places[j][word]
		if !known {
			level = noLevel
		}
		t.wordIn(b, place, j, word, known)
		return c.code(values, 0, level, false), nil
	}
}

// noLevel stands for a word that is none.
const noLevel = -1

// code appends the values of a cell with a number, or with a word of some level.
func (c *Coding) code(values []float32, number float32, level int, missing bool) []float32 {
	if !c.ofWords() {
		if missing {
			number = c.Median
		}
		values = append(values, number)
	}
	for i := range c.Levels {
		values = append(values, truth(i == level))
	}
	if c.Missing {
		values = append(values, truth(missing))
	}
	return values
}

func truth(is bool) float32 {
	if is {
		return 1
	}
	return 0
}

// number returns the finite number that a cell is. A date is the days since 1970, a time of the day its hours, and true
// and false are 1 and 0.
func (t *Table) number(text string) (number float64, is bool, err error) {
	if number, is, err = t.parse(text); is || err != nil {
		return number, is && number-number == 0, err
	}
	if days, is := daysOf(text); is {
		return days, true, nil
	}
	text = strings.TrimSpace(text)
	if hours, is := hoursOf(text); is {
		return hours, true, nil
	}
	yes := strings.EqualFold(text, "true")
	return float64(truth(yes)), yes || strings.EqualFold(text, "false"), nil
}

// isMissing reports whether a text is what programs write for a value that is not there. -1,
// which is so of labels alone, is a number.
func isMissing(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "nan", "na", "<na>", "n/a", "#n/a", "null", "none", "?", "-", ".":
		return true
	}
	return false
}

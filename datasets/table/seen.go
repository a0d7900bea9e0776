package table

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"iwda/internal/printable"
)

// seen is what was seen of a column.
type seen struct {
	name      string
	values    []float32      // of the sources that are numbers, less the origin
	origin    float64        // of a column of numbers
	sampled   sample         // of the numbers
	strays                   // of the sources
	missing   int            // cells of all files, and strays of columns of numbers
	counts    map[string]int // cells of each word; nil of a column of numbers
	room      int            // bytes for more words
	endless   bool           // more words than are counted
	different int            // words that were counted
	texts     int            // of these, how many are texts
	beyond    strays         // numbers that float32 has no room for
	writing   writing        // how the cells are written that are no numbers
	unit      string         // of all numbers
	absent    string         // a text that stands for those that are missing
	dates     span           // the numbers that are dates
}

// span is how many numbers there are, and the least and the largest of them.
type span struct {
	numbers   int
	low, high float64
}

func (s *span) add(number float64) {
	if s.numbers++; s.numbers == 1 {
		s.low, s.high = number, number
	}
	s.low, s.high = min(s.low, number), max(s.high, number)
}

// look looks at a cell of a source.
func (c *seen) look(t *Table, place int, text string) error {
	number, is, err := t.number(text)
	if err != nil {
		return err
	}
	if !isMissing(text) {
		c.sampled.codes.add(text)
	}
	switch {
	case is:
		c.values = append(c.values, float32(number))
		c.numbers++
		if _, date := daysOf(text); date {
			c.dates.add(number)
		}
		if isBound(strings.TrimSpace(text)) {
			c.writing.bounds.add(t, text, place)
		}
	case isMissing(text):
		c.missing++
	case isNumber(text) && !t.unfit(text):
		c.beyond.add(t, text, place)
	default:
		if number, is, err = c.writing.add(t, text, place); err != nil {
			return err
		}
		if !is {
			c.add(t, text, place)
		}
	}
	if is && c.sampled.due() {
		c.sampled.add(number)
	}
	return nil
}

// apart is what [LearntColumn.Apart] says of a file with these words, or with numbers of that span.
func (c *seen) apart(words strays, dates span, path string) string {
	switch {
	case c.counts != nil && words.cells > 0 && words.numbers == 0:
		why := fmt.Sprintf("none of its words is in %s", path)
		if said := c.said(); said != "" {
			why += "; " + said
		}
		return why
	case c.ofDates() && dates.numbers > 0 && (dates.low > c.dates.high || dates.high < c.dates.low):
		return fmt.Sprintf("its dates are from %s to %s, and all of %s from %s to %s", Day(c.dates.low), Day(c.dates.high), path, Day(dates.low), Day(dates.high))
	}
	return ""
}

// ofDates tells whether the column's numbers are dates.
func (c *seen) ofDates() bool {
	return c.counts == nil && c.dates.numbers > 0 && c.dates.numbers == c.numbers
}

// count counts a word.
func (c *seen) count(word string) {
	if _, again := c.counts[word]; !again {
		const entry = 64 // bytes, about
		c.room -= len(word) + entry
		if len(c.counts) == mostWords || c.room < 0 {
			c.endless = true
			clear(c.counts)
			return
		}
		word = strings.Clone(word)
		c.different++
		if len(strings.Fields(word)) >= wordsOfText {
			c.texts++
		}
	}
	c.counts[word]++
}

// ofWords tells whether the column is none of numbers.
func (c *seen) ofWords() bool { return c.tooMany() && c.absent == "" || c.sampled.codes.are() }

// settle decides, after all cells, whether the column's numbers have a unit, and whether a text stands for those that
// are missing: the only one beside at least as many numbers, more than a few of them different.
func (c *seen) settle() {
	w := &c.writing
	numbers := max(c.numbers, w.units.cells)
	one := !w.mixed && min(c.numbers, w.units.cells) == 0 // all numbers have a unit, or none has
	if one && c.strays.cells > 1 && c.strays.cells <= numbers && !w.various {
		different := slices.Compact(slices.Sorted(slices.Values(c.sampled.values)))
		if len(different) > fewestOfIDs {
			c.absent = w.other
		}
	}
	if one && c.numbers == 0 && (c.absent != "" || 9*c.strays.cells <= numbers) {
		c.unit, c.numbers = w.unit, numbers
	} else {
		c.strays.join(w.units)
	}
}

// said says, as a clause, why cells that are nearly numbers or dates are words; "" if they are not.
func (c *seen) said() string {
	w := &c.writing
	switch cells := c.numbers + c.strays.cells; {
	case c.counts == nil:
	case w.undecided == cells:
		return fmt.Sprintf("its cells are dates that can be read in two ways, as %.100q: write the year first, as in 2026-11-27", w.other)
	case w.pairs == cells && c.different > mostLevels:
		return fmt.Sprintf("its cells are two numbers each, as %.20q, so that all are taken for words: write them into two columns", w.other)
	case w.unfit.cells > 0 && 9*(c.strays.cells-w.unfit.cells) <= c.numbers+w.unfit.cells:
		return fmt.Sprintf("%d of its numbers, as %.20q, do not fit the decimal sign that was given, so that all are taken for words", w.unfit.cells, w.unfit.text)
	case w.units.cells > 0 && w.units.cells == c.strays.cells && !w.mixed:
		return fmt.Sprintf("some of its numbers have %.20q, as in %.100q, and others have not, so that all are taken for words: write them in one way", w.unit, w.units.text)
	}
	return ""
}

// useless says why a column tells nothing of a class; "" if it does.
func (c *seen) useless() string {
	cells := c.numbers + c.strays.cells + c.beyond.cells
	switch {
	case cells == 0:
		return "no row of the source has a value in it"
	case c.writing.undecided == cells:
		return c.said()
	case c.endless, c.different > fewestOfIDs && 10*c.different >= 9*cells:
		if said := c.said(); said != "" {
			return said
		}
		if 2*c.texts > c.different {
			return "its cells are texts, which are not read: give columns of numbers made of them, such as an embedding"
		}
		if c.endless {
			return fmt.Sprintf("it has more than %d different words, or very long ones", mostWords)
		}
		kind := "words"
		if c.sampled.codes.are() {
			kind = "codes with leading zeros"
		}
		return fmt.Sprintf("%d different %s in %s, as in a column of ids", c.different, kind, printable.Count(cells, "cell"))
	}
	return ""
}

// coding is that of the column, by the source alone.
func (c *seen) coding() Coding {
	coding := Coding{Column: c.name, Unit: c.unit, Absent: c.absent, Missing: c.missing > 0}
	if c.counts == nil {
		coding.Median = median(c.values)
		return coding
	}
	words := slices.SortedFunc(maps.Keys(c.counts), func(a, b string) int {
		return cmp.Or(c.counts[b]-c.counts[a], strings.Compare(a, b))
	})
	coding.Levels = words[:min(mostLevels, len(words))]
	return coding
}

// median sorts the numbers, at least one, and returns their median.
func median(numbers []float32) float32 {
	n := len(numbers)
	slices.Sort(numbers)
	return float32((float64(numbers[(n-1)/2]) + float64(numbers[n/2])) / 2)
}

package table

import (
	"fmt"
	"slices"
	"strings"
)

// strays are the cells of a column of numbers that hold other text, which count as missing, up to
// one for nine numbers; or the cells of a column of words that hold others than the reference, which
// count as none of its words.
type strays struct {
	numbers, cells int    // numbers or words that belong there; cells of others
	text           string // of the first one
	table          *Table // that has it
	place          int    // its line, or its row where the file has no lines
	cased, word    string // of words, one that differs from another of the reference but in case
}

func (s *strays) add(t *Table, text string, place int) {
	if s.cells++; s.cells == 1 {
		s.text, s.table, s.place = strings.Clone(text[:min(len(text), 100)]), t, place
	}
}

// join adds the cells of others, which come after those that are there.
func (s *strays) join(others strays) {
	if s.cells == 0 {
		s.text, s.table, s.place = others.text, others.table, others.place
	}
	s.cells += others.cells
}

// addWord is add in a column of these words.
func (s *strays) addWord(t *Table, text string, place int, levels []string) {
	const looked = 1000 // cells, in which another case will have been seen
	if s.add(t, text, place); s.word != "" || s.cells > looked {
		return
	}
	if i := slices.IndexFunc(levels, func(level string) bool { return strings.EqualFold(level, text) }); i >= 0 {
		s.cased, s.word = strings.Clone(text), levels[i]
	}
}

// tooMany reports whether the column is none of numbers.
func (s *strays) tooMany() bool { return 9*s.cells > s.numbers }

// said says where they are, what they are, and how many; "" for none.
func (s *strays) said(what string) string {
	switch s.cells {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s: %q %s", s.table.at(s.place), s.text, what)
	case 2:
		return fmt.Sprintf("%s: %q %s, as does 1 other cell", s.table.at(s.place), s.text, what)
	}
	return fmt.Sprintf("%s: %q %s, as do %d other cells", s.table.at(s.place), s.text, what, s.cells-1)
}

// aNumber is what the cells of a column of numbers have to be.
func (c Coding) aNumber() string {
	if c.Unit != "" {
		return fmt.Sprintf("a number with %.20q", c.Unit)
	}
	return "a number"
}

// wordsIn says where words are in the table that are none of the reference, and how many; "" for none.
func (s *strays) wordsIn(t *Table) string {
	if s.cells == 0 {
		return ""
	}
	all := s.cells + s.numbers
	said := fmt.Sprintf("%s: %q is none of this column's words in %s; %d of %d cells (%.1f%%) have such words, which are ignored", t.at(s.place), s.text, t.options.Reference.Name, s.cells, all, 100*float64(s.cells)/float64(all))
	if s.word != "" {
		said += fmt.Sprintf("; %q is written %q there", s.cased, s.word)
	}
	return said
}

// strayIn says where cells of column j are strays.
func (t *Table) strayIn(j int, s strays) string {
	if t.options.Reference.Encoding[j].ofWords() {
		return s.wordsIn(t)
	}
	return s.said("is not " + t.options.Reference.Encoding[j].aNumber() + countsAsMissing)
}

const countsAsMissing = " and counts as missing"

// wordIn counts a word of column j, which may be one of the reference.
func (t *Table) wordIn(b *Batch, place, j int, word string, known bool) {
	s := &t.counted(b)[j]
	if known {
		s.numbers++
		return
	}
	s.addWord(t, word, place, t.options.Reference.Encoding[j].Levels)
}

// counted are the batch's strays by column.
func (t *Table) counted(b *Batch) []strays {
	if b.strays == nil {
		b.strays = make([]strays, len(t.options.Reference.Encoding))
	}
	return b.strays
}

// numberIn returns the number in a cell of column j, which is one of numbers in the reference, or
// that it is missing. The batch was read up to the cell.
func (t *Table) numberIn(b *Batch, place, j int, text string) (number float64, missing bool, err error) {
	c, counted := &t.options.Reference.Encoding[j], t.counted(b)
	number, is, err := t.withUnit(text, c.Unit)
	switch {
	case err != nil:
	case is:
		counted[j].numbers++
	case isMissing(text), c.Absent != "" && strings.TrimSpace(text) == c.Absent:
		return 0, true, nil
	case c.Unit == "" && isNumber(text) && !t.unfit(text):
		err = outOfRange(c.Column, text)
	default:
		counted[j].add(t, text, place)
		return 0, true, nil
	}
	return number, false, err
}

// outOfRange is the error of a number in a column of numbers that is none of float32.
func outOfRange(column, text string) error {
	return fmt.Errorf("column %q: %.100q is not a float32 number, at most 3.4e38; leave the cell empty if its value is missing, or write smaller numbers, as in another unit", column, text)
}

// noNumbers are the columns of numbers in the reference that have too much else in a table: one or more, each
// with where and what, an error that says so of the first.
type noNumbers []struct{ column, place, said string }

func (e noNumbers) Error() string {
	return fmt.Sprintf("%s: column %q: %s", e[0].place, e[0].column, e[0].said)
}

// checkStrays returns an error if too many cells of a column of numbers are strays, after the last batch, since
// the rule is one of all rows. It keeps them for [Table.Strays].
func (t *Table) checkStrays(b *Batch) error {
	var wrong noNumbers
	for j := range b.strays {
		if s, of := &b.strays[j], t.options.Reference.Encoding[j]; s.tooMany() && !of.ofWords() {
			said := fmt.Sprintf("%q is not %s; %d of %d cells are not, but in %s the column has numbers", s.text, of.aNumber(), s.cells, s.cells+s.numbers, t.options.Reference.Name)
			wrong = append(wrong, struct{ column, place, said string }{of.Column, t.at(s.place), said})
		}
	}
	if wrong != nil {
		return wrong
	}
	if b.strays != nil {
		t.strays.Store(&b.strays)
	}
	return nil
}

// Strays says of each column of numbers in which there is other text, and of each of words in which there
// are others, as the last pass over all rows found it.
func (t *Table) Strays() (said []string) {
	for j, s := range t.straysOf() {
		if s.cells > 0 {
			said = append(said, fmt.Sprintf("column %.100q: %s", t.options.Reference.Encoding[j].Column, t.strayIn(j, s)))
		}
	}
	return said
}

func (t *Table) straysOf() []strays {
	if all := t.strays.Load(); all != nil {
		return *all
	}
	return nil
}

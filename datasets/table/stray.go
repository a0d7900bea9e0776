package table

import (
	"fmt"
	"strings"
)

// strays are the cells of a column of numbers that hold other text. They count as missing, up to
// one for nine numbers.
type strays struct {
	numbers, cells int
	text           string // of the first one
	place          int    // its line, or its row where the file has no lines
}

func (s *strays) add(text string, place int) {
	if s.cells++; s.cells == 1 {
		s.text, s.place = strings.Clone(text[:min(len(text), 100)]), place
	}
}

// tooMany reports whether the column is none of numbers.
func (s *strays) tooMany() bool { return 9*s.cells > s.numbers }

// in says where they are in the table, and how many; "" for none.
func (s *strays) in(t *Table) string {
	switch s.cells {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s: %q is no number and counts as missing", t.at(s.place), s.text)
	case 2:
		return fmt.Sprintf("%s: %q is no number and counts as missing, as does 1 other", t.at(s.place), s.text)
	}
	return fmt.Sprintf("%s: %q is no number and counts as missing, as do %d others", t.at(s.place), s.text, s.cells-1)
}

// numberIn returns the number in a cell of column j, which is one of numbers in the reference, or
// that it is missing. The batch was read up to the cell.
func (t *Table) numberIn(b *Batch, place, j int, text string) (number float32, missing bool, err error) {
	reference := t.options.Reference
	if b.strays == nil {
		b.strays = make([]strays, len(reference.Encoding))
	}
	number, is, err := t.number(text)
	switch {
	case err != nil:
	case is:
		b.strays[j].numbers++
	case isMissing(text):
		return 0, true, nil
	case isNumber(text):
		err = fmt.Errorf("column %q: %.100q is no number of float32, at most 3.4e38; leave the cell empty if its value is missing", reference.Encoding[j].Column, text)
	default:
		b.strays[j].add(text, place)
		return 0, true, nil
	}
	return number, false, err
}

// checkStrays returns an error if too many cells of a column are strays, after the last batch, since
// the rule is one of all rows. It keeps them for [Table.Strays].
func (t *Table) checkStrays(b *Batch) error {
	for j := range b.strays {
		if s := &b.strays[j]; s.tooMany() {
			return fmt.Errorf("%s: column %q: %q is no number; %d of %d cells are none, but in %s the column is one of numbers",
				t.at(s.place), t.options.Reference.Encoding[j].Column, s.text, s.cells, s.cells+s.numbers, t.options.Reference.Name)
		}
	}
	if b.strays != nil {
		t.strays.Store(&b.strays)
	}
	return nil
}

// Strays says of each column of numbers in which there is other text, as the last pass over all
// rows found it.
func (t *Table) Strays() (said []string) {
	for j, s := range t.straysOf() {
		if s.cells > 0 {
			said = append(said, fmt.Sprintf("column %.100q: %s", t.options.Reference.Encoding[j].Column, s.in(t)))
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

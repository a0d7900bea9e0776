package table

import (
	"fmt"
	"strings"
	"unicode"
)

// signed tells whether all words of a column are numbers with the same sign or unit: 45.3%, $1,200.00, 5 kg.
type signed struct {
	first, unit string // word, and what it has beside its number
	mixed       bool
}

func (s *signed) add(word string) {
	unit, is := unitOf(word)
	if s.first == "" {
		s.first, s.unit = word, unit
	}
	s.mixed = s.mixed || !is || unit != s.unit
}

// unitOf is what stands before and after the number of a word, if it is one: currencies, and after it letters too.
func unitOf(word string) (unit string, is bool) {
	currency := func(r rune) bool { return unicode.Is(unicode.Sc, r) }
	bare := strings.TrimLeft(word, "+-")
	number := strings.TrimLeftFunc(bare, currency)
	before := bare[:len(bare)-len(number)]
	number = strings.TrimLeft(number, " +-")
	end := strings.LastIndexFunc(number, unicode.IsDigit) + 1
	unit = before + strings.TrimSpace(number[end:])
	way := wayOf(strings.TrimSpace(number[:end]))
	return unit, unit != "" && way != noNumber
}

// String says what the words are, as a clause; "" if they are not such numbers.
func (s *signed) String() string {
	if s.first == "" || s.mixed {
		return ""
	}
	return fmt.Sprintf("its cells are numbers with %.20q, as in %.100q, which are taken for words: write the numbers alone", s.unit, s.first)
}

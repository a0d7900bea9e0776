package table

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"iwda/internal/printable"
)

// The bounds of what is learnt of a column of words.
const (
	mostLevels  = 50      // that have values
	mostWords   = 100_000 // that are counted
	mostText    = 1 << 28 // bytes of the words that are counted, of all columns, with what it takes to count
	fewestOfIDs = 10      // words of a column that may be one of ids
	wordsOfText = 6       // in a cell that is a text, and no name
)

// Learnt is what was learnt of the columns of sources.
type Learnt struct {
	Encoding Encoding
	// Origins are those of the values that it makes, nil for none: see [Reference].
	Origins []float64
	// LeftOut says of each column that is not part of the encoding why, in a sentence.
	LeftOut []string
	// Columns are those of the sources, in the first one's order.
	Columns []LearntColumn
}

// LearntColumn is what was learnt of a column.
type LearntColumn struct {
	Name   string
	Levels int // different words of the sources; 0 of a column of numbers
	// Missing are the cells without a value in all sources and in each of the other files, which are
	// not counted if the column is left out.
	Missing []int
	LeftOut string // why it is; "" if it is not
	// Strays say in which files the column, one of numbers, has other text, which counts as missing, or,
	// one of words, has words that the source lacks, which count as none.
	Strays []string
	Dates  bool // its numbers are dates, in days since 1970
	// Apart says why what the last file has in the column says nothing of its rows: it has none of the source's words,
	// or no date between the source's first and last; "" if it does.
	Apart string
	// Known is the share of the last file's words that the source has, 1 of a column of numbers.
	Known float64
	// Alone is the share of the sources' words that are in one cell alone, 0 of a column of numbers.
	Alone float64
}

func (c *LearntColumn) stray(said string) {
	if said != "" {
		c.Strays = append(c.Strays, said)
	}
}

// Dates are the places of the values of a row that are dates, in days since 1970.
func (l Learnt) Dates() (places []int) {
	at := 0
	columns := slices.DeleteFunc(slices.Clone(l.Columns), func(c LearntColumn) bool { return c.LeftOut != "" })
	for i, coding := range l.Encoding {
		if columns[i].Dates {
			places = append(places, at)
		}
		at += len(coding.values())
	}
	return places
}

// File is one of rows, with the roles of its columns.
type File struct {
	Path string
	Roles
}

// Learn looks through sources, as if they were one, and the other files of rows that are to go with them, and finds
// the encoding for all of them, in one or two passes over each source and one over each other.
//
// A column of numbers is one whose cells are numbers, but for what is missing and one other text
// for nine numbers at most, which counts as missing; codes with leading zeros are words. A column of numbers with more of it in
// another file than the source is left out. The column stays as it is, with the source's median for what is missing and, if
// something is missing in any of the files, with a second value that says so. Of any other column
// each of the most frequent words of the source, 50 of them, has a value, and so has what is
// missing if something is in the source. Other words have none. A column that holds hardly a word
// twice, more than 100,000 words or nothing is left out. All cells of a table without names of
// columns are as they are: its encoding is nil.
func Learn(sources []File, others ...File) (Learnt, error) {
	for out := map[string]string{}; ; {
		l, err := learn(sources, others, out)
		var others noNumbers
		if !errors.As(err, &others) {
			return l, err
		}
		for _, c := range others { // of which none is in the next encoding
			out[c.column] = c.place + ": " + c.said
		}
	}
}

// learn is [Learn] without these columns, each with the reason.
func learn(sources, others []File, out map[string]string) (Learnt, error) {
	s := search{without: out}
	var paths []string
	for _, source := range sources {
		if err := source.look(s.reference, s.ofSource); err != nil || s.columns == nil {
			return Learnt{}, err
		}
		s.reference.Decimal, _ = s.first.Decimal()
		paths = append(paths, source.Path)
	}
	s.name = printable.And(slices.Compact(paths))
	for _, c := range s.columns {
		c.settle()
		if c.ofWords() {
			c.counts = make(map[string]int)
		} else if c.beyond.cells > 0 {
			return Learnt{}, fmt.Errorf("%s: %w", c.beyond.table.at(c.beyond.place), outOfRange(c.name, c.beyond.text))
		}
	}
	if err := again(sources, s.reference, s.columns); err != nil {
		return Learnt{}, err
	}
	for i := range s.columns {
		s.conclude(i)
	}
	if len(s.kept) == 0 {
		return Learnt{}, fmt.Errorf("%s: no column of values: %s", s.name, strings.Join(s.LeftOut, " "))
	}
	for _, file := range others {
		if err := s.other(file); err != nil {
			return Learnt{}, err
		}
	}
	for j, c := range s.Encoding {
		s.Origins = append(s.Origins, s.kept[j].origin)
		s.Origins = append(s.Origins, make([]float64, len(c.values())-1)...)
	}
	s.Origins = unlessZero(s.Origins)
	return s.Learnt, nil
}

// search is what [learn] has found so far.
type search struct {
	Learnt
	without   map[string]string // columns, each with the reason
	name      string            // of the sources
	first     *Table            // the first source
	reference Reference         // its columns and decimal sign
	columns   []*seen           // of the sources
	kept      []*seen           // those of the encoding
	places    []int             // of the kept in columns
}

// ofSource looks at all cells of a source.
func (s *search) ofSource(t *Table) cellFunc {
	if s.columns == nil {
		s.first, s.reference.Name, s.reference.Columns = t, t.name, t.columns
		for _, name := range t.columns {
			s.columns = append(s.columns, &seen{name: name, sampled: newSamples(len(t.columns))[0]})
		}
	}
	return func(_ *Batch, values []float32, place, j int, text string) ([]float32, error) {
		return values, s.columns[j].look(t, place, text)
	}
}

// conclude says what was learnt of a column of the sources, and keeps it for the encoding if it tells something of a class.
func (s *search) conclude(i int) {
	c := s.columns[i]
	why := cmp.Or(s.without[c.name], c.useless())
	learnt := LearntColumn{Name: c.name, Levels: len(c.counts), LeftOut: why, Dates: c.ofDates()}
	if c.counts == nil && why == "" {
		c.missing += c.cells
		learnt.stray(c.strays.said("is not " + c.coding().aNumber() + countsAsMissing))
		learnt.stray(c.writing.bounds.said("counts as the number that bounds it"))
		learnt.stray(s.first.tooCoarse(&c.sampled, c.origin, s.first.single != nil && s.first.single(i)))
	}
	if why == "" {
		learnt.stray(c.said())
	}
	learnt.Missing = []int{c.missing}
	for _, n := range c.counts {
		if n == 1 {
			learnt.Alone += 1 / float64(c.numbers+c.cells+c.beyond.cells)
		}
	}
	s.Columns = append(s.Columns, learnt)
	if why != "" {
		s.LeftOut = append(s.LeftOut, fmt.Sprintf("Column %.100q of %s is left out: %s.", c.name, s.name, why))
		return
	}
	s.kept, s.places = append(s.kept, c), append(s.places, i)
	s.Encoding = append(s.Encoding, c.coding())
}

// other looks at a file that is to go with the sources: what of its columns is missing, and what the sources do not have.
func (s *search) other(file File) error {
	for i := range s.Columns {
		s.Columns[i].Missing = append(s.Columns[i].Missing, 0)
	}
	var of *Table
	samples, dates := newSamples(len(s.kept)), make([]span, len(s.kept))
	err := file.look(Reference{Name: s.name, Encoding: s.Encoding, Decimal: s.reference.Decimal}, func(t *Table) cellFunc {
		of = t
		return func(b *Batch, values []float32, place, j int, text string) (_ []float32, err error) {
			missing, numbers := false, !s.Encoding[j].ofWords()
			if numbers {
				var number float64
				if number, missing, err = t.numberIn(b, place, j, text); !missing {
					dates[j].add(number)
					if samples[j].due() {
						samples[j].add(number)
					}
				}
			} else if missing = isMissing(text); !missing {
				word := strings.TrimSpace(text)
				t.wordIn(b, place, j, word, s.kept[j].counts[word] > 0)
			}
			if missing {
				s.kept[j].missing++
				missing := s.Columns[s.places[j]].Missing
				missing[len(missing)-1]++
				s.Encoding[j].Missing = s.Encoding[j].Missing || numbers
			}
			return values, err
		}
	})
	if err != nil || of == nil { // columns without names
		return err
	}
	all := of.straysOf()
	for j, kept := range s.kept {
		learnt := &s.Columns[s.places[j]]
		var words strays
		if all != nil {
			words = all[j]
			learnt.stray(of.strayIn(j, words))
		}
		learnt.stray(of.tooCoarse(&samples[j], kept.origin, of.single != nil && of.single(j)))
		learnt.Apart, learnt.Known = kept.apart(words, dates[j], file.Path), 1
		if s.Encoding[j].ofWords() && words.cells > 0 {
			learnt.Known = float64(words.numbers) / float64(words.numbers+words.cells)
		}
	}
	return nil
}

// look hands all cells of a file to what begin makes for its table. It does nothing where
// columns have no names.
func (f File) look(reference Reference, begin func(*Table) cellFunc) (err error) {
	t, err := Open(f.Path, Options{Kind: Features, IgnoreLabels: true, Roles: f.Roles, Reference: reference})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if t.columns == nil {
		return nil
	}
	t.cell = begin(t)
	for _, err := range t.pass(false, max(1, blockValues/t.width), nil) {
		if err != nil {
			return err
		}
	}
	return nil
}

// again looks at the sources once more, if it must: it counts the words of the columns that hold words, and takes
// their origins off those of numbers that need one.
func again(sources []File, first Reference, columns []*seen) error {
	ofWords, some := 0, false
	for _, c := range columns {
		if c.counts != nil {
			ofWords, some = ofWords+1, true
		} else if c.origin = c.sampled.origin(); c.origin != 0 || c.unit != "" {
			some, c.values = true, c.values[:0]
		}
	}
	if !some {
		return nil
	}
	for _, c := range columns {
		c.room = mostText / max(1, ofWords)
	}
	look := func(t *Table) cellFunc {
		return func(_ *Batch, values []float32, _, j int, text string) ([]float32, error) {
			switch c := columns[j]; {
			case c.counts != nil && !c.endless && !isMissing(text):
				c.count(strings.TrimSpace(text))
			case c.counts == nil && (c.origin != 0 || c.unit != ""):
				number, is, err := t.withUnit(text, c.unit)
				if is {
					c.values = append(c.values, float32(number-c.origin))
				}
				return values, err
			}
			return values, nil
		}
	}
	for _, source := range sources {
		if err := source.look(first, look); err != nil {
			return err
		}
	}
	return nil
}

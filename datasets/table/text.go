package table

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"iwda/internal/convert"
	"iwda/internal/input"
)

// ReadText reads a file that ends with .csv, .tsv, .csv.gz or .tsv.gz as [Open] does, but all of it as text: header
// is given the names of the columns, and take the number of each line, and its cells without spaces around them, as
// [printable.FromCell] gives them back; both are valid until they return. An error of either is returned with file
// and line.
func ReadText(path string, header func(columns []string) error, take func(line int, cells []string) error) (err error) {
	defer func() { err = input.Wrong(err) }()
	lines, err := (&csvFile{t: &Table{name: path}}).open(false)
	if err != nil {
		return err
	}
	defer lines.Close()
	if err := columnsOfText(path); err != nil {
		return err
	}
	var names []string
	for {
		cells, err := lines.record()
		switch {
		case err == io.EOF && names != nil:
			return nil
		case err == io.EOF:
			return fmt.Errorf("%s: is empty; want a first line with the names of columns", path)
		case err != nil:
			return err
		}
		line := lines.line
		for i := range cells {
			cells[i] = strings.TrimSpace(textOf(cells[i]))
		}
		switch {
		case names == nil:
			if err = oddHeader(cells); err == nil {
				cells[0] = cmp.Or(cells[0], unnamedIndex)
				names = convert.Each(cells, strings.Clone)
				err = header(slices.Clone(names))
			}
		case len(cells) != len(names):
			err = otherColumns(cells, names)
		default:
			err = take(line, cells)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
}

// columnsOfText returns an error unless the name of a file is one that [ReadText] reads.
func columnsOfText(path string) error {
	if !slices.Contains([]string{".csv", ".tsv", ".csv.gz", ".tsv.gz"}, extension(path)) {
		return input.Wrong(fmt.Errorf("%s: columns of text are read from files that end with .csv, .tsv, .csv.gz or .tsv.gz", path))
	}
	return nil
}

// lineEnd is one within a cell, of which a reader of CSV leaves the last character.
var lineEnd = regexp.MustCompile(`\r+\n`)

// WrittenID returns an id as [ReadText] reads it where [WriteTable] or [WritePredictions] wrote it: without spaces around it, and each line end as one character.
func WrittenID(id string) string {
	return strings.TrimSpace(lineEnd.ReplaceAllLiteralString(id, "\n"))
}

// IDColumn is the place of the column with the rows' ids among the names of columns; -1 if there
// is none.
func IDColumn(columns []string) int { return firstOf(idNames, columns) }

// LabelColumn is the place of the column with the rows' labels; -1 if there is none.
func LabelColumn(columns []string) int { return firstOf(labelNames, columns) }

// LabelNames returns what finds the name of the class that a label stands for among the classes, in
// every form that labels have in files, "" for a label that stands for none. Without classes each label is
// the name of one. origin is where the classes are from, in messages.
func LabelNames(classes []string, origin string) (func(label string) (string, error), error) {
	if classes == nil {
		return func(label string) (string, error) { return normalLabel(label), nil }, nil
	}
	known, err := newVocabulary(classes, origin)
	return func(label string) (string, error) {
		class, err := known.class(label)
		if class == unknown {
			return "", err
		}
		return classes[class], nil
	}, err
}

package table

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"iwda/internal/input"
	"iwda/internal/printable"
)

// ReadText reads a .csv or .tsv file as [Open] does, but all of it as text: header is given the names
// of the columns, and take the number of each line and its cells as [printable.FromCell] gives them back,
// without spaces around them, both valid until they return. An error of either is returned with file and line.
func ReadText(path string, header func(columns []string) error, take func(line int, cells []string) error) (err error) {
	defer func() { err = input.Wrong(err) }()
	lines, err := (&csvFile{t: &Table{name: path}}).open(false)
	if err != nil {
		return err
	}
	defer lines.Close()
	columns := 0
	for {
		cells, err := lines.record()
		switch {
		case err == io.EOF && columns > 0:
			return nil
		case err == io.EOF:
			return fmt.Errorf("%s: is empty; want a first line with the names of columns", path)
		case err != nil:
			return err
		}
		line, _ := lines.FieldPos(0)
		for i := range cells {
			cells[i] = strings.TrimSpace(printable.FromCell(strings.TrimSpace(cells[i])))
		}
		switch {
		case columns == 0:
			columns, cells[0] = len(cells), cmp.Or(cells[0], unnamedIndex)
			err = header(cells)
		case len(cells) != columns:
			err = fmt.Errorf("%d columns; the first line names %d", len(cells), columns)
		default:
			err = take(line, cells)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
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

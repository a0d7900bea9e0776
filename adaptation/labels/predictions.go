package labels

import (
	"fmt"
	"slices"
	"strings"

	"iwda/datasets/table"
	"iwda/internal/heading"
	"iwda/internal/input"
)

// Predictions are those of all rows, and which of these have labels.
type Predictions struct {
	Path       string
	Classes    []string // that are predicted, by first occurrence
	Class      []int    // of each row, index in Classes
	Confidence []float64
	Labelled   []int // the rows of the labels, in their order
}

// Match reads predictions as [table.WritePredictions] leaves them in a file, and finds the
// rows that have labels by their ids, whose classes become as they are written there. A label of an id that no row has, or several, is an error.
func Match(path string, labels Labels) (*Predictions, error) {
	p := &Predictions{Path: path, Labelled: slices.Repeat([]int{-1}, len(labels.Rows))}
	wanted, classes, alike := map[string]int{}, map[string]int{}, map[string]string{}
	for i, l := range labels.Rows {
		wanted[l.ID], alike[asNumber(l.ID)] = i, ""
	}
	var id, class, confidence int
	err := table.ReadText(path, func(columns []string) error {
		id, class, confidence = slices.Index(columns, heading.ID), slices.Index(columns, heading.PredictedClass), slices.Index(columns, heading.Probability)
		if id < 0 || class < 0 || confidence < 0 {
			return fmt.Errorf("the columns are %.200q; want id, predicted_class and probability, as iwrun predict writes them", columns)
		}
		return nil
	}, func(_ int, cells []string) error {
		f, err := table.Fraction(cells[confidence])
		if err != nil || !(f >= 0 && f <= 1+1e-6) {
			return fmt.Errorf("id %.100q: the probability is %.100q", cells[id], cells[confidence])
		}
		at, known := classes[cells[class]]
		if !known {
			name := strings.Clone(cells[class])
			at = len(classes)
			classes[name], p.Classes = at, append(p.Classes, name)
		}
		number := asNumber(cells[id])
		if other, has := alike[number]; has && other == "" {
			alike[strings.Clone(number)] = strings.Clone(cells[id])
		}
		if i, has := wanted[table.WrittenID(cells[id])]; has {
			if p.Labelled[i] >= 0 {
				return fmt.Errorf("two rows have the id %.100q, and %s:%d has a label for one of them: give the target's rows unique ids", cells[id], labels.Path, labels.Rows[i].Line)
			}
			p.Labelled[i] = len(p.Class)
		}
		p.Class, p.Confidence = append(p.Class, at), append(p.Confidence, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	written := map[string]string{}
	for _, class := range p.Classes {
		written[table.Whole(class)] = class
	}
	for i, row := range p.Labelled {
		l := &labels.Rows[i]
		if class, is := written[table.Whole(l.Class)]; is && !slices.Contains(p.Classes, l.Class) {
			l.Class = class
		}
		if row < 0 {
			hint := ""
			if other := alike[asNumber(l.ID)]; other != "" {
				hint = fmt.Sprintf("; %.100q is one: write ids unchanged, in a spreadsheet as text", other)
			}
			return nil, input.Wrong(fmt.Errorf("%s:%d: id %.100q is not among the %d rows of %s%s", labels.Path, l.Line, l.ID, len(p.Class), path, hint))
		}
	}
	return p, nil
}

// asNumber is what programs that take an id for a number leave of it, as 429 of 00429, also as 429.0.
func asNumber(id string) string { return strings.TrimLeft(strings.TrimSuffix(id, ".0"), "0") }

// of is the class that is predicted of a row.
func (p *Predictions) of(row int) string { return p.Classes[p.Class[row]] }

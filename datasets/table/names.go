package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Names of arrays and columns, the first one preferred.
var (
	valueNames = []string{Features.String(), Probabilities.String(), Logits.String()}
	labelNames = []string{"labels", "label"}
	idNames    = []string{"ids", "id", unnamedIndex, parquetIndex + "0__"}
)

// What pandas calls the index of a frame, which is no value: a row's id where there is no
// other one.
const (
	unnamedIndex = "Unnamed: 0" // the first column of a .csv file, without a name
	parquetIndex = "__index_level_"
)

func isIndex(name string) bool { return name == unnamedIndex || strings.HasPrefix(name, parquetIndex) }

const classNamesArray = "class_names"

// kindOf is the kind of values of that name: what was asked for, or what the name says.
func kindOf(name string, o Options) Kind {
	if o.Kind != 0 {
		return o.Kind
	}
	return Kind(max(slices.Index(valueNames, name), 0)) + Features
}

// chooseArrays returns which of the names that there are holds values, labels and ids; an
// empty name stands for none, or for labels that are not read.
func chooseArrays(there []string, o Options) (values, labels, ids string, err error) {
	if len(o.Values) > 1 {
		return "", "", "", fmt.Errorf("the values are asked for in %q; a file of arrays has them in one", o.Values)
	}
	if values, err = chooseValues(there, o); err != nil {
		return "", "", "", err
	}
	if values == "" {
		return "", "", "", fmt.Errorf("no array of the values, %s; there are %s", strings.Join(wantedValues(o), ", "), listed(there))
	}
	if labels, ids, err = chooseLabels(there, o); o.IgnoreLabels {
		labels = ""
	}
	return values, labels, ids, err
}

// wantedValues are the names that an array of values may have.
func wantedValues(o Options) []string {
	switch {
	case len(o.Values) == 1:
		return o.Values
	case o.Kind != 0:
		return []string{o.Kind.String()}
	}
	return valueNames
}

// chooseValues returns the one name of an array of values, or none.
func chooseValues(there []string, o Options) (string, error) {
	chosen := ""
	for _, name := range wantedValues(o) {
		if !slices.Contains(there, name) {
			continue
		}
		if chosen != "" {
			return "", fmt.Errorf("holds both %s and %s; say which is wanted", chosen, name)
		}
		chosen = name
	}
	return chosen, nil
}

// chooseLabels returns the names of labels and ids.
func chooseLabels(there []string, o Options) (labels, ids string, err error) {
	if labels, err = chooseColumn(there, o.Labels, labelNames); err == nil {
		ids, err = chooseColumn(there, o.IDs, idNames)
	}
	return labels, ids, err
}

// chooseColumn returns the name that was asked for, or one of those that are usual.
func chooseColumn(there []string, asked string, usual []string) (string, error) {
	if asked != "" {
		if !slices.Contains(there, asked) {
			return "", fmt.Errorf("no %q; there are %s", asked, listed(there))
		}
		return asked, nil
	}
	for _, name := range usual {
		if slices.Contains(there, name) {
			return name, nil
		}
	}
	return "", nil
}

// listed lists names in a message.
func listed(names []string) string {
	const shown = 10
	var short []string
	for _, name := range names[:min(shown, len(names))] {
		short = append(short, fmt.Sprintf("%.100q", name))
	}
	if len(names) > shown {
		short = append(short, fmt.Sprintf("%d more", len(names)-shown))
	}
	if len(short) == 0 {
		return "none"
	}
	return strings.Join(short, ", ")
}

// layout says which columns of a table of many columns are what, by their numbers.
type layout struct {
	kind   Kind
	values []int
	labels int // -1 for none
	ids    int // -1 for none
	// names are those of the values' columns, named those of their classes, nil for features.
	names, named []string
}

// chooseColumns finds the layout in the names of all columns.
func chooseColumns(columns []string, o Options) (layout, error) {
	number := make(map[string]int, len(columns))
	for i, name := range columns {
		if _, again := number[name]; again {
			return layout{}, fmt.Errorf("two columns of the name %.100q", name)
		}
		number[name] = i
	}
	labels, ids, err := chooseLabels(columns, o)
	if err != nil {
		return layout{}, err
	}
	l := layout{kind: o.Kind, labels: -1, ids: -1}
	if labels != "" {
		l.labels = number[labels]
	}
	if ids != "" {
		l.ids = number[ids]
	}
	if err := l.chooseValues(columns, number, o); err != nil {
		return layout{}, err
	}
	if err := l.order(columns, o); err != nil {
		return layout{}, err
	}
	if len(l.values) == 0 {
		return layout{}, errors.New("no column of values")
	}
	if len(l.values) > maxWidth {
		return layout{}, fmt.Errorf("%d columns of values, more than %d", len(l.values), maxWidth)
	}
	for _, i := range l.values {
		l.names = append(l.names, columns[i])
		l.named = append(l.named, strings.TrimPrefix(columns[i], l.kind.prefix()))
	}
	if l.kind == Features {
		l.named = nil
	}
	return l, nil
}

// chooseValues takes the columns that were asked for, or those whose names say that they
// are probabilities or logits, or all but labels, ids and an index.
func (l *layout) chooseValues(columns []string, number map[string]int, o Options) error {
	if len(o.Values) > 0 {
		values, missing := numbered(o.Values, number)
		if values == nil {
			return fmt.Errorf("no column %.100q; there are %s", missing, listed(columns))
		}
		l.values = values
		l.kind = max(l.kind, Features)
		return nil
	}
	for _, kind := range []Kind{Probabilities, Logits} {
		found := withPrefix(columns, kind.prefix())
		if len(found) == 0 || o.Kind != 0 && o.Kind != kind {
			continue
		}
		if l.values != nil {
			return fmt.Errorf("holds both %s and %s; say which is wanted", l.kind, kind)
		}
		l.kind, l.values = kind, found
	}
	if l.values != nil {
		return nil
	}
	l.kind = max(l.kind, Features)
	for i := range columns {
		if i != l.labels && i != l.ids && !isIndex(columns[i]) {
			l.values = append(l.values, i)
		}
	}
	return nil
}

// order brings the values into the order of the reference.
func (l *layout) order(columns []string, o Options) error {
	want := o.Reference
	switch {
	case len(o.Values) > 0:
	case l.kind == Features && want.Columns != nil:
		values := make(map[string]int, len(columns))
		for i, name := range columns {
			if i != l.labels && i != l.ids {
				values[name] = i
			}
		}
		ordered, missing := numbered(want.Columns, values)
		if ordered == nil {
			return fmt.Errorf("no column %.100q of values, which %s has; there are %s", missing, want.Name, listed(columns))
		}
		l.values = ordered
	case l.kind != Features && len(want.Classes) == len(l.values):
		ofClass := make(map[string]int, len(l.values))
		for _, i := range l.values {
			ofClass[strings.TrimPrefix(columns[i], l.kind.prefix())] = i
		}
		if ordered, _ := numbered(want.Classes, ofClass); ordered != nil {
			l.values = ordered // other names of classes are compared later
		}
	}
	return nil
}

// numbered returns the numbers of names, or nil and the first name that has none.
func numbered(names []string, number map[string]int) (numbers []int, missing string) {
	for _, name := range names {
		i, there := number[name]
		if !there {
			return nil, name
		}
		numbers = append(numbers, i)
	}
	return numbers, ""
}

func withPrefix(columns []string, prefix string) (found []int) {
	for i, name := range columns {
		if len(name) > len(prefix) && strings.HasPrefix(name, prefix) {
			found = append(found, i)
		}
	}
	return found
}

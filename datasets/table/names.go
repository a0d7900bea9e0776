package table

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"iwda/internal/convert"
	"iwda/internal/printable"
)

// Names of labels and ids, the first one preferred.
var (
	labelNames = []string{"labels", "label"}
	idNames    = []string{"ids", "id", unnamedIndex, parquetIndex + "0__"}
)

// What pandas calls the index of a frame, which is no value: a row's id where there is no
// other one.
const (
	unnamedIndex = "Unnamed: 0" // the first column of a .csv file, without a name
	parquetIndex = "__index_level_"
)

const classNamesArray = "class_names"

// kindOf is the kind of values of that name: what was asked for, or what the name says.
func kindOf(name string, o Options) Kind {
	if o.Kind != 0 {
		return o.Kind
	}
	return Kind(max(slices.Index(kindNames, name), 0)) + Features
}

// layout says which arrays, or which columns of a table of many, are what, by their places.
type layout struct {
	values []int
	roles  [roles]int      // -1 for none
	ignore map[string]bool // names of columns that are passed over
}

// role is what a column is that has a text for each row, and no values.
type role int

const (
	labelRole role = iota
	idRole
	groupRole
	domainRole
	roles
)

func (r role) String() string { return []string{"labels", "ids", "groups", "domains"}[r] }

// always reports whether the texts are read by those who read labels alone.
func (r role) always() bool { return r == labelRole || r == domainRole }

// chooseArrays finds the layout in the names of arrays, of which one at most holds values.
func chooseArrays(there []string, o Options) (layout, error) {
	l, err := chooseRoles(there, o)
	if err != nil {
		return l, err
	}
	for _, name := range wantedValues(o) {
		i := slices.Index(there, name)
		if i < 0 {
			continue
		}
		if l.values != nil {
			return l, fmt.Errorf("holds both %s and %s; say which is wanted", there[l.values[0]], name)
		}
		l.values = []int{i}
	}
	return l, nil
}

// wantedValues are the names that an array of values may have.
func wantedValues(o Options) []string {
	if o.Kind != 0 {
		return []string{o.Kind.String()}
	}
	return kindNames
}

// chooseRoles finds what is no value: labels and ids, those that were asked for or of a usual name,
// the column of domains, and what is to be ignored. Two usual names of labels are an error unless
// labels are ignored.
func chooseRoles(there []string, o Options) (layout, error) {
	first, named := make(map[string]int), make(map[string]bool)
	for i, name := range slices.Backward(there) {
		first[name] = i
	}
	for _, name := range o.named() {
		if _, is := first[name]; !is {
			return layout{}, fmt.Errorf("no %q; there are %s", name, listed(there))
		}
		if named[name] && name != o.Group { // ids that repeat
			return layout{}, fmt.Errorf("%q is named twice, as what it is", name)
		}
		named[name] = true
	}
	both := slices.DeleteFunc(o.usual(labelNames), func(name string) bool { return !slices.Contains(there, name) })
	if o.Label == "" && !o.IgnoreLabels && len(both) > 1 {
		return layout{}, fmt.Errorf("holds both %s and %s; name one of them with --label-column (label_column in a configuration)", both[0], both[1])
	}
	place := func(name string, usual []string) int {
		if name != "" {
			return first[name]
		}
		return firstOf(o.usual(usual), there)
	}
	return layout{roles: [roles]int{place(o.Label, labelNames), place(o.ID, idNames), place(o.Group, nil), place(o.DomainColumn, nil)}, ignore: set(o.Ignore)}, nil
}

// usual are the names among some that are a role's if no column was asked for: those of no other role, and of no column
// of values of the reference.
func (o Options) usual(names []string) []string {
	values := o.Reference.Columns
	if o.Reference.Encoding != nil {
		values = o.Reference.Encoding.coded()
	}
	return slices.DeleteFunc(o.Rest(names), func(name string) bool { return slices.Contains(values, name) })
}

// isValue reports whether a column of that name has no role.
func (l layout) isValue(i int, name string) bool {
	isIndex := name == unnamedIndex || strings.HasPrefix(name, parquetIndex)
	return !isIndex && !slices.Contains(l.roles[:], i) && !l.ignore[name]
}

// besides names what has no role beside the one array of values.
func (l layout) besides(there []string) (names []string) {
	for i, name := range there {
		if i != l.values[0] && name != classNamesArray && l.isValue(i, name) {
			names = append(names, name)
		}
	}
	return names
}

func set(names []string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}

// firstOf returns the place of the first of the names that is there, or -1.
func firstOf(names, there []string) int {
	for _, name := range names {
		if i := slices.Index(there, name); i >= 0 {
			return i
		}
	}
	return -1
}

// distinct returns an error where two arrays or columns have one name, or one is not UTF-8.
func distinct(what string, names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if !utf8.ValidString(name) {
			return fmt.Errorf("the name %.100q is not UTF-8; write names in UTF-8", name)
		}
		if seen[name] {
			return fmt.Errorf("two %s of the name %.100q; rename one", what, name)
		}
		seen[name] = true
	}
	return nil
}

// once returns an error where a column that is read has the name of another one.
func (l layout) once(columns []string, withoutLabels bool) error {
	names := make(map[string]bool)
	for _, i := range append(l.roles[:], l.values...) {
		if i >= 0 && (i != l.roles[labelRole] || !withoutLabels) {
			names[columns[i]] = true
		}
	}
	return distinct("columns", slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return !names[name] }))
}

// listed lists names in a message.
func listed(names []string) string {
	quoted := convert.Each(names, func(name string) string { return fmt.Sprintf("%.100q", name) })
	return cmp.Or(printable.FirstTen(quoted), "none")
}

// chooseColumns finds the layout in the names of all columns, and tells the table what its
// values are: the columns whose names say that they are probabilities or logits, or all but
// labels, ids and an index.
func (t *Table) chooseColumns(columns []string) (layout, error) {
	l, err := chooseRoles(columns, t.options)
	if err != nil {
		return l, err
	}
	for _, kind := range []Kind{Probabilities, Logits} {
		found := withPrefix(columns, prefixes[kind])
		if len(found) == 0 || t.options.Kind != 0 && t.options.Kind != kind {
			continue
		}
		if l.values != nil {
			return l, fmt.Errorf("holds both %s and %s; say which is wanted", t.kind, kind)
		}
		t.kind, l.values = kind, found
	}
	if l.values == nil {
		t.kind = max(t.options.Kind, Features)
		for i, name := range columns {
			if l.isValue(i, name) {
				l.values = append(l.values, i)
			}
		}
	}
	if err := t.order(&l, columns); err != nil {
		return l, err
	}
	if err := l.once(columns, t.options.IgnoreLabels); err != nil {
		return l, err
	}
	if len(l.values) == 0 {
		return l, errors.New("no column of values")
	}
	for _, i := range l.values {
		t.columns = append(t.columns, columns[i])
		if t.kind != Features {
			t.named = append(t.named, strings.TrimPrefix(columns[i], prefixes[t.kind]))
		}
	}
	if encoding := t.options.Reference.Encoding; encoding != nil && t.kind == Features {
		t.cell, t.columns = t.encoder(encoding), encoding.Columns()
		if err := distinct("columns of values", t.columns); err != nil {
			return l, err
		}
	}
	if len(t.columns) > maxWidth {
		return l, fmt.Errorf("%d columns of values, more than %d", len(t.columns), maxWidth)
	}
	return l, nil
}

// MissingColumnError is that of a table without a column that the [Reference] has.
type MissingColumnError struct{ Column, message string }

func (e *MissingColumnError) Error() string { return e.message }

// order brings the columns of values into the order of the reference.
func (t *Table) order(l *layout, columns []string) error {
	want := t.options.Reference
	names := want.Classes
	if t.kind == Features {
		if names = want.Columns; want.Encoding != nil {
			names = want.Encoding.coded()
		}
	}
	if names == nil || t.kind != Features && len(names) != len(l.values) {
		return nil
	}
	places := make(map[string]int, len(l.values))
	for _, i := range l.values {
		places[strings.TrimPrefix(columns[i], prefixes[t.kind])] = i
	}
	ordered := make([]int, 0, len(names))
	for _, name := range names {
		i, there := places[name]
		switch {
		case there:
			ordered = append(ordered, i)
		case t.kind == Features:
			return &MissingColumnError{name, fmt.Sprintf("there is no column %.100q, but %s has one; the columns of values are %s", name, want.Name, listed(columns))}
		default:
			return nil // other names of classes are compared later
		}
	}
	l.values = ordered
	return nil
}

func withPrefix(columns []string, prefix string) (found []int) {
	for i, name := range columns {
		if len(name) > len(prefix) && strings.HasPrefix(name, prefix) {
			found = append(found, i)
		}
	}
	return found
}

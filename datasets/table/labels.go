package table

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"iwda/internal/nearest"
	"iwda/internal/printable"
)

// unknown stands for the class of a row whose label is not known.
const unknown = -1

// Unknown reports whether a label says that the class of its row is not known: an empty text,
// which stands for a null and for the NaN of a number too, -1, nan in upper or lower case, which
// NumPy and pandas make of a missing value among texts, and pandas' <NA>. A class of such a
// name is one only if the file, or a reference, lists the names of the classes.
func Unknown(label string) bool {
	return label == "" || label == "-1" || label == "<NA>" || strings.EqualFold(label, "nan")
}

// MaxClasses bounds the number of classes. More are no classes but, say, ids that were
// given as labels.
const MaxClasses = 1 << 15

// maxClassName bounds the bytes of a class's name: more are a text that was given as a label.
const maxClassName = 1000

// vocabulary gives labels their classes.
type vocabulary struct {
	names []string // in label order
	index map[string]int
	// numbered says that a label may be the number of a class: no name is a number.
	numbered bool
	// origin is where the names are from, in messages.
	origin string
}

func newVocabulary(names []string, origin string) (*vocabulary, error) {
	if len(names) > MaxClasses {
		return nil, fmt.Errorf("%s has %d classes, more than %d", origin, len(names), MaxClasses)
	}
	v := &vocabulary{names: names, index: make(map[string]int, len(names)), numbered: true, origin: origin}
	for class, name := range names {
		if name == "" {
			return nil, fmt.Errorf("class %d of %s has no name", class, origin)
		}
		if len(name) > maxClassName {
			return nil, fmt.Errorf("class %d of %s, %.100q…, has a name of %d bytes; %d are possible", class, origin, name, len(name), maxClassName)
		}
		if _, again := v.index[name]; again {
			return nil, fmt.Errorf("two classes of %s have the name %.100q", origin, name)
		}
		v.index[name] = class
		if _, err := strconv.Atoi(Whole(name)); err == nil {
			v.numbered = false
		}
	}
	for class, name := range names { // 2 is the class 2.0, unless there are both
		if _, is := v.index[Whole(name)]; !is {
			v.index[Whole(name)] = class
		}
	}
	return v, nil
}

// class returns the class of a label: the one of that name or, where no class has a number
// for a name, the one of that number.
func (v *vocabulary) class(label string) (int, error) {
	if class, ok := v.index[label]; ok {
		return class, nil
	}
	text := normalLabel(label)
	if text == "" {
		return unknown, nil
	}
	if class, ok := v.index[text]; ok {
		return class, nil
	}
	if number, err := strconv.Atoi(text); err == nil && v.numbered && number >= 0 && number < len(v.names) {
		return number, nil
	}
	hint := ""
	if likely := nearest.Name(label, v.names); likely != "" && !isNumber(text) {
		hint = fmt.Sprintf("; did you mean %.100q?", likely)
	}
	return unknown, fmt.Errorf("label %.100q is not a class of %s, which has %.500s%s", label, v.origin, printable.FirstTen(v.names), hint)
}

// normalLabel returns a label without spaces around it, and as [Whole] returns it, and an empty text for one that is
// not known.
func normalLabel(label string) string {
	label = Whole(strings.TrimSpace(label))
	if Unknown(label) {
		return ""
	}
	return label
}

// Whole returns a label without what some programs add to integers, the zeros of 3.0: labels for which that is
// the same are of one class.
func Whole(label string) string {
	if whole, zeros, found := strings.Cut(label, "."); found && strings.Trim(zeros, "0") == "" {
		if _, err := strconv.Atoi(whole); err == nil {
			return whole
		}
	}
	return label
}

// nameLabels replaces integers, of a column's rows from first on, by the names that class_names gives
// them, nil for none.
func nameLabels(labels, names []string, column string, first int) error {
	if names == nil {
		return nil
	}
	for i, label := range labels {
		if Unknown(label) {
			continue
		}
		number, err := strconv.Atoi(label)
		if err != nil || number < 0 || number >= len(names) {
			return fmt.Errorf("%s: row %d: label %s; class_names has %d names, of 0 to %d", column, first+i, label, len(names), len(names)-1)
		}
		labels[i] = names[number]
	}
	return nil
}

// findClasses finds out what a header tells of the classes.
func (t *Table) findClasses() error {
	want := t.options.Reference
	names, origin := t.named, t.name
	if want.Classes != nil {
		names, origin = want.Classes, want.Name
	}
	switch {
	case want.Classes != nil && t.kind != Features && len(names) != t.width:
		return fmt.Errorf("%d %s a row; %s has %s", t.width, t.kind, want.Name, printable.Count(len(names), "class"))
	case want.Classes != nil && t.named != nil && !t.agrees(names):
		return fmt.Errorf("the classes %.200q are not those of %s, %.200q, in that order", t.named, want.Name, names)
	case names == nil && t.kind != Features:
		for class := range t.width {
			names = append(names, strconv.Itoa(class))
		}
	}
	if names == nil {
		t.vocabulary = sync.OnceValues(t.collectClasses)
		return nil
	}
	known, err := newVocabulary(names, origin)
	t.vocabulary = func() (*vocabulary, error) { return known, nil }
	return err
}

// agrees reports whether the names that the file gives classes are among these: all of them, in their order, where the
// values are one a class. Labels that are places among the names have become names.
func (t *Table) agrees(names []string) bool {
	if t.kind != Features {
		return slices.Equal(t.named, names)
	}
	known := set(names)
	return !slices.ContainsFunc(t.named, func(name string) bool { return !known[name] })
}

// ClassNames lists the classes in label order: those of the [Reference], or those that the
// file names (the array class_names, or the ends of the names of columns such as
// probability_cat). Probabilities and logits without names have the classes 0, 1, and so on.
// The classes of other rows are the labels that occur, as they are written, but 2 where both 2 and
// 2.0 are: they are sorted, as numbers where all are, and it takes a pass over the file's labels to
// find them. It is nil where there are no labels either. The caller must not change it.
func (t *Table) ClassNames() ([]string, error) {
	v, err := t.vocabulary()
	if v == nil {
		return nil, err
	}
	return v.names, err
}

// collectClasses goes over the labels. Without any there are no classes.
func (t *Table) collectClasses() (*vocabulary, error) {
	if !t.labels {
		return nil, nil
	}
	const size = 4096
	found := make(map[string]string) // labels as they are written, by the normal ones
	for b, err := range t.pass(true, size, nil) {
		if err != nil {
			return nil, err
		}
		for i, label := range b.texts[labelRole] {
			name, written := normalLabel(label), strings.TrimSpace(label)
			if before, is := found[name]; name == "" || is && (before == written || before == name) {
				continue
			} else if is { // in two ways
				written = name
			}
			if len(written) > maxClassName {
				return nil, fmt.Errorf("%s: label %.100q… has %d bytes, and the name of a class at most %d; is that the column of labels?", t.position(b, i), label, len(label), maxClassName)
			}
			if _, is := found[name]; !is && len(found) == MaxClasses {
				return nil, fmt.Errorf("%s: label %.100q is one of more than %d classes; is that the column of labels?", t.position(b, i), label, MaxClasses)
			}
			found[strings.Clone(name)] = strings.Clone(written)
		}
	}
	names := slices.Collect(maps.Values(found))
	SortClasses(names)
	return newVocabulary(names, t.name)
}

// JoinClasses returns the classes of several files in label order: those of the first, or if another one has more
// all of them, sorted.
func JoinClasses(each ...[]string) []string {
	all, known := slices.Clip(each[0]), make(map[string]bool)
	for _, name := range all {
		known[Whole(name)] = true
	}
	for _, names := range each[1:] {
		for _, name := range names {
			if !known[Whole(name)] {
				known[Whole(name)], all = true, append(all, name)
			}
		}
	}
	if len(all) > len(each[0]) {
		SortClasses(all)
	}
	return all
}

// SortClasses sorts the names of classes in place: by their value if all are numbers, as texts
// if not.
func SortClasses(names []string) {
	numbers := make(map[string]int, len(names))
	for _, name := range names {
		number, err := strconv.Atoi(Whole(name))
		if err != nil {
			slices.Sort(names)
			return
		}
		numbers[name] = number
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(numbers[a], numbers[b]), strings.Compare(a, b))
	})
}

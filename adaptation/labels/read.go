package labels

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/internal/heading"
	"iwda/internal/input"
)

// Labels are what somebody says of some rows.
type Labels struct {
	Path string
	Rows []Label
	// Grouped tells that labels have groups, and that whole groups were drawn.
	Grouped bool
}

// addGroup appends the group of a label, if labels have groups.
func (l Labels) addGroup(groups []int, of Label) []int {
	if !l.Grouped {
		return groups
	}
	return append(groups, of.Group)
}

// Label is that of a row.
type Label struct {
	ID    string
	Class string
	Line  int // of the file
	Group int // that it belongs to, from 0, if labels are Grouped
}

// Read reads the labels of a file as [table.ReadText] does, with the columns id and label; a label that stands for none
// ([table.Unknown]), as an empty one, is passed over. The classes are those of origin; without any
// each label is the name of one. A label that is no class, and an id that has two labels, are errors that name file, line and id. groups is the name of the column that says which
// rows belong together, "" for none; a row without a value there is a group of its own.
func Read(path string, classes []string, origin, groups string) (Labels, error) {
	r := reader{Labels: Labels{Path: path, Grouped: groups != ""}, lines: map[string]int{}, groups: groups}
	var err error
	if r.name, err = table.LabelNames(classes, origin); err != nil {
		return r.Labels, input.Wrong(err)
	}
	if err := table.ReadText(path, r.header, r.line); err != nil {
		return r.Labels, err
	}
	if len(r.Rows) < fewest {
		return r.Labels, input.Wrong(fmt.Errorf("%s: rows with a label: %d; at least %d are needed, and about thirty for a useful answer", path, len(r.Rows), fewest))
	}
	return r.Labels, nil
}

// fewest is the number of labels without which nothing is known of a variance.
const fewest = 2

// reader reads a file of labels line by line.
type reader struct {
	Labels
	name             func(label string) (string, error)
	id, label, group int    // columns
	groups           string // the name of that of groups, "" for none
	grouping         table.Grouping
	lines            map[string]int // of ids
}

func (r *reader) header(columns []string) error {
	r.id, r.label = table.IDColumn(columns), table.LabelColumn(columns)
	disputed := slices.Contains(columns, heading.PredictedClass) && slices.ContainsFunc(columns, func(name string) bool {
		_, is := config.ParseMethod(name)
		return is
	})
	r.group = slices.Index(columns, r.groups)
	switch {
	case disputed: // of 0.4
		return fmt.Errorf("it is a disputed.csv of a former version, whose rows are not a random sample, so no accuracy follows from them: label the rows of %s", FileName)
	case r.Grouped && r.group < 0:
		return fmt.Errorf("no column is %.100q, which is to say which rows belong together; the columns are %.200q", r.groups, columns)
	case r.id < 0 || r.label < 0:
		return fmt.Errorf("the columns are %.200q; want id and label", columns)
	case slices.Contains(columns, "stratum_share"): // of 0.4
		return errors.New("its rows were drawn in strata, as --label-strata of version 0.4 did: that version evaluates them, and this one rows drawn from all alike")
	}
	return nil
}

func (r *reader) line(line int, cells []string) (err error) {
	l := Label{ID: strings.Clone(table.WrittenID(cells[r.id])), Line: line}
	name, err := r.name(cells[r.label])
	if err != nil {
		return fmt.Errorf("id %.100q: %w", l.ID, err)
	}
	if name == "" {
		return nil
	}
	if first := r.lines[l.ID]; first > 0 {
		return fmt.Errorf("id %.100q has a label in line %d already", l.ID, first)
	}
	if r.Grouped {
		l.Group = r.grouping.Number(strings.Clone(cells[r.group]))
	}
	l.Class, r.lines[l.ID] = strings.Clone(name), line
	r.Rows = append(r.Rows, l)
	return nil
}

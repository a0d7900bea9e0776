package labels

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/internal/heading"
	"iwda/internal/input"
)

// Labels are what somebody says of some rows.
type Labels struct {
	Path   string
	Rows   []Label
	Strata []Stratum // from which the rows were drawn
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
	ID      string
	Class   string
	Line    int // of the file
	Stratum int // index in Strata
	Group   int // that it belongs to, from 0, if labels are Grouped
}

// Stratum is a part of all rows; its name is "" if rows were drawn from all alike.
type Stratum struct {
	Name  string
	Share float64 // of all rows
}

// Read reads the labels of a file as [table.ReadText] does, with the columns id and label, and if it
// has these, stratum and stratum_share, the part of all rows from which a row was drawn; a label that stands for none
// ([table.Unknown]), as an empty one, is passed over. The classes are those of origin; without any
// each label is the name of one. A label that is no class, an id that has two labels and a stratum
// with less than two are errors that name file, line and id. groups is the name of the column that says which
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
	return r.Labels, input.Wrong(r.check())
}

// reader reads a file of labels line by line.
type reader struct {
	Labels
	name                      func(label string) (string, error)
	id, label, stratum, share int    // columns, -1 for none
	group                     int    // column
	groups                    string // its name, "" for none
	grouping                  table.Grouping
	lines                     map[string]int // of ids
}

func (r *reader) header(columns []string) error {
	r.id, r.label = table.IDColumn(columns), table.LabelColumn(columns)
	r.stratum, r.share = slices.Index(columns, heading.Stratum), slices.Index(columns, heading.StratumShare)
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
	case (r.stratum < 0) != (r.share < 0):
		return fmt.Errorf("want both the columns %s and %s, or neither", heading.Stratum, heading.StratumShare)
	case r.stratum < 0:
		r.Strata = []Stratum{{Share: 1}}
	}
	return nil
}

func (r *reader) line(line int, cells []string) (err error) {
	l := Label{ID: strings.Clone(table.WrittenID(cells[r.id])), Line: line}
	if r.stratum >= 0 {
		if l.Stratum, err = r.stratumOf(cells[r.stratum], cells[r.share]); err != nil {
			return fmt.Errorf("id %.100q: %w", l.ID, err)
		}
	}
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

// stratumOf returns the index of a stratum, which is new at its first line.
func (r *reader) stratumOf(name, shareText string) (int, error) {
	share, err := table.Fraction(shareText)
	if err != nil || !(share > 0 && share <= 1) {
		return 0, fmt.Errorf("%s is %.100q; want what was written there, a number from 0 to 1", heading.StratumShare, shareText)
	}
	at := slices.IndexFunc(r.Strata, func(s Stratum) bool { return s.Name == name })
	switch {
	case at < 0:
		r.Strata = append(r.Strata, Stratum{strings.Clone(name), share})
		return len(r.Strata) - 1, nil
	case r.Strata[at].Share != share:
		return 0, fmt.Errorf("%s is %v, but former lines of stratum %.100q have %v", heading.StratumShare, share, name, r.Strata[at].Share)
	}
	return at, nil
}

// fewestOfStratum is the number of labels without which nothing is known of a stratum's variance.
const fewestOfStratum = 2

// check returns an error unless every stratum has labels.
func (r *reader) check() error {
	labelled, sum := make([]int, len(r.Strata)), 0.0
	for _, l := range r.Rows {
		labelled[l.Stratum]++
	}
	for i, s := range r.Strata {
		sum += s.Share
		switch {
		case labelled[i] >= fewestOfStratum:
		case s.Name == "":
			return fmt.Errorf("%s: rows with a label: %d; at least %d are needed, and about thirty for a useful answer", r.Path, labelled[i], fewestOfStratum)
		default:
			return fmt.Errorf("%s: rows with a label in the stratum %s: %d; each stratum needs %d", r.Path, s.Name, labelled[i], fewestOfStratum)
		}
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("%s: the shares of the strata sum to %.4g, not 1; keep the rows of all strata, also those without a label", r.Path, sum)
	}
	return nil
}

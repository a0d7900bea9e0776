package adapt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"iwda/datasets/catalogue"
	"iwda/datasets/table"
	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/internal/nearest"
	"iwda/internal/printable"
)

// Naming is what is said of the columns of all domains, in as many files or in one. A column counts
// in each file that has it: labels have to be in each source, ids in the target, what is ignored in one
// of them.
type Naming struct {
	// Roles are those of columns. With a DomainColumn, one file has all domains.
	table.Roles
	// SourceValues are what the DomainColumn says in each source; none for the one domain whose rows all have labels.
	SourceValues []string
	// TargetValue is the target's; "" for the one other domain.
	TargetValue string
	// Form is Table or Array, of rows of features; "" for what their number of columns says.
	Form string

	before map[string]catalogue.Files // the domains of an experiment that goes on, which says what belongs together
}

// usualLabels are names of columns of labels, in upper or lower case, beside those that every reader
// takes for such.
var usualLabels = []string{"label", "labels", "class", "classes", "target", "category"}

// files returns what there is to read of the sources and, last, of the target, with absolute paths, and what
// was decided, in sentences.
func (n Naming) files(sources []string, target string) (files []catalogue.Files, said []string, err error) {
	if n.DomainColumn != "" && target == "" {
		target = sources[0]
	}
	if n.DomainColumn != "" && len(sources) == 1 {
		sources = slices.Repeat(sources, max(1, len(n.SourceValues)))
	}
	last := len(sources)
	names, rows := make([][]string, last+1), true
	for i, path := range append(slices.Clip(sources), target) {
		f := catalogue.Files{Domain: sourceName}
		if i == last {
			f.Domain = targetName
		} else if i > 0 {
			f.Domain += strconv.Itoa(i + 1)
		}
		if f.Path, err = filepath.Abs(path); err != nil {
			return nil, nil, err
		}
		files = append(files, f)
		if _, err := os.Stat(f.Path); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Domain, err)
		}
		if !table.Reads(path) {
			if !n.None() {
				return nil, nil, fmt.Errorf("%s: columns can be named only for a file of rows, whose name ends with %s", path, table.Extensions)
			}
			rows = false
			continue
		}
		if names[i], err = table.Names(path); err != nil {
			return nil, nil, err
		}
	}
	if !rows { // images, or some of each, which is an error when they are opened
		return files, nil, nil
	}
	if err := n.place(files, names); err != nil {
		return nil, nil, err
	}
	for i := range files {
		if was, is := n.before[files[i].Domain]; is && n.Group == "" && !n.Independent {
			files[i].Group, files[i].GroupBy, files[i].Independent = was.Group, was.GroupBy, was.Independent
			if was.Group != "" && was.ID == was.Group { // ids that repeat
				files[i].ID = was.ID
			}
		}
	}
	for i, f := range files[:last] {
		rest := f.Rest(names[i])
		if f.Label != "" || table.LabelColumn(rest) >= 0 || names[i] == nil {
			continue
		}
		label, because, err := guessLabel(f, rest, names[last])
		if err != nil {
			return nil, nil, err
		}
		said = append(said, fmt.Sprintf("%s: column %q is used as the label, because %s; choose another one with --label-column", f.Domain, label, because))
		for j := range files {
			if (files[j].Path == f.Path || j == last && files[j].Label == "") && slices.Contains(names[j], label) {
				files[j].Label = label
			}
		}
	}
	if n.DomainColumn != "" {
		if err := n.divide(files); err != nil {
			return nil, nil, err
		}
		from := convert.Each(files[:last], func(f catalogue.Files) string { return strconv.Quote(f.DomainValue) })
		said = append(said, fmt.Sprintf("source: rows with %s in the column %q; target: rows with %q", printable.Or(from), n.DomainColumn, files[last].DomainValue))
	} else if n.SourceValues != nil || n.TargetValue != "" {
		err = errors.New("--source-domain and --target-domain need --domain-column, the column that has these values")
	}
	return files, said, err
}

// place gives each file the roles of those columns that it has.
func (n Naming) place(files []catalogue.Files, names [][]string) error {
	all := evenly.All(len(files))
	last := len(all) - 1
	for _, role := range []struct {
		flag, column string
		in           [][]int // of each of these one file must have it
		set          func(r *table.Roles)
	}{
		{"--label-column", n.Label, slices.Collect(slices.Chunk(all[:last], 1)), func(r *table.Roles) { r.Label = n.Label }},
		{"--id-column", n.ID, [][]int{all[last:]}, func(r *table.Roles) { r.ID = n.ID }},
		{"--group-column", n.Group, [][]int{all}, func(r *table.Roles) { r.Group = n.Group }},
		{"--domain-column", n.DomainColumn, [][]int{all[:1]}, func(r *table.Roles) { r.DomainColumn = n.DomainColumn }},
	} {
		if role.column == "" {
			continue
		}
		for _, in := range role.in {
			if err := has(files, names, role.flag, role.column, in); err != nil {
				return err
			}
		}
		for i := range files {
			if slices.Contains(names[i], role.column) {
				role.set(&files[i].Roles)
			}
		}
	}
	for _, column := range n.Ignore {
		if err := has(files, names, "--ignore", column, all); err != nil {
			return err
		}
		for i := range files {
			if r := &files[i].Roles; slices.Contains(names[i], column) && !slices.Contains(r.Ignore, column) {
				r.Ignore = append(r.Ignore, column)
			}
		}
	}
	for i := range files {
		files[i].Decimal, files[i].Independent = n.Decimal, n.Independent
		if rest := files[i].Rest(names[i]); files[i].ID == "" && table.IDColumn(rest) < 0 {
			files[i].ID = oneOf(rest, []string{"id", "ids"})
		}
	}
	return nil
}

// has returns an error unless one of the files has a column.
func has(files []catalogue.Files, names [][]string, flag, column string, in []int) error {
	var paths, all []string
	for _, i := range in {
		if slices.Contains(names[i], column) {
			return nil
		}
		if path := files[i].Path; !slices.Contains(paths, path) {
			paths, all = append(paths, path), append(all, names[i]...)
		}
	}
	hint := "there are " + quoted(all)
	if len(all) == 0 {
		hint = `a .npy file is one array of values, without names: write it beside others into an .npz file, as numpy.savez("FILE.npz", features=…, labels=…) does`
	} else if near := nearest.Name(column, all); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Errorf("%s: there is no column %.100q, which %s names; %s", strings.Join(paths, " and "), column, flag, hint)
}

// quoted lists names, which may hold commas and line ends, the first ten of them.
func quoted(names []string) string {
	var list []string
	for _, name := range names {
		if name = fmt.Sprintf("%.100q", name); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return printable.FirstTen(list)
}

// oneOf is the column that has one of the names in upper or lower case; "" for none or several.
func oneOf(columns, names []string) (found string) {
	for _, column := range columns {
		for _, name := range names {
			if !strings.EqualFold(column, name) {
				continue
			}
			if found != "" {
				return ""
			}
			found = column
		}
	}
	return found
}

// guessLabel is the one column with a usual name of labels among the source's that are usable, or the only one that the
// target lacks, and why. A target that has labels itself may be the source, named in the wrong order. The error names
// those that could be meant.
func guessLabel(source catalogue.Files, usable, ofTarget []string) (label, because string, err error) {
	usual := usualLabels
	if slices.Contains(usable, table.Features.String()) { // an array of that name, beside which y is no coordinate
		usual = append(slices.Clip(usual), "y")
	}
	if label = oneOf(usable, usual); label != "" {
		return label, "of its name", nil
	}
	hint := "columns are " + quoted(usable)
	alone := slices.DeleteFunc(slices.Clone(usable), func(name string) bool { return slices.Contains(ofTarget, name) })
	labelled := func(column string) bool { return oneOf([]string{column}, usual) != "" }
	if len(alone) == 1 && !slices.ContainsFunc(ofTarget, labelled) {
		return alone[0], "the target lacks no other column", nil
	}
	if len(alone) > 0 {
		hint = "columns that the target lacks are " + quoted(alone)
	}
	return "", "", fmt.Errorf("%s: which column has the labels? None is called label, class or target. Name it with --label-column NAME; %s", source.Path, hint)
}

// divide finds the domains of one file.
func (n Naming) divide(files []catalogue.Files) error {
	path, column := files[0].Path, n.DomainColumn
	for _, f := range files {
		if f.Path != path {
			return fmt.Errorf("--domain-column is for one file with both domains, but these are two: %s and %s", path, f.Path)
		}
	}
	domains, err := table.Domains(path, files[0].Roles)
	if err != nil {
		return err
	}
	var values, listed, labelled []string
	for _, d := range domains {
		values, listed = append(values, d.Value), append(listed, fmt.Sprintf("%.100q (%s, %d with labels)", d.Value, printable.Count(d.Rows, "row"), d.Labelled))
		if d.Labelled == d.Rows {
			labelled = append(labelled, d.Value)
		}
	}
	wrong := func(format string, values ...any) error {
		return fmt.Errorf("%s: column %.100q: %s; there are %s", path, column, fmt.Sprintf(format, values...), printable.FirstTen(listed))
	}
	if len(domains) == 1 {
		return wrong("all rows are of one domain; add rows of the other one, or name another column with --domain-column")
	}
	from, to := slices.Clone(n.SourceValues), n.TargetValue
	asked := slices.Clip(from)
	if to != "" {
		asked = append(asked, to)
	}
	for i, value := range asked {
		if !slices.Contains(values, value) {
			return wrong("no row has %.100q", value)
		}
		if slices.Contains(asked[:i], value) {
			return wrong("%.100q cannot be two domains", value)
		}
	}
	if from == nil {
		labelled = slices.DeleteFunc(labelled, func(value string) bool { return to != "" && value == to })
		if len(labelled) != 1 {
			return wrong("the source is the one domain whose rows all have labels, but %d domains are like that: name the source with --source-domain VALUE, or several", len(labelled))
		}
		from = labelled
	}
	if to == "" {
		others := slices.DeleteFunc(slices.Clone(values), func(value string) bool { return slices.Contains(from, value) })
		if len(others) != 1 {
			return wrong("the source is %s, and %d others could be the target: name one with --target-domain VALUE", quoted(from), len(others))
		}
		to = others[0]
	}
	for i, value := range append(from, to) {
		files[i].DomainValue = value
	}
	return nil
}

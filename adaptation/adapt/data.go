package adapt

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/internal/convert"
	"iwda/internal/printable"
)

// The domains' names in experiment files. Further sources are called source2 and so on.
const (
	sourceName = "source"
	targetName = "target"
)

// Data is what was seen of two domains.
type Data struct {
	Kind           catalogue.Kind // Vectors or ImageFiles
	Form           string         // that of [Naming]
	Width          int            // values of a row of Vectors
	Classes        []string       // of all sources, in label order
	Source, Target Domain
	Parts          []Domain     // the sources, if there are several, which are one in Source
	Columns        Columns      // of Vectors
	Learnt         table.Learnt // of Vectors, where not all cells are numbers
	// Said is what was found out of files, in sentences.
	Said []string

	images *catalogue.ImageTask // of ImageFiles

	repeated string // a warning of the target's ids, "" if they differ
	belong   belonging

	beside []string // warnings of what stands beside arrays of values

	unlabelled string // the place of the source's first row without a label, "" if it is not known
}

// sources are the labelled domains.
func (d Data) sources() []Domain {
	if d.Parts == nil {
		return []Domain{d.Source}
	}
	return slices.Clip(d.Parts)
}

// names are those of the sources in experiment files.
func (d Data) names() (names []string) {
	for _, of := range d.sources() {
		names = append(names, of.Domain)
	}
	return names
}

// Task is what the domains' task is called there.
func (d Data) Task() string { return strings.Join(d.names(), "+") + "-" + targetName }

// Domain is what was seen of one.
type Domain struct {
	catalogue.Files // with an absolute path
	Rows            int
	Counts          []int // labelled rows of each class
	labels          datasets.Labels
	groups          []int // of its rows; nil if no column of groups is named
}

// count counts the rows by their labels, of so many classes.
func (d *Domain) count(labels datasets.Labels, classes int) {
	d.Rows, d.Counts, d.labels = labels.Len(), labels.Counts(classes), labels
}

// called is what the domain is called in a line about it and others: its file, or its value in the column of domains.
func (d Domain) called() string {
	if d.DomainColumn != "" {
		return fmt.Sprintf("%.100q", d.DomainValue)
	}
	return filepath.Base(d.Path)
}

// grouped says in how many groups the rows are, after their number; "" if no column of groups is named.
func (d Domain) grouped() string {
	if d.groups == nil {
		return ""
	}
	n, _ := d.inGroups()
	return " in " + printable.Count(n, "group")
}

// together says which rows of the domains count as one and why, a clause, and the evidence; "" if each counts.
func (d Data) together() (choice, evidence string) {
	by := d.Source.GroupBy
	if group := cmp.Or(d.Source.Group, d.Target.Group); group != "" {
		by = []string{group}
	}
	if by == nil {
		return "", ""
	}
	choice = fmt.Sprintf("rows with the same %s are held out together, and count as one in intervals", quoted(by))
	if sure := d.belong.sure; sure.because != "" {
		return fmt.Sprintf("%s, because %s; if they are independent, say so with --group-column ''", choice, sure.because), sure.evidence
	}
	return choice, "you said so"
}

// idColumn is the name of the column of ids of a file of rows; "" if there is none.
func (d Domain) idColumn() string {
	if d.ID != "" {
		return d.ID
	}
	names, _ := table.Names(d.Path) // which was read before
	if at := table.IDColumn(d.Rest(names)); at >= 0 {
		return d.Rest(names)[at]
	}
	return ""
}

// inGroups returns the number of groups of the domain's rows, and of those with rows of each class.
func (d Domain) inGroups() (all int, ofClass []int) {
	seen, ofClass := map[[2]int]bool{}, make([]int, len(d.Counts))
	for i, group := range d.groups {
		if !seen[[2]int{group, -1}] {
			seen[[2]int{group, -1}] = true
			all++
		}
		if class, known := d.labels.At(i); known && !seen[[2]int{group, class}] {
			seen[[2]int{group, class}] = true
			ofClass[class]++
		}
	}
	return all, ofClass
}

// labelled is the number of rows with a label.
func (d Domain) labelled() int {
	total := 0
	for _, n := range d.Counts {
		total += n
	}
	return total
}

// rarest returns the class with the fewest rows, and their number.
func (d Domain) rarest() (class, rows int) {
	for c, n := range d.Counts {
		if n < d.Counts[class] {
			class = c
		}
	}
	return class, d.Counts[class]
}

// fewestRows is the number of rows of a class in the source, or of groups with such rows, below which nothing can be
// held out of it and something be left to learn from.
const fewestRows = 3

// fewestTargetRows is the number of rows of the target below which its class shares and its
// columns' means and deviations say too little: those of a single row are the row itself and 0.
const fewestTargetRows = 10

// Look opens sources and a target as training does, reads all rows of features, and lists images.
// What training would refuse is an error, with file, row and column.
func Look(sources []string, target string, n Naming) (Data, error) {
	files, said, err := n.files(sources, target)
	var d Data
	if err == nil {
		d, err = lookAt(files, n.Form, n.before == nil)
	}
	if err != nil {
		return Data{}, err
	}
	d.Said = append(said, d.Said...)
	return d, nil
}

// lookAt is [Look] at sources and, last, a target with their roles, to which groups are added where it is sure which
// rows belong together, if it may.
func lookAt(files []catalogue.Files, form string, mayGroup bool) (Data, error) {
	data, err := catalogue.Find("files")
	if err != nil {
		return Data{}, err
	}
	if data, err = data.Of(files); err != nil {
		return Data{}, err
	}
	if err := data.CheckFiles(""); err != nil {
		return Data{}, err
	}
	last := len(files) - 1
	seen := Data{Kind: data.Kind, Form: form, Source: Domain{Files: files[0]}, Target: Domain{Files: files[last]}}
	if last > 1 {
		var paths []string
		for _, of := range files[:last] {
			seen.Parts, paths = append(seen.Parts, Domain{Files: of}), append(paths, of.Path)
		}
		seen.Source.Files = catalogue.Files{Domain: sourceName, Path: printable.And(slices.Compact(paths))}
	}
	if data.Kind == catalogue.ImageFiles {
		err = seen.lookAtImages(data)
	} else {
		err = seen.lookAtRows(data)
	}
	if err != nil {
		return Data{}, err
	}
	if sure := seen.belong.sure; mayGroup && sure.because != "" {
		grouped := slices.Clone(files)
		for i := range grouped {
			columns, _ := table.Names(files[i].Path) // which was read before
			sure.roles(&grouped[i].Roles, columns)
		}
		if again, err := lookAt(grouped, form, false); err == nil && again.enoughGroups() {
			again.belong.sure = sure
			return again, nil
		}
	}
	if names, said := seen.apart(); names != nil {
		files = slices.Clone(files)
		for i := range files {
			files[i].Ignore = append(slices.Clip(files[i].Ignore), names...)
		}
		again, err := lookAt(files, form, false)
		again.Learnt.LeftOut = append(said, again.Learnt.LeftOut...)
		again.belong.warnings, again.belong.blatant = seen.belong.warnings, seen.belong.blatant // of such a column too
		return again, err
	}
	return seen, seen.check()
}

// enoughGroups tells that each source has rows of each class in enough groups to learn from some and judge by others.
func (d Data) enoughGroups() bool {
	for _, source := range d.sources() {
		if _, ofClass := source.inGroups(); slices.Min(ofClass) < fewestRows {
			return false
		}
	}
	return true
}

// apart names the columns in which what the target has says nothing by what the source has, and says why.
func (d Data) apart() (names, said []string) {
	for _, c := range d.Learnt.Columns {
		if c.Apart != "" {
			names, said = append(names, c.Name), append(said, fmt.Sprintf("Column %.100q is left out: %s.", c.Name, c.Apart))
		}
	}
	return names, said
}

func (d *Data) lookAtRows(data catalogue.Dataset) (err error) {
	task, err := data.OpenTask(sourceName, targetName, catalogue.Source{}, d.names()[1:]...)
	if missing := (*table.MissingColumnError)(nil); errors.As(err, &missing) {
		return fmt.Errorf("%w; add it, rename the column that is the same, or leave it out with %s", err, printable.Command("--ignore", missing.Column))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, task.Close()) }()
	sources := append([]datasets.Set{task.Source}, task.Others...)
	source := datasets.Join(sources...).(rowSet)
	target := task.Target.(rowSet)
	d.Learnt = task.Learnt
	d.Width, d.Classes = datasets.Size(source.Shape()), source.ClassNames()
	d.Source.count(datasets.LabelsOf(source), len(d.Classes))
	d.Target.count(datasets.LabelsOf(target), len(d.Classes))
	d.Source.groups, d.Target.groups = datasets.GroupsOf(source), datasets.GroupsOf(target)
	for i := range d.Parts {
		d.Parts[i].count(datasets.LabelsOf(sources[i]), len(d.Classes))
		d.Parts[i].groups = datasets.GroupsOf(sources[i])
	}
	if n, id := repeatedIDs(target, d.Target.idColumn()); n > 0 {
		d.repeated = fmt.Sprintf("The ids of the target are not unique: %d rows have the same id as another row, for example %q. iwrun evaluate cannot tell to which of them a label belongs. Name another column with --id-column, or leave it out with --ignore.", n, id)
	}
	d.Columns = lookAtColumns(sources, source, target)
	d.Columns.origins, d.Columns.dates = task.Origins(), task.Learnt.Dates()
	idColumn := "" // of the first source that has one
	for i, of := range append(d.sources(), d.Target) {
		rows, domain := append(slices.Clip(sources), target)[i].(*table.Rows), i/len(sources)
		if maps.Copy(d.Columns.coarse[domain], rows.Coarse()); domain == 0 {
			d.unlabelled, idColumn = cmp.Or(d.unlabelled, rows.Unlabelled()), cmp.Or(idColumn, of.idColumn())
		}
		sign, presumed := rows.Decimal()
		if sign == "," {
			d.Said = append(d.Said, of.Domain+": numbers have a decimal comma")
		}
		if presumed != "" {
			d.Said = append(d.Said, fmt.Sprintf("%s: %s", of.Domain, presumed))
		}
		beside := convert.Each(rows.Beside(), func(name string) string { return fmt.Sprintf("%.100q", name) })
		if len(beside) > 0 {
			d.beside = append(d.beside, fmt.Sprintf("The %s has %s beside its array or list of values, which is not used: put its numbers among the values, or leave it out with --ignore.", of.Domain, printable.FirstTen(beside)))
		}
	}
	if d.Learnt.Encoding != nil {
		d.Columns.Source.leaveMissing(source, d.Learnt.Encoding)
		d.Columns.Target.leaveMissing(target, d.Learnt.Encoding)
	}
	if d.Source.Rows > 0 && d.Target.Rows > 0 {
		if d.Source.Rows == d.Source.labelled() {
			d.belong.look(source, target, idColumn, d.Learnt, d.table(), d.Source.Independent)
			d.lookBeyond(source, target)
		}
	}
	return err
}

// rowSet is the rows of a file, or of several as one.
type rowSet interface {
	datasets.Named
	ID(i int) string
}

// repeatedIDs is the number of rows with the id of a row before them, and the first of these ids; 0 without a column
// of ids.
func repeatedIDs(of rowSet, column string) (rows int, first string) {
	seen := map[string]bool{}
	for i := 0; column != "" && i < of.Len(); i++ {
		id := of.ID(i)
		if seen[id] {
			if rows++; rows == 1 {
				first = id
			}
		}
		seen[id] = true
	}
	return rows, first
}

func (d *Data) lookAtImages(data catalogue.Dataset) error {
	task, err := data.OpenImageTask("", sourceName, targetName, d.names()[1:]...)
	if err != nil {
		return err
	}
	d.images = &task
	d.Said = append(task.Source.PassedOver(), task.Target.PassedOver()...)
	d.Classes = task.Source.ClassNames()
	d.Source.count(task.Source.Labels(), len(d.Classes))
	d.Target.count(task.Target.Labels(), len(d.Classes))
	for i := range d.Parts {
		d.Parts[i].count(task.Source.PartLabels()[i], len(d.Classes))
	}
	for i := range d.Source.Rows {
		if _, known := task.Source.Labels().At(i); !known {
			d.unlabelled = task.Source.Path(i)
			break
		}
	}
	return nil
}

// check refuses data from which nothing can be learned.
func (d Data) check() error {
	switch unknown := d.Source.Rows - d.Source.labelled(); {
	case d.Source.Rows == 0:
		return fmt.Errorf("%s has no rows", d.Source.Path)
	case d.Target.Rows == 0:
		return fmt.Errorf("%s has no rows", d.Target.Path)
	case len(d.Classes) < 2:
		return fmt.Errorf("%s has the classes %q; at least 2 are needed", d.Source.Path, d.Classes)
	case unknown > 0:
		hint := ""
		if _, err := strconv.Atoi(d.Classes[0]); err == nil {
			hint = "; the label -1 stands for an unknown class: if it is a class, give it another name in all files"
		}
		lack := "have no label"
		if unknown == 1 {
			lack = "has no label"
		} else if d.unlabelled != "" {
			lack += ", this one is the first"
		}
		return fmt.Errorf("%s: %d of %d rows %s; training needs labels: leave out the rows without one%s", cmp.Or(d.unlabelled, d.Source.Path), unknown, d.Source.Rows, lack, hint)
	}
	if rare, of := d.rareClasses(d.Source); rare != "" {
		return fmt.Errorf("%s: each class needs at least %d %s, because some are held out; %s: add rows, or leave rarer classes out", d.Source.Path, fewestRows, of, rare)
	}
	if rows := d.Target.Rows; rows < fewestTargetRows {
		kind, what := "rows", "the means and deviations of its columns, and its class shares"
		if d.Kind == catalogue.ImageFiles {
			kind, what = "images", "its class shares"
		}
		return fmt.Errorf("%s has %s; at least %d are needed to estimate %s: add %s, or adapt to another target and classify these with iwrun predict",
			d.Target.Path, d.Kind.Of(rows), fewestTargetRows, what, kind)
	}
	return nil
}

// rareClasses names those with too few rows in a source, or groups of them, the first ten of many, and says which
// were counted; "" if there are none.
func (d Data) rareClasses(source Domain) (rare, of string) {
	var names []string
	counts, of := source.Counts, "rows"
	if source.groups != nil {
		_, counts = source.inGroups()
		of = "groups"
	}
	for class, n := range counts {
		if n < fewestRows {
			names = append(names, fmt.Sprintf("%q has %d", d.Classes[class], n))
		}
	}
	return printable.FirstTen(names), of
}

// checkExperiment returns an error where the experiment file is about other domains.
func (d Data) checkExperiment(file *config.File) error {
	for _, seen := range append(d.sources(), d.Target) {
		there := domainFiles(file)[seen.Domain]
		if there.Path != seen.Path {
			return config.Error{Location: file.Name, Message: fmt.Sprintf("is for the %s %s; choose another folder with -o, or remove the file", seen.Domain, cmp.Or(there.String(), "(none)"))}
		}
		if !there.Roles.Equal(seen.Roles) {
			return config.Error{Location: file.Name, Message: fmt.Sprintf("uses other columns of the %s: %s; name the same columns, choose another folder with -o, or remove the file", seen.Domain, there)}
		}
	}
	return nil
}

// seen says what was seen of each domain, of each source of several in a line of its own after that of all.
func (d Data) seen() (source []string, target string) {
	width := ""
	if d.Kind == catalogue.Vectors {
		width = " of " + printable.Count(d.Width, "value")
	}
	class, rows := d.Source.rarest()
	labels := "without labels"
	if n := d.Target.labelled(); n > 0 {
		labels = fmt.Sprintf("%d with labels, which only measure the accuracy", n)
	}
	source = []string{fmt.Sprintf("%s%s%s, %s; the rarest is %q with %s", d.Kind.Of(d.Source.Rows), width, d.Source.grouped(), printable.Count(len(d.Classes), "class"), d.Classes[class], d.Kind.Of(rows))}
	for _, of := range d.Parts {
		source = append(source, of.called()+": "+d.rowsOf(of))
	}
	return source, fmt.Sprintf("%s%s, %s", d.Kind.Of(d.Target.Rows), d.Target.grouped(), labels)
}

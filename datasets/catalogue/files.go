package catalogue

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/datasets/images"
	"iwda/datasets/table"
	"iwda/internal/printable"
)

// Files are a domain of the data set files: what the user calls it and where its rows
// are, relative to the folder of the data set or absolute.
type Files struct {
	Domain string `yaml:"-"`
	// Path is the file or folder of the rows that are trained on, relative to dataset.root.
	Path string `yaml:"path"`
	// Test is the file or folder of the test set. Without it, the target's rows are the test set.
	Test string `yaml:"test,omitempty"`
	// Roles are those of columns of both files.
	table.Roles `yaml:",inline"`
}

// GoString is the text by which a domain counts in the hash of a run: as it was before columns could
// have roles, if none has.
func (f Files) GoString() string {
	text := fmt.Sprintf("catalogue.Files{Domain:%q, Path:%q, Test:%q", f.Domain, f.Path, f.Test)
	if !f.None() {
		text += fmt.Sprintf(", Roles:%#v", f.Roles)
	}
	return text + "}"
}

// String says where the rows are, and what is said of columns.
func (f Files) String() string {
	text := f.Path
	if f.Test != "" {
		text += " (test: " + f.Test + ")"
	}
	if columns := f.Roles.String(); columns != "" {
		text += " (" + columns + ")"
	}
	return text
}

// kindOf is what the path says of the rows: those that are no files of features lead to
// images, to a folder or a list.
func kindOf(path string) Kind {
	if table.Reads(path) {
		return Vectors
	}
	return ImageFiles
}

// otherFiles are the ends of the names of files that hold rows or images in forms that are not
// read.
var otherFiles = []string{
	".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz", ".7z", ".pkl", ".pickle", ".joblib", ".pt", ".pth", ".ckpt",
	".h5", ".hdf5", ".mat", ".feather", ".arrow", ".orc", ".avro", ".tfrecord", ".json", ".jsonl", ".xls", ".xlsx", ".ods", ".rds", ".rda", ".rdata", ".db", ".sqlite",
}

// paths are those of both sets, of which the test set may have none.
func (f Files) paths() []string {
	if f.Test == "" {
		return []string{f.Path}
	}
	return []string{f.Path, f.Test}
}

// check returns an error for a form that is not read, or that is not of the kind.
func (f Files) check(kind Kind, first string) error {
	for _, path := range f.paths() {
		if end := strings.ToLower(filepath.Ext(path)); slices.Contains(otherFiles, end) && !table.Reads(path) {
			return fmt.Errorf("%s: files that end with %s are not read: rows of values are read from files that end with %s, images from a folder or a list of them", path, end, table.Extensions)
		}
		if !f.None() && kind != Vectors {
			return fmt.Errorf("%s: %s, but images have no columns", path, f.Roles)
		}
		if f.DomainColumn == "" && f.DomainValue != "" {
			return fmt.Errorf("%s: domain_value is for rows with a domain_column", path)
		}
		if kindOf(path) != kind {
			return fmt.Errorf("%s and %s: one is a file of features, which ends with %s, the other has images; all domains must be of one kind", first, path, table.Extensions)
		}
	}
	return nil
}

// ownFiles are domains of the user's own, whose files and names the configuration says:
// see [Dataset.Of].
func ownFiles() Dataset {
	return Dataset{
		Name: "files", Title: "Files",
		Kind:     Vectors,
		Root:     ".",
		Settings: "network: {name: mlp, features: 256, layers: 1}\ntrain: {epochs: 20}",
		instructions: func(root string) string {
			if root == "." {
				root = "the working directory"
			}
			return fmt.Sprintf("Your own: dataset.domains names each domain's file, or folder of images, by a path relative to dataset.root,\n"+
				"here %s. The source has labels; a target needs none. docs/reference/formats.md says which formats there are.", root)
		},
	}
}

// Named reports whether the domains are named by the user, together with their files.
func (d Dataset) Named() bool { return d.Name == ownFiles().Name }

// Of returns the data set of these domains' files, if it is one whose domains the user
// names. Files of features and images beside one another are an error.
func (d Dataset) Of(domains []Files) (Dataset, error) {
	if !d.Named() || len(domains) == 0 {
		return d, nil
	}
	d.files, d.Kind = domains, kindOf(domains[0].Path)
	for _, f := range domains {
		if err := f.check(d.Kind, domains[0].Path); err != nil {
			return d, err
		}
	}
	if d.Kind == ImageFiles {
		d.Settings = ""
	}
	return d, nil
}

// CheckFiles returns an error that names a file of the user's own that is not there.
func (d Dataset) CheckFiles(root string) error {
	for _, f := range d.files {
		for _, path := range f.paths() {
			if _, err := os.Stat(below(root, path)); err != nil {
				return fmt.Errorf("%s: %w", f.Domain, err)
			}
		}
	}
	return nil
}

// MayHaveLabels reports whether rows of the target, a domain of the user's own, of those
// that are trained on, may have labels, by no more than a look at the header of a file of
// features, or at the names of images: those of folders are labels where the source has
// such classes.
func (d Dataset) MayHaveLabels(root, source, target string, others ...string) (bool, error) {
	if d.Kind == ImageFiles {
		task, err := d.OpenImageTask(root, source, target, others...)
		if err != nil {
			return false, err
		}
		return task.Target.Labels().Known() > 0, nil
	}
	files, err := d.files.domain(target)
	if err != nil {
		return false, err
	}
	file, err := table.Open(below(root, files.Path), table.Options{Kind: table.Features, Roles: files.Roles})
	if err != nil {
		return false, err
	}
	return file.HasLabels(), file.Close()
}

// fileDomains are the user's own.
type fileDomains []Files

func (f fileDomains) domain(name string) (Files, error) {
	var names []string
	for _, files := range f {
		if files.Domain == name {
			return files, nil
		}
		names = append(names, files.Domain)
	}
	return Files{}, fmt.Errorf("no domain %q; dataset.domains has %s", name, cmp.Or(strings.Join(names, ", "), "none"))
}

// below is a path in the folder root, unless it is absolute.
func below(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// ClassesOf returns the classes of sources together, in label order: of the user's own rows the labels that occur.
func (d Dataset) ClassesOf(root string, sources ...string) ([]string, error) {
	if !d.Named() || d.Kind == ImageFiles {
		return d.Classes, nil
	}
	var each [][]string
	for _, source := range sources {
		files, err := d.files.domain(source)
		if err != nil {
			return nil, err
		}
		t, err := table.Open(below(root, files.Path), table.Options{Kind: table.Features, Roles: files.Roles})
		if err != nil {
			return nil, err
		}
		classes, err := t.ClassNames()
		if err == nil && len(classes) == 0 {
			err = fmt.Errorf("%s: no row has a label; the source needs labels, in a column or array called label or labels", t.Name())
		}
		if err := errors.Join(err, t.Close()); err != nil {
			return nil, err
		}
		each = append(each, classes)
	}
	return table.JoinClasses(each...), nil
}

// openTask opens all domains, whose classes are those of all sources. Columns are encoded, as the sources say,
// unless all their cells are numbers.
func (d Dataset) openTask(source, target string, from Source, others []string) (Task, error) {
	var all []Files // the target last
	var tables []table.File
	for _, name := range slices.Concat([]string{source}, others, []string{target}) {
		files, err := d.files.domain(name)
		if err != nil {
			return Task{}, err
		}
		all, tables = append(all, files), append(tables, table.File{Path: below(from.Root, files.Path), Roles: files.Roles})
	}
	last := len(all) - 1
	classes, err := d.ClassesOf(from.Root, append([]string{source}, others...)...)
	if err != nil {
		return Task{}, err
	}
	task, err := openFiles(all[:last], all[last], from.Root, classes, table.Learnt{})
	if err == nil {
		return task, nil
	}
	learnt, problem := table.Learn(tables[:last], tables[last])
	if problem != nil || learnt.Encoding == nil {
		return Task{}, cmp.Or(problem, err)
	}
	task, err = openFiles(all[:last], all[last], from.Root, classes, learnt)
	task.Learnt = learnt
	return task, err
}

// openFiles opens those of sources and of a target. Groups of sources are the same if they have the same name.
func openFiles(sources []Files, ofTarget Files, root string, classes []string, learnt table.Learnt) (task Task, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, task.Close())
			task = Task{}
		}
	}()
	open := func(path string, roles table.Roles, reference table.Reference, grouping *table.Grouping) (*table.Rows, error) {
		file, err := table.Open(below(root, path), table.Options{Kind: table.Features, Roles: roles, Centre: true, Reference: reference, Grouping: grouping})
		if err != nil {
			return nil, err
		}
		task.files = append(task.files, file)
		return file.Load()
	}
	var paths []string
	grouping, reference := new(table.Grouping), table.Reference{Encoding: learnt.Encoding, Origins: learnt.Origins, Classes: classes}
	for i, of := range sources {
		paths = append(paths, below(root, of.Path))
		reference.Name = paths[0]
		rows, err := open(of.Path, of.Roles, reference, grouping)
		if err != nil {
			return task, err
		}
		if i > 0 {
			task.Others = append(task.Others, rows)
			continue
		}
		task.Source = rows
		if reference, err = rows.Reference(); err != nil {
			return task, err
		}
	}
	reference.Name = printable.And(slices.Compact(paths))
	onTarget, err := open(ofTarget.Path, ofTarget.Roles, reference, nil)
	if err != nil {
		return task, err
	}
	task.Target, task.Test = onTarget, onTarget
	if ofTarget.Test != "" {
		task.Test, err = open(ofTarget.Test, ofTarget.Roles, reference, nil)
	}
	return task, err
}

// openImageTask finds the images of the target, which has the source's classes.
func (f fileDomains) openImageTask(root, target string, source *images.Set) (task ImageTask, err error) {
	ofTarget, err := f.domain(target)
	if err != nil {
		return ImageTask{}, err
	}
	task.Source = source
	if task.Target, err = images.OpenOwn(below(root, ofTarget.Path), source.ClassNames()); err != nil {
		return ImageTask{}, err
	}
	if task.Test = task.Target; ofTarget.Test != "" {
		task.Test, err = images.OpenOwn(below(root, ofTarget.Test), source.ClassNames())
	}
	return task, err
}

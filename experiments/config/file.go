package config

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"iwda/datasets/catalogue"
	"iwda/internal/input"
	"iwda/internal/nearest"
)

// File is an experiment file with its overrides and the assignments made since. It
// is valid: Parse and Set return an error otherwise.
type File struct {
	Name string // as given to Load or Parse
	// Config holds the settings of the file and the assignments, without overrides.
	Config Config

	root        *yaml.Node
	assignments []assignment
	base        Config            // Config without assignments
	at          map[string]string // locations of the keys of the file
	overrides   []override
}

// document is the schema of a file.
type document struct {
	Config `yaml:",inline"`
	// Overrides are settings for some runs. Each has a condition, when: {task, variant, method,
	// seed} with names or patterns, and next to it the settings. If several fit, the last wins.
	Overrides []override `yaml:"overrides"`
}

// Load reads an experiment file. The error is of type Errors unless the file cannot
// be read.
func Load(path string) (*File, error) {
	data, err := input.Read(path, input.Text)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads the contents of an experiment file. Messages call it name. The error
// is of type Errors.
func Parse(name string, data []byte) (*File, error) {
	root, err := parseYAML(name, data)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, root: root}
	if err := f.evaluate(); err != nil {
		return nil, err
	}
	return f, nil
}

// Set makes assignments of the form path=value, where path is a key with those above
// it (train.epochs) and value is YAML ([iwdan, dann]). They win over the settings of
// the file and over all overrides. Where one is wrong, none is made and the error is
// of type Errors.
func (f *File) Set(assignments []string) error {
	var mistakes Errors
	changed := *f
	changed.assignments = slices.Clone(f.assignments)
	for _, text := range assignments {
		a, err := parseAssignment(text)
		if err != nil {
			mistakes = append(mistakes, *err)
			continue
		}
		changed.assignments = append(changed.assignments, a)
	}
	if err := changed.evaluate(); err != nil {
		mistakes = append(mistakes, err.(Errors)...)
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	*f = changed
	return nil
}

// evaluate fills f from its nodes.
func (f *File) evaluate() error {
	// The defaults depend on the data set and the recipe, which any place may name.
	var probe document
	d := newDecoder(f.locate)
	d.decodeInto("", f.root, &probe)
	f.decodeAssignments(d, &probe)

	// Unknown names are mistakes that the second pass reports.
	data, _ := probe.Dataset.Described()
	doc := document{Config: Default(data)}
	doc.Settings.merge("recipe "+probe.Recipe, recipes[probe.Recipe])
	d = newDecoder(f.locate)
	d.decodeInto("", f.root, &doc)
	f.base, f.at = doc.Config, maps.Clone(d.at)
	f.decodeAssignments(d, &doc)
	f.Config, f.overrides = doc.Config, doc.Overrides
	f.Config.pairs = d.pairs
	if f.Config.Title == "" {
		f.Config.Title = f.Config.Experiment
	}
	f.checkRequired(d)
	f.checkTasks(d)
	f.checkNumber(d)
	if how := f.Config.Selection; how.LabelShift && (how.Rule != "" || len(how.SameMeaning) == 0) {
		d.failAt(cmp.Or(d.at["selection.label_shift"], d.at["selection"]), "selection.label_shift is for the methods of selection.alike, if there is no selection.rule")
	}
	known := listed(f.base, f.Config)
	for _, o := range f.overrides {
		o.check(d, known)
	}
	return d.errors.OrNil()
}

// runs is the number of runs of an experiment.
func (c Config) runs() int { return len(c.Tasks) * len(c.Variants) * len(c.Methods) * len(c.Seeds) }

// checkNumber reports more runs than anyone can want: a list too long by mistake.
func (f *File) checkNumber(d *decoder) {
	const most = 100_000
	c := f.Config
	if runs := c.runs(); runs > most {
		d.failAt(d.at["seeds"], "%d tasks, %d variants, %d methods and %d seeds make %d runs; an experiment has at most %d",
			len(c.Tasks), len(c.Variants), len(c.Methods), len(c.Seeds), runs, most)
	}
}

func (f *File) decodeAssignments(d *decoder, doc *document) {
	for _, a := range f.assignments {
		d.locate = func(*yaml.Node) string { return a.location }
		d.decodeInto("", a.root, doc)
	}
}

func (f *File) locate(n *yaml.Node) string {
	return place(f.Name, n)
}

// checkRequired reports keys without a default that are missing or empty.
func (f *File) checkRequired(d *decoder) {
	c := f.Config
	var missing []string
	for _, key := range []struct {
		path  string
		empty bool
	}{
		{"experiment", c.Experiment == ""},
		{"dataset.name", c.Dataset.Name == ""},
		{"tasks", len(c.Tasks) == 0},
		{"variants", len(c.Variants) == 0},
		{"methods", len(c.Methods) == 0},
		{"seeds", len(c.Seeds) == 0},
	} {
		location, given := d.at[key.path]
		parent, _, _ := strings.Cut(key.path, ".")
		switch {
		case !given && key.empty && !d.failedAt(d.at[parent]):
			missing = append(missing, key.path)
		case given && key.empty && !d.failedAt(location):
			d.failAt(location, "%s is empty; it needs at least one value", key.path)
		}
	}
	if len(missing) > 0 {
		d.fail(f.root, "missing: %s; there is no default", strings.Join(missing, ", "))
	}
}

// checkTasks reports tasks that the data set does not have.
func (f *File) checkTasks(d *decoder) {
	data, err := catalogue.Find(f.Config.Dataset.Name)
	if err != nil {
		return
	}
	for i, task := range f.Config.Tasks {
		location := d.at[fmt.Sprintf("tasks[%d]", i)]
		p, problem := f.Config.domainsOf(task, f.Config.Dataset)
		unknown := slices.IndexFunc(p.sources(), func(source string) bool { return !slices.Contains(data.Tasks, pair{source, p.target}.name()) })
		repeated := p.repeated()
		switch named := data.Tasks == nil; { // the domains are files that the user names
		case d.failedAt(location):
		case repeated != "":
			d.failAt(location, "task %s: %s", task, repeated)
		case !named && unknown >= 0:
			of := task
			if len(p.sources()) > 1 {
				of = pair{p.sources()[unknown], p.target}.name()
			}
			d.failAt(location, "unknown task %q of data set %s; %s", of, data.Name, nearest.Suggestion(of, data.Tasks))
		case named && slices.ContainsFunc(p.all(), func(name string) bool { return !plainFolder.MatchString(name) }):
			d.failAt(location, "task %q is not of the form source-target, two names of files and folders: %s", task, folderForm)
		case named && problem != "":
			d.failAt(location, "task %s: %s", task, problem)
		}
	}
}

// ParseRun reads the text of [Resolved.YAML]: an experiment of one run. name stands for the file in
// errors.
func ParseRun(name string, text []byte) (Resolved, error) {
	file, err := Parse(name, text)
	if err != nil {
		return Resolved{}, err
	}
	return file.Single()
}

// LoadRun is [ParseRun] of a file.
func LoadRun(path string) (Resolved, error) {
	text, err := input.Read(path, input.Text)
	if err != nil {
		return Resolved{}, err
	}
	return ParseRun(path, text)
}

// Single returns the configuration of the only run of an experiment. More runs than one are an error.
func (f *File) Single() (Resolved, error) {
	c := f.Config
	if n := c.runs(); n != 1 {
		return Resolved{}, fmt.Errorf("%s: the configuration of one run is wanted, this one has %d", f.Name, n)
	}
	return f.Resolve(c.Tasks[0], c.Variants[0], c.Methods[0], c.Seeds[0])
}

// YAML returns r as an experiment file with this one run, all keys given that count.
// Parse and Resolve turn it into the same configuration again.
func (r Resolved) YAML() ([]byte, error) {
	settings := r.Settings
	if settings.Train.Steps > 0 {
		settings.Train.Epochs = 0 // left out
	}
	var document yaml.Node
	err := document.Encode(Config{
		Experiment: r.Experiment, Title: r.Title,
		Tasks: []string{r.Task}, Variants: []string{r.Variant}, Methods: []string{r.Method}, Seeds: []int64{r.Seed},
		Settings: settings,
	})
	if err == nil && strings.Count(r.Task, "-") > 1 {
		err = valueOf(&document, "tasks").Encode([][]string{{r.source, r.target}})
	}
	text, encodeErr := encode(&document)
	if err = cmp.Or(err, encodeErr); err != nil {
		return nil, fmt.Errorf("configuration of a run as YAML: %w", err)
	}
	return text, nil
}

// Text returns the file with the assignments made in it, comments kept, so that it gives
// the same experiment without them.
func (f *File) Text() ([]byte, error) {
	root := clone(f.root)
	for _, a := range f.assignments {
		assign(root, clone(a.root))
	}
	text, err := encode(root)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be written: %w", f.Name, err)
	}
	return text, nil
}

// encode writes a node as the files of this program are indented.
func encode(n *yaml.Node) ([]byte, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := encoder.Encode(n)
	return text.Bytes(), err
}

// clone returns a copy of a node and all below it.
func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	for _, child := range n.Content {
		c.Content = append(c.Content, clone(child))
	}
	return &c
}

// assign puts the values of a mapping into another one, in the place of those that are
// there, or at the end.
func assign(into, from *yaml.Node) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		at := valueOf(into, key.Value)
		switch {
		case at == nil:
			into.Content = append(into.Content, key, value)
		case at.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			assign(at, value)
		default:
			value.HeadComment, value.LineComment, value.FootComment = at.HeadComment, at.LineComment, at.FootComment
			*at = *value
		}
	}
}

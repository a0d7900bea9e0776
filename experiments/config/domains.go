package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gopkg.in/yaml.v3"

	"iwda/datasets/catalogue"
	"iwda/datasets/table"
	"iwda/internal/convert"
	"iwda/internal/printable"
)

// Domains are the user's own domains, in the order of the file: a mapping from names to
// files in YAML. Names are kept in lower case, as all names are.
type Domains []catalogue.Files

// decodeNode reads the mapping. What it says of a domain replaces what was said of it before, key by key.
func (all *Domains) decodeNode(d *decoder, at string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s must be a mapping from names to files, as photos: {path: photos.npz}, not %s", at, describe(n))
		return
	}
	changed := slices.Clone(*all)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := strings.ToLower(key.Value)
		switch {
		case key.Kind != yaml.ScalarNode || !plainFolder.MatchString(name):
			d.fail(key, "a domain is called %.200q; its name is also one of a folder: %s", key.Value, folderForm)
			continue
		case seen[name]:
			d.fail(key, "domain %q is given twice", name)
			continue
		}
		seen[name] = true
		index := slices.IndexFunc(changed, func(f catalogue.Files) bool { return f.Domain == name })
		if index < 0 {
			index, changed = len(changed), append(changed, catalogue.Files{Domain: name})
		}
		files, before := &changed[index], len(d.errors)
		d.decodeInto(join(at, name), value, files)
		for _, path := range []*string{&files.Path, &files.Test} {
			if problem := expandVariables(join(at, name), reflect.ValueOf(path).Elem()); problem != "" {
				d.fail(value, "%s", problem)
			}
		}
		if files.Path == "" && len(d.errors) == before {
			d.fail(value, "domain %q has no path", name)
		}
	}
	*all = changed
}

// MarshalYAML writes the mapping.
func (all Domains) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range all {
		var one yaml.Node
		if err := one.Encode(map[string]catalogue.Files{f.Domain: f}); err != nil {
			return nil, err
		}
		one.Content[1].Style = yaml.FlowStyle
		mapping.Content = append(mapping.Content, one.Content...)
	}
	return mapping, nil
}

// String lists the domains for people to read.
func (all Domains) String() string {
	return strings.Join(convert.Each(all, func(f catalogue.Files) string { return f.Domain + ": " + f.String() }), ", ")
}

// of returns the domains of those names, in that order.
func (all Domains) of(names ...string) Domains {
	var some Domains
	for _, name := range names {
		for _, f := range all {
			if f.Domain == name {
				some = append(some, f)
			}
		}
	}
	return some
}

// Described returns what the catalogue knows of the data set, together with its domains
// where the user named them.
func (d Dataset) Described() (catalogue.Dataset, error) {
	data, err := catalogue.Find(d.Name)
	if err != nil {
		return catalogue.Dataset{}, err
	}
	return data.Of(d.Domains)
}

// Tasks are names source-target, or source+source-target if there are several sources. In YAML a task
// may also be a pair of domains, [source, target], as it has to be where a hyphen in their names leaves
// open which two they are, or {source: [source, source], target: target}.
type Tasks []string

// pair is a task's source and target.
type pair struct {
	source string // names with + between them, which none contains
	target string
}

func (p pair) name() string { return p.source + "-" + p.target }

func (p pair) sources() []string { return strings.Split(p.source, "+") }

// all are the names of the sources, and last the target's.
func (p pair) all() []string { return append(p.sources(), p.target) }

// repeated says which domain of a task with several sources occurs twice.
func (p pair) repeated() string {
	sources := p.sources()
	for i, name := range sources {
		switch {
		case slices.Contains(sources[:i], name):
			return fmt.Sprintf("source %s is given twice; leave one out", name)
		case len(sources) > 1 && name == p.target:
			return fmt.Sprintf("the target, %s, is one of its sources; leave it out there", name)
		}
	}
	return ""
}

// decodeNode reads names and pairs.
func (tasks *Tasks) decodeNode(d *decoder, at string, n *yaml.Node) {
	clear(d.pairs) // those of a list that this one replaces
	var names []taskName
	d.list(at, n, reflect.ValueOf(&names).Elem())
	*tasks = nil
	for _, name := range names {
		*tasks = append(*tasks, string(name))
	}
}

// taskName is an element of [Tasks].
type taskName string

// decodeNode reads one task and keeps what a pair says.
func (task *taskName) decodeNode(d *decoder, at string, n *yaml.Node) {
	var p pair
	switch n.Kind {
	case yaml.MappingNode:
		var several struct {
			Source []string `yaml:"source"`
			Target string   `yaml:"target"`
		}
		before := len(d.errors)
		d.decodeInto(at, n, &several)
		if len(d.errors) > before {
			d.at[at] = d.errors[before].Location // what is not there is not looked for
			return
		}
		if p = (pair{strings.Join(several.Source, "+"), several.Target}); p.source == "" || p.target == "" {
			d.fail(n, "%s needs source, a list of domains, and target, a domain", at)
			return
		}
	case yaml.SequenceNode:
		var both []string
		d.decodeInto(at, n, &both)
		if len(both) != 2 {
			d.fail(n, "%s is a list of %d; a task is source-target, [source, target] or {source: [source, source], target: target}", at, len(both))
			return
		}
		p = pair{both[0], both[1]}
	default:
		var name string
		d.decodeInto(at, n, &name)
		*task = taskName(strings.ToLower(name))
		return
	}
	p = pair{strings.ToLower(p.source), strings.ToLower(p.target)}
	if other, ok := d.pairs[p.name()]; ok && other != p {
		d.fail(n, "tasks [%s, %s] and [%s, %s] would share the folder %s; rename a domain", other.source, other.target, p.source, p.target, p.name())
	}
	d.pairs[p.name()] = p
	*task = taskName(p.name())
}

// domainsOf returns the domains of a task, or what is wrong with it.
func (c Config) domainsOf(task string, dataset Dataset) (p pair, problem string) {
	if p, ok := c.pairs[task]; ok {
		return p, dataset.unknownDomain(p)
	}
	var possible []pair
	for at, r := range task {
		if p := (pair{task[:at], task[min(at+1, len(task)):]}); r == '-' && len(dataset.Domains.of(p.all()...)) == len(p.all()) {
			possible = append(possible, p)
		}
	}
	switch len(possible) {
	case 1:
		return possible[0], ""
	case 0:
		source, target, _ := strings.Cut(task, "-")
		p := pair{source, target}
		return p, dataset.unknownDomain(p)
	}
	return possible[0], fmt.Sprintf("task %s can be [%s, %s] or [%s, %s]; write it as one of these",
		task, possible[0].source, possible[0].target, possible[1].source, possible[1].target)
}

// unknownDomain says which domain of a task has no files, where the user names them.
func (d Dataset) unknownDomain(p pair) string {
	data, err := catalogue.Find(d.Name)
	if err != nil || !data.Named() {
		return ""
	}
	names := convert.Each(d.Domains, func(files catalogue.Files) string { return files.Domain })
	if len(names) == 0 {
		return "dataset.domains is missing, the files of each domain, as in domains: {photos: {path: photos.npz}}"
	}
	for _, name := range p.all() {
		if !slices.Contains(names, name) {
			return fmt.Sprintf("no domain %q; dataset.domains has %s", name, strings.Join(names, ", "))
		}
	}
	return ""
}

// Shares are the class shares of a target that the user knows. In YAML they are a list of numbers in label
// order, a mapping from classes to numbers, or a CSV file of class and share, which is read at once: what is
// written of a run holds the numbers. They need not sum to 1, so that numbers of rows do too.
type Shares []Share

// Share is that of a class; of a list, in which all classes have no name, that of its place.
type Share struct {
	Class string
	Share float64
}

// decodeNode reads a list, a mapping or the name of a file.
func (s *Shares) decodeNode(d *decoder, at string, n *yaml.Node) {
	var shares Shares
	switch n.Kind {
	case yaml.SequenceNode:
		var values []float64
		d.list(at, n, reflect.ValueOf(&values).Elem())
		for _, value := range values {
			shares = append(shares, Share{"", value})
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			share := Share{Class: n.Content[i].Value}
			d.decodeInto(join(at, share.Class), n.Content[i+1], &share.Share)
			if slices.ContainsFunc(shares, func(other Share) bool { return other.Class == share.Class }) {
				d.fail(n.Content[i], "class %q is there twice", share.Class)
			}
			shares = append(shares, share)
		}
	default:
		path := n.Value
		if problem := expandVariables(at, reflect.ValueOf(&path).Elem()); problem != "" {
			d.fail(n, "%s", problem)
			return
		}
		classes, values, err := table.NamedShares(path, nil)
		if err != nil {
			d.fail(n, "%s: %v; want a list of numbers in label order, a mapping from classes to numbers, or a CSV file of class and share", at, err)
			return
		}
		for i, class := range classes {
			shares = append(shares, Share{class, values[i]})
		}
	}
	slices.SortStableFunc(shares, func(a, b Share) int { return strings.Compare(a.Class, b.Class) }) // the same in any order
	sum := 0.0
	for _, share := range shares {
		if sum += share.Share; share.Share < 0 {
			d.fail(n, "%s: the share %v is negative", at, share.Share)
		}
	}
	if sum <= 0 {
		d.fail(n, "%s: no share is above 0", at)
	}
	*s = shares
}

// MarshalYAML writes a list or a mapping.
func (s Shares) MarshalYAML() (any, error) {
	values, named := []float64{}, map[string]float64{}
	for _, share := range s {
		values = append(values, share.Share)
		named[share.Class] = share.Share
	}
	if len(s) > 0 && s[0].Class != "" {
		return named, nil
	}
	return values, nil
}

// Of returns the shares of the classes, scaled to a sum of 1. Classes without a share, and shares of other
// classes, are an error.
func (s Shares) Of(classes []string) ([]float64, error) {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("weights.shares: "+format+"; the classes are %.200q", append(args, classes)...)
	}
	if len(s) != len(classes) {
		return nil, wrong("%s of %d classes", printable.Count(len(s), "share"), len(classes))
	}
	values := make([]float64, len(classes))
	for i, share := range s {
		at := i
		if share.Class != "" {
			at = slices.Index(classes, share.Class)
		}
		if at < 0 {
			return nil, wrong("%q is no class", share.Class)
		}
		values[at] = share.Share
	}
	floats.Scale(1/floats.Sum(values), values)
	return values, nil
}

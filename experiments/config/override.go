package config

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"iwda/internal/nearest"
)

// override is an element of the list overrides: settings for the runs that fit a
// condition. The settings stay nodes, because only those given are applied.
type override struct {
	when   condition
	node   *yaml.Node
	locate func(*yaml.Node) string
	at     map[string]string
}

// conditional is the schema of an override.
type conditional struct {
	When     condition `yaml:"when"`
	Settings `yaml:",inline"`
}

// condition selects runs. An empty part selects all.
type condition struct {
	Task    patterns `yaml:"task"`
	Variant patterns `yaml:"variant"`
	Method  patterns `yaml:"method"`
	Seed    patterns `yaml:"seed"`
}

// maxPattern bounds a pattern, in bytes; a task, two names of folders, is not longer.
const maxPattern = 250

// patterns are alternatives in the form of path.Match.
type patterns []string

// match reports whether one of the patterns fits the value, or there is none.
func (p patterns) match(value string) bool {
	return len(p) == 0 || slices.ContainsFunc(p, func(pattern string) bool {
		ok, _ := path.Match(pattern, value) // the pattern's form was checked when it was read
		return ok
	})
}

func (c condition) match(task, variant, method string, seed int64) bool {
	return c.Task.match(task) && c.Variant.match(variant) && c.Method.match(method) && c.Seed.match(fmt.Sprint(seed))
}

// decodeNode reads one pattern or a list of them.
func (p *patterns) decodeNode(d *decoder, at string, n *yaml.Node) {
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
		if len(nodes) == 0 {
			d.fail(n, "%s is empty; give a value or a pattern", at)
		}
		if d.tooLong(at, n) {
			return
		}
	}
	*p = nil
	for _, node := range nodes {
		if node.Kind != yaml.ScalarNode || node.ShortTag() == "!!null" {
			d.fail(node, "%s must be a value, a pattern as usps-*, or a list of these, not %s", at, describe(node))
			continue
		}
		if len(node.Value) > maxPattern {
			d.fail(node, "%s: %.50q… is longer than any name: %d bytes", at, node.Value, len(node.Value))
			continue
		}
		if _, err := path.Match(node.Value, ""); err != nil {
			d.fail(node, "%s: %q is no valid pattern: %v", at, node.Value, err)
			continue
		}
		d.at[fmt.Sprintf("%s[%d]", at, len(*p))] = d.locate(node)
		*p = append(*p, strings.ToLower(node.Value))
	}
}

// decodeNode keeps the node and decodes it once to find mistakes.
func (o *override) decodeNode(d *decoder, at string, n *yaml.Node) {
	inner := newDecoder(d.locate)
	var whole conditional
	inner.decodeStruct(n, &whole)
	*o = override{when: whole.When, node: n, locate: d.locate, at: inner.at}
	if n.Kind == yaml.MappingNode {
		if _, given := inner.at["when"]; !given {
			inner.fail(n, "%s has no condition; give one, as when: {task: usps-mnist}", at)
		}
		if len(n.Content) <= 2 {
			inner.fail(n, "%s changes nothing; give settings beside when", at)
		}
		if location, given := inner.at["dataset.name"]; given {
			inner.failAt(location, "%s cannot change dataset.name: the tasks belong to the data set", at)
		}
	}
	d.errors = append(d.errors, inner.errors...)
}

// parts are those of a condition, and what of a configuration they can fit.
var parts = []struct {
	name     string
	patterns func(condition) patterns
	listed   func(Config) []string
}{
	{"task", func(c condition) patterns { return c.Task }, func(c Config) []string { return c.Tasks }},
	{"variant", func(c condition) patterns { return c.Variant }, func(c Config) []string { return c.Variants }},
	{"method", func(c condition) patterns { return c.Method }, func(c Config) []string { return c.Methods }},
	{"seed", func(c condition) patterns { return c.Seed }, func(c Config) []string { return texts(c.Seeds) }},
}

// listed returns for each part what any of the configurations lists: the file's, and that with
// assignments, which may run only a part of it.
func listed(configs ...Config) [][]string {
	all := make([][]string, len(parts))
	for i, part := range parts {
		for _, c := range configs {
			for _, value := range part.listed(c) {
				if !slices.Contains(all[i], value) {
					all[i] = append(all[i], value)
				}
			}
		}
	}
	return all
}

// check reports patterns that fit nothing.
func (o *override) check(d *decoder, known [][]string) {
	for i, part := range parts {
		for j, pattern := range part.patterns(o.when) {
			if len(known[i]) > 0 && !slices.ContainsFunc(known[i], patterns{pattern}.match) {
				location := o.at[fmt.Sprintf("when.%s[%d]", part.name, j)]
				d.failAt(location, "when.%s: %q fits no %s of the file; %s", part.name, pattern, part.name, nearest.Suggestion(pattern, known[i]))
			}
		}
	}
}

// texts returns the elements of a list as text.
func texts[T any](list []T) []string {
	texts := make([]string, len(list))
	for i, element := range list {
		texts[i] = fmt.Sprint(element)
	}
	return texts
}

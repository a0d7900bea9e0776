package config

import (
	"fmt"
	"path"
	"reflect"
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
	inner.decodeInto("", n, &whole)
	*o = override{when: whole.When, node: n, locate: d.locate, at: inner.at}
	if n.Kind == yaml.MappingNode {
		if _, given := inner.at["when"]; !given {
			inner.fail(n, "%s has no condition; give one, as when: {task: usps-mnist}", at)
		}
		if len(n.Content) <= 2 {
			inner.fail(n, "%s changes nothing; add settings next to when", at)
		}
		if location, given := inner.at["dataset.name"]; given {
			inner.failAt(location, "%s cannot change dataset.name: the tasks belong to the data set", at)
		}
	}
	d.errors = append(d.errors, inner.errors...)
}

// listed returns for each part of a condition what any of the configurations lists: the file's,
// and that with assignments, which may run only a part of it.
func listed(configs ...Config) map[string][]string {
	all := map[string][]string{}
	add := func(part, value string) {
		if !slices.Contains(all[part], value) {
			all[part] = append(all[part], value)
		}
	}
	for _, c := range configs {
		for part, values := range map[string][]string{"task": c.Tasks, "variant": c.Variants, "method": c.Methods} {
			for _, value := range values {
				add(part, value)
			}
		}
		for _, seed := range c.Seeds {
			add("seed", fmt.Sprint(seed))
		}
	}
	return all
}

// check reports patterns that fit nothing of what is listed, but for those with a star, which
// stand for any number.
func (o *override) check(d *decoder, listed map[string][]string) {
	for _, part := range fieldsOf(reflect.ValueOf(o.when)) {
		for i, pattern := range part.value.Interface().(patterns) {
			if known := listed[part.name]; len(known) > 0 && !strings.Contains(pattern, "*") && !slices.ContainsFunc(known, patterns{pattern}.match) {
				location := o.at[fmt.Sprintf("when.%s[%d]", part.name, i)]
				d.failAt(location, "when.%s: %q fits no %s of the file; %s", part.name, pattern, part.name, nearest.Suggestion(pattern, known))
			}
		}
	}
}

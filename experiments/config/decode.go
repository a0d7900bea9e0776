package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"iwda/internal/convert"
	"iwda/internal/nearest"
)

// decoder writes YAML nodes into Go values and collects what is wrong with them.
// It changes only what the nodes mention, so that decoding into a filled value
// merges.
type decoder struct {
	locate func(*yaml.Node) string // the location of a node for messages
	at     map[string]string       // path → location of its value, for all that was decoded
	pairs  map[string]pair         // tasks that were given as pairs, by their names
	errors Errors
}

func newDecoder(locate func(*yaml.Node) string) *decoder {
	return &decoder{locate: locate, at: map[string]string{}, pairs: map[string]pair{}}
}

// nodeDecoder is a type that is not decoded by its Go kind.
type nodeDecoder interface {
	decodeNode(d *decoder, path string, n *yaml.Node)
}

func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	d.failAt(d.locate(n), format, args...)
}

func (d *decoder) failAt(location, format string, args ...any) {
	d.errors = append(d.errors, Error{location, fmt.Sprintf(format, args...)})
}

// failedAt reports whether there is a mistake at the location.
func (d *decoder) failedAt(location string) bool {
	return slices.ContainsFunc(d.errors, func(e Error) bool { return e.Location == location })
}

// decodeInto writes n, the value of the key at path, to what target points to. The path of the
// whole is "".
func (d *decoder) decodeInto(path string, n *yaml.Node, target any) {
	d.decode(path, n, reflect.ValueOf(target).Elem())
}

// decode writes n, the value of the key at path, into v, which is addressable.
func (d *decoder) decode(path string, n *yaml.Node, v reflect.Value) {
	d.at[path] = d.locate(n)
	if n.Kind == yaml.AliasNode {
		d.fail(n, "alias *%s: aliases are not supported; write the value out, or use overrides", n.Value)
		return
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		d.fail(n, "%s has no value; give one, or delete the key", orSettings(path))
		return
	}
	if custom, ok := v.Addr().Interface().(nodeDecoder); ok {
		custom.decodeNode(d, path, n)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(path, n, v)
	case reflect.Slice:
		d.list(path, n, v)
	default:
		d.scalar(path, n, v)
	}
}

func (d *decoder) mapping(path string, n *yaml.Node, v reflect.Value) {
	fields := fieldsOf(v)
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s must be a mapping with the keys %s, not %s", orSettings(path), strings.Join(fieldNames(fields), ", "), describe(n))
		return
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.fail(key, "a key must be a word, not %s", describe(key))
			continue
		}
		if first, twice := seen[key.Value]; twice {
			d.fail(key, "key %s is given twice, first at %s", short(key.Value), d.locate(first))
			continue
		}
		seen[key.Value] = key
		index := slices.IndexFunc(fields, func(f field) bool { return f.name == key.Value })
		if index < 0 {
			d.unknownKey(path, key, fieldNames(fields))
			continue
		}
		d.decode(join(path, key.Value), value, fields[index].value)
	}
}

// unknownKey suggests the nearest valid key, else the same key elsewhere in the file, else it
// lists the valid ones.
func (d *decoder) unknownKey(path string, key *yaml.Node, valid []string) {
	suggest := nearest.Suggestion(key.Value, valid)
	if nearest.Name(key.Value, valid) == "" {
		var elsewhere []string
		for _, other := range leaves("", reflect.ValueOf(&document{}).Elem()) {
			if strings.HasSuffix(other.name, "."+key.Value) {
				elsewhere = append(elsewhere, other.name)
			}
		}
		if len(elsewhere) > 0 {
			suggest = "did you mean " + strings.Join(elsewhere, " or ") + "?"
		}
	}
	in := ""
	if path != "" {
		in = " in " + path
	}
	d.fail(key, "unknown key %s%s; %s", short(key.Value), in, suggest)
}

// list replaces the slice v by the elements of n, which must differ unless they
// are quantities.
func (d *decoder) list(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, "%s must be a list, as [a, b], not %s", path, describe(n))
		return
	}
	if v.Type().Elem().Kind() != reflect.Float64 && d.tooLong(path, n) {
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	seen := map[any]bool{}
	for i, node := range n.Content {
		before := len(d.errors)
		d.decode(fmt.Sprintf("%s[%d]", path, i), node, list.Index(i))
		if element := list.Index(i); element.Comparable() && element.Kind() != reflect.Float64 && len(d.errors) == before {
			if seen[element.Interface()] {
				d.fail(node, "%s holds %v twice", path, element.Interface())
			}
			seen[element.Interface()] = true
		}
	}
	v.Set(list)
}

// maxList bounds the lists whose elements are compared with one another.
const maxList = 1000

// tooLong reports a list of more than maxList elements.
func (d *decoder) tooLong(path string, n *yaml.Node) bool {
	if len(n.Content) <= maxList {
		return false
	}
	d.fail(n, "%s has %d elements; at most %d are possible", path, len(n.Content), maxList)
	return true
}

// scalar writes a word, number or truth value into v and applies the rule for its
// path.
func (d *decoder) scalar(path string, n *yaml.Node, v reflect.Value) {
	var need string
	var tags []string
	switch v.Kind() {
	case reflect.String:
		need, tags = "text", []string{"!!str"}
	case reflect.Int, reflect.Int64:
		need, tags = "a whole number", []string{"!!int"}
	case reflect.Float64:
		need, tags = "a number", []string{"!!int", "!!float"}
	case reflect.Bool:
		need, tags = "true or false", []string{"!!bool"}
	default:
		panic("config: no decoding into " + v.Type().String())
	}
	if n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.ShortTag()) || n.Decode(v.Addr().Interface()) != nil {
		hint := ""
		if n.Kind == yaml.ScalarNode && v.Kind() == reflect.String {
			hint = "; write it in quotes: " + short(n.Value)
		}
		d.fail(n, "%s must be %s, not %s%s", path, need, describe(n), hint)
		return
	}
	if v.Kind() == reflect.Float64 && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
		d.fail(n, "%s is %s; it must be finite", path, n.Value)
		return
	}
	if rule, ok := rules[rulePath(path)]; ok {
		if problem := rule.check(path, v); problem != "" {
			d.fail(n, "%s", problem)
		}
	}
}

// rulePath returns path with [] for the number of a list's element.
func rulePath(path string) string {
	if list, _, ok := strings.Cut(path, "["); ok {
		return list + "[]"
	}
	return path
}

// describe says what n is, for "must be …, not …".
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!str":
		return fmt.Sprintf("the text %s", short(n.Value))
	case "!!int", "!!float":
		return fmt.Sprintf("the number %.50s", n.Value)
	case "!!bool":
		return "the truth value " + n.Value
	}
	return fmt.Sprintf("%s (%.50s)", short(n.Value), n.ShortTag())
}

// short is the beginning of a text, in quotes.
func short(text string) string {
	const most = 50
	if len([]rune(text)) > most {
		return fmt.Sprintf("%.*q…", most, text)
	}
	return strconv.Quote(text)
}

func orSettings(path string) string {
	if path == "" {
		return "the settings"
	}
	return path
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// field is a key of a struct with its value.
type field struct {
	name  string
	value reflect.Value
}

// fieldsOf returns the keys of the struct v in their order, those of inlined
// structs among them.
func fieldsOf(v reflect.Value) []field {
	var fields []field
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			fields = append(fields, fieldsOf(v.Field(i))...)
		case name != "" && name != "-":
			fields = append(fields, field{name, v.Field(i)})
		}
	}
	return fields
}

func fieldNames(fields []field) []string {
	return convert.Each(fields, func(f field) string { return f.name })
}

// leaves returns the paths and values below the struct v that are no structs.
func leaves(path string, v reflect.Value) []field {
	var all []field
	for _, f := range fieldsOf(v) {
		name := join(path, f.name)
		if f.value.Kind() == reflect.Struct {
			all = append(all, leaves(name, f.value)...)
		} else {
			all = append(all, field{name, f.value})
		}
	}
	return all
}

// Error is one mistake in a configuration.
type Error struct {
	Location string // file:line:column, or the assignment: --set train.epochs=0
	Message  string // what is wrong there, and what would be right
}

// Error returns the location and the message.
func (e Error) Error() string { return e.Location + ": " + e.Message }

// Errors is every mistake that was found in a configuration.
type Errors []Error

// maxPrinted is the number of mistakes that Errors.Error spells out.
const maxPrinted = 10

// Error returns the first ten mistakes, one a line, and the number of the others.
func (e Errors) Error() string {
	var lines []string
	for i, mistake := range e {
		if i == maxPrinted {
			lines = append(lines, fmt.Sprintf("and %d more", len(e)-maxPrinted))
			break
		}
		lines = append(lines, mistake.Error())
	}
	return strings.Join(lines, "\n")
}

// OrNil returns e as an error, and nil where there is no mistake.
func (e Errors) OrNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

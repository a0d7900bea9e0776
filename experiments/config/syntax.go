package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxFileSize limits an experiment file, in bytes.
const maxFileSize = 1 << 16

// parseYAML returns the mapping that data, the contents of one file, holds.
func parseYAML(name string, data []byte) (*yaml.Node, error) {
	if len(data) > maxFileSize {
		return nil, Errors{{name, fmt.Sprintf("has %d bytes; an experiment file has at most %d", len(data), maxFileSize)}}
	}
	if offset := firstInvalid(data); offset < len(data) {
		return nil, Errors{{position(name, data, offset), "no UTF-8 from here on; save the file as UTF-8"}}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	err := decoder.Decode(&first)
	if errors.Is(err, io.EOF) {
		return nil, Errors{{name + ":1:1", "the file is empty; it needs experiment, dataset.name, tasks, variants, methods and seeds"}}
	}
	if err != nil {
		return nil, Errors{syntaxError(name, data, err)}
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, Errors{{place(name, &second), "a second document begins; a file holds one experiment"}}
	case !errors.Is(err, io.EOF):
		return nil, Errors{syntaxError(name, data, err)}
	}
	root := first.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, Errors{{place(name, root), "the file must hold keys with values, as experiment: digits, not " + describe(root)}}
	}
	return root, nil
}

// parserMessages are those messages of yaml.v3 whose line it counts from 0; the
// others it counts from 1.
var parserMessages = []string{
	"did not find expected <document start>",
	"did not find expected node content",
	"did not find expected key",
	"did not find expected '-' indicator",
	"did not find expected ',' or ']'",
	"did not find expected ',' or '}'",
}

// syntaxError turns yaml.v3's "yaml: line 3: …" into an Error. The line may be that
// where the faulty block begins; the library leaves it out in the first line and for
// unknown anchors.
func syntaxError(name string, data []byte, err error) Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		anchor, _, _ := strings.Cut(rest, "'")
		location := position(name, data, bytes.Index(data, []byte("*"+anchor)))
		return Error{location, fmt.Sprintf("alias *%s has no anchor; aliases are not supported", anchor)}
	}
	line := 0
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		digits, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(digits); err == nil {
			line, message = n, after
		}
	}
	if line == 0 || slices.Contains(parserMessages, message) {
		line++
	}
	return Error{fmt.Sprintf("%s:%d", name, line), "no valid YAML here or below: " + message}
}

// firstInvalid returns the offset of the first byte that is not UTF-8, and len(data)
// where there is none.
func firstInvalid(data []byte) int {
	for offset, r := range string(data) {
		if _, size := utf8.DecodeRune(data[offset:]); r == utf8.RuneError && size == 1 {
			return offset
		}
	}
	return len(data)
}

// place returns name:line:column of a node.
func place(name string, n *yaml.Node) string { return fmt.Sprintf("%s:%d:%d", name, n.Line, n.Column) }

// position returns name:line:column of an offset into data.
func position(name string, data []byte, offset int) string {
	before := data[:max(0, offset)]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("%s:%d:%d", name, line, column)
}

// assignment is one path=value as a tree of nodes.
type assignment struct {
	root     *yaml.Node
	location string
}

// parseAssignment turns a.b=value into the nodes of {a: {b: value}}.
func parseAssignment(text string) (assignment, *Error) {
	if len(text) > maxFileSize {
		return assignment{}, &Error{fmt.Sprintf("--set %.50s…", text), fmt.Sprintf("has %d bytes; an assignment has at most %d", len(text), maxFileSize)}
	}
	location := "--set " + text
	path, value, ok := strings.Cut(text, "=")
	keys := strings.Split(path, ".")
	if !ok || slices.Contains(keys, "") {
		return assignment{}, &Error{location, "an assignment is path=value, as train.epochs=2"}
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(value), &node); err != nil {
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		return assignment{}, &Error{location, "the value is no valid YAML: " + message}
	}
	root := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	if len(node.Content) > 0 {
		root = node.Content[0]
	}
	for _, key := range slices.Backward(keys) {
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}
		root = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{name, root}}
	}
	return assignment{root, location}, nil
}

// valueOf returns the value of a key of a mapping, nil where it does not have it.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

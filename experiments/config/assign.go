package config

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

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

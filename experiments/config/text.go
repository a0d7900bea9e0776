package config

import (
	"bytes"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Text returns the file with the assignments made in it, comments kept, so that it gives
// the same experiment without them.
func (f *File) Text() ([]byte, error) {
	root := clone(f.root)
	for _, a := range f.assignments {
		assign(root, clone(a.root))
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("%s: cannot be written: %w", f.Name, err)
	}
	return text.Bytes(), nil
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

// valueOf returns the value of a key of a mapping, nil where it does not have it.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

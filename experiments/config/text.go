package config

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

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

package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gopkg.in/yaml.v3"

	"iwda/datasets/table"
	"iwda/internal/printable"
)

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
	sum := floats.Sum(values)
	if !(sum > 0) {
		return nil, errors.New("weights.shares: no share is above 0")
	}
	floats.Scale(1/sum, values)
	return values, nil
}

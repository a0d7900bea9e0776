package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"iwda/datasets/table"
	"iwda/internal/printable"
	"iwda/nets/architecture"
)

// maxSize bounds what a file may ask for in any dimension.
const maxSize = 1 << 24

// check returns an error that names the field which no model can have.
func (m Metadata) check() error {
	if n := len(m.Classes); n < 2 || n > table.MaxClasses {
		return fmt.Errorf("classes has %d names, want 2 to %d", n, table.MaxClasses)
	}
	seen := make(map[string]bool, len(m.Classes))
	for _, name := range m.Classes {
		if seen[name] {
			return fmt.Errorf("classes has %q twice", name)
		}
		seen[name] = true
	}
	if !(m.Vote >= 0 && m.Vote <= 1) {
		return fmt.Errorf("vote is %v, want 0 to 1", m.Vote)
	}
	if m.Sets != nil && len(m.Sets.Thresholds) != len(m.Sets.Levels) {
		return fmt.Errorf("sets.thresholds has %d lists for %d levels", len(m.Sets.Thresholds), len(m.Sets.Levels))
	}
	if m.Sets != nil {
		for _, thresholds := range m.Sets.Thresholds {
			if err := thresholds.Check(len(m.Classes)); err != nil {
				return fmt.Errorf("sets: %w", err)
			}
		}
	}
	if err := m.checkNetwork(); err != nil {
		return err
	}
	return cmp.Or(m.Normalisation.Check(m.Input.Shape), m.checkShares(), m.checkCalibration())
}

func (m Metadata) checkNetwork() error {
	n, in := m.Architecture, m.Input
	if _, err := architecture.Parse(string(n.Name)); err != nil {
		return fmt.Errorf("network.name: %w", err)
	}
	for i, size := range in.Shape {
		if size < 1 || size > maxSize {
			return fmt.Errorf("input.shape[%d] is %d, want 1 to %d", i, size, maxSize)
		}
	}
	if in.Resize < 0 || in.Resize > maxSize {
		return fmt.Errorf("input.resize is %d, want 0 to %d", in.Resize, maxSize)
	}
	takes := func(input architecture.Input) bool {
		return slices.Contains(architecture.Taking(input), string(n.Name))
	}
	switch {
	case takes(architecture.SmallImages):
		if in.Kind != Images || !slices.Equal(in.Shape, []int{1, 28, 28}) && !slices.Equal(in.Shape, []int{3, 28, 28}) {
			return fmt.Errorf("input.kind is %q, input.shape is %v; %s takes images of shape [1 28 28] or [3 28 28]", in.Kind, in.Shape, n.Name)
		}
	case takes(architecture.Vectors) && in.Kind == Features:
		if len(in.Shape) != 1 {
			return fmt.Errorf("input.shape is %v; of features it is [size]", in.Shape)
		}
		if n := len(in.Columns); n > 0 && n != in.Shape[0] {
			return fmt.Errorf("input.columns has %d names, input.shape is %v", n, in.Shape)
		}
		if n := len(in.Origins); n > 0 && n != in.Shape[0] {
			return fmt.Errorf("input.origins has %d values, input.shape is %v", n, in.Shape)
		}
		if in.Encoding != nil && !slices.Equal(in.Encoding.Columns(), in.Columns) {
			return errors.New("input.encoding makes other columns than input.columns names")
		}
	case takes(architecture.Photographs) && in.Kind == Images:
		if len(in.Shape) != 3 || in.Shape[0] != 3 {
			return fmt.Errorf("input.shape is %v; %s takes [3 height width]", in.Shape, n.Name)
		}
	default:
		return fmt.Errorf("input.kind is %q, which %s does not take", in.Kind, n.Name)
	}
	switch n.Name {
	case architecture.MLP, architecture.Perceptron:
		if n.HiddenLayers < 1 || n.HiddenLayers > maxSize || n.HiddenSize < 1 || n.HiddenSize > maxSize {
			return fmt.Errorf("network.hidden_layers is %d and network.hidden_size %d, want 1 to %d", n.HiddenLayers, n.HiddenSize, maxSize)
		}
	case architecture.Forest, architecture.Boosting:
		sizes := []int{n.Trees, n.Nodes, n.Leaves}
		if n.Name == architecture.Boosting {
			sizes = sizes[:2] // leaves are nodes
		}
		for _, size := range sizes {
			if size < 1 || size > maxSize {
				return fmt.Errorf("network.trees is %d, network.nodes %d and network.leaves %d, want 1 to %d", n.Trees, n.Nodes, n.Leaves, maxSize)
			}
		}
	case architecture.TorchScript:
		if n.Backbone == nil {
			return fmt.Errorf("network.backbone, the file of the module, is missing; %s needs it", n.Name)
		}
	}
	return nil
}

func (m Metadata) checkShares() error {
	for _, s := range []struct {
		key      string
		shares   []float64
		optional bool
	}{{"source", m.Shares.Source, false}, {"target", m.Shares.Target, true}, {"assumed", m.Shares.Assumed, true}, {"classifier", m.Shares.Classifier, false}} {
		if s.shares == nil && s.optional {
			continue
		}
		if err := m.checkDistribution(s.shares); err != nil {
			return fmt.Errorf("shares.%s%w", s.key, err)
		}
	}
	if i := slices.Index(m.Shares.Classifier, 0); i >= 0 {
		return fmt.Errorf("shares.classifier[%d] is 0; a classifier speaks for every class", i)
	}
	return nil
}

// checkDistribution returns an error that is to follow the name of what the shares are.
func (m Metadata) checkDistribution(shares []float64) error {
	if len(shares) != len(m.Classes) {
		return fmt.Errorf(" has %s for %s", printable.Count(len(shares), "value"), printable.Count(len(m.Classes), "class"))
	}
	sum := 0.0
	for i, share := range shares {
		if !(share >= 0 && share <= 1) {
			return fmt.Errorf("[%d] is %v, want 0 to 1", i, share)
		}
		sum += share
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf(" sums to %v, want 1", sum)
	}
	return nil
}

func (m Metadata) checkCalibration() error {
	c := m.Calibration
	if c == nil {
		return nil
	}
	if len(c.Scales) != len(m.Classes) || len(c.Biases) != len(m.Classes) {
		return fmt.Errorf("calibration has %d scales and %d biases for %d classes", len(c.Scales), len(c.Biases), len(m.Classes))
	}
	for i, scale := range c.Scales {
		if scale < 0 {
			return fmt.Errorf("calibration.scales[%d] is %v, want at least 0", i, scale)
		}
	}
	return nil
}

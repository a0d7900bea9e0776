// Package onnx writes networks as ONNX files, which ONNX Runtime and many other
// programs run: LeNet, the mlp, trees and the ResNets of package nets in evaluation mode, from
// raw inputs to probabilities. It needs no libtorch.
//
// A file has one input, "input", of shape (rows × …) and float32, and three outputs:
// "features" (rows × features), "logits" (rows × classes), as the network gives them, and
// "probabilities" (rows × classes), which calibration and a correction of the class shares
// may have changed. The number of rows is free. Parameters keep the names of
// their state dictionary. A file of several models that predict together has the last of
// these outputs alone. The operators are those of version 17 of the standard set, the
// file's form is IR version 8, both of 2022.
package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"iwda/datasets/normalise"
	"iwda/internal/convert"
	"iwda/nets/architecture"
)

// Tensor is an array of numbers in row-major order.
type Tensor struct {
	Shape  []int
	Values []float32
}

// Model is what a file computes, from the input to the probabilities.
type Model struct {
	Architecture architecture.Name
	// Frozen tells a ResNet with a frozen backbone, nets.Frozen, from nets.FineTuned.
	Frozen bool
	// Trees is the number of trees of a forest or of boosting, and Classes is k.
	Trees, Classes int
	// Parameters holds parameters and buffers by their names in the network's state.
	// Counters of batches are left out of the file.
	Parameters map[string]Tensor
	// InputShape is the shape of a row: {channels, height, width} or {size}.
	InputShape []int
	// Normalisation comes before the network.
	Normalisation normalise.Normalisation
	// Scales s and Shifts b make the probabilities softmax(s∘logits + b): a calibration,
	// and the logarithms of the factors by which class shares are corrected. Nil means
	// 1 and 0. A shift of -Inf rules a class out.
	Scales, Shifts []float64
	// Vote is the model's weight in the mean of several, up to a factor; 0 of all stands for equal ones.
	Vote float64
}

// About is what a file says of itself.
type About struct {
	// Properties are the file's metadata for whoever reads it.
	Properties map[string]string
	// Version is that of the program that wrote the file.
	Version string
}

// Write writes the file of a model, or of several that predict together: one output,
// "probabilities", is the mean of theirs, and what else it has a name for begins with
// "member1." and so on. They take rows of the same shape and have the same classes. A
// parameter that is missing, left over or of a wrong shape is an error that names it.
func Write(w io.Writer, about About, models ...Model) error {
	g, err := graphOf(models)
	if err == nil {
		err = g.encode(w, about.Version, about.Properties)
	}
	if err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	return nil
}

func graphOf(models []Model) (*graph, error) {
	if len(models) == 0 {
		return nil, errors.New("no model")
	}
	shape := models[0].InputShape
	g := &graph{inputs: []value{{"input", shape}}}
	if len(models) == 1 {
		features, logits := g.append(models[0])
		g.outputs = []value{
			{"features", []int{features.size}}, {"logits", []int{logits.size}}, {probabilities, []int{logits.size}},
		}
		return g, g.err
	}
	var classes int
	var each []string
	votes := 0.0
	for i, m := range models {
		votes += m.Vote
		g.prefix = fmt.Sprintf("member%d.", i+1)
		_, logits := g.append(m)
		if classes = cmp.Or(classes, logits.size); logits.size != classes || !slices.Equal(m.InputShape, shape) {
			g.fail("%d classes of rows of shape %v; those of the first are %d and %v", logits.size, m.InputShape, classes, shape)
		}
		if g.err != nil {
			return nil, fmt.Errorf("member %d: %w", i+1, g.err)
		}
		each = append(each, g.prefix+probabilities)
	}
	g.prefix = ""
	if votes == 0 {
		g.nodeAs("Mean", each, probabilities)
	} else {
		for i, m := range models {
			each[i] = g.node("Mul", []string{each[i], g.number(fmt.Sprintf("member%d.vote", i+1), m.Vote/votes)})
		}
		g.nodeAs("Sum", each, probabilities)
	}
	g.outputs = []value{{probabilities, []int{classes}}}
	return g, nil
}

const probabilities = "probabilities"

// append appends a model, from "input" to its probabilities.
func (g *graph) append(m Model) (features, logits rows) {
	g.parameters, g.taken = m.Parameters, make(map[string]bool)
	if dims := len(m.InputShape); dims != 1 && dims != 3 {
		g.fail("rows of shape %v; want {size} or {channels, height, width}", m.InputShape)
	} else if err := m.Normalisation.Check(m.InputShape); err != nil {
		g.fail("%w", err)
	}
	if g.err != nil {
		return rows{}, rows{}
	}
	features, logits = g.network(m.Architecture, m.Frozen, m.Trees, m.Classes, g.normalise("input", m.InputShape, m.Normalisation), m.InputShape)
	if left := g.unused(); len(left) > 0 {
		g.fail("parameters that the network does not have: %s", strings.Join(left, ", "))
	}
	g.probabilities(logits, m.Scales, m.Shifts)
	return features, logits
}

// normalise appends the normalisation of rows x of the target and returns its result.
func (g *graph) normalise(x string, shape []int, n normalise.Normalisation) string {
	if s := n.Target; n.Kind == normalise.Standard {
		if s.Low != nil {
			x = g.node("Max", []string{x, g.constant("normalisation.low", Tensor{shape, s.Low})})
			x = g.node("Min", []string{x, g.constant("normalisation.high", Tensor{shape, s.High})})
		}
		each := slices.Repeat([]int{1}, len(shape))
		each[0] = shape[0]
		x = g.node("Sub", []string{x, g.constant("normalisation.mean", Tensor{each, s.Mean})})
		x = g.node("Div", []string{x, g.constant("normalisation.deviation", Tensor{each, s.Deviation})})
	}
	return x
}

// probabilities appends softmax(scales∘logits + shifts).
func (g *graph) probabilities(logits rows, scales, shifts []float64) {
	x := logits.name
	for _, step := range []struct {
		operator, name string
		values         []float64
	}{{"Mul", "probabilities.scales", scales}, {"Add", "probabilities.shifts", shifts}} {
		if step.values == nil {
			continue
		}
		if len(step.values) != logits.size {
			g.fail("%d %s for %d classes", len(step.values), step.name, logits.size)
		}
		x = g.node(step.operator, []string{x, g.constant(step.name, Tensor{[]int{len(step.values)}, convert.Slice[float32](step.values)})})
	}
	g.nodeAs("Softmax", []string{x}, g.prefix+probabilities, integer("axis", 1))
}

// unused returns the names of parameters that no node took, sorted.
func (g *graph) unused() []string {
	var left []string
	for _, name := range slices.Sorted(maps.Keys(g.parameters)) {
		if !g.taken[name] && !strings.HasSuffix(name, ".num_batches_tracked") {
			left = append(left, name)
		}
	}
	return left
}

package onnx

import (
	"fmt"
	"slices"

	"iwda/datasets"
)

// graph collects nodes in the order in which they are computed. The first trouble is kept in
// err; what is appended after it is of no use.
type graph struct {
	prefix          string // of the names of constants, and of results with a name
	parameters      map[string]Tensor
	taken           map[string]bool
	nodes           []message
	initialisers    []initialiser
	inputs, outputs []value
	err             error
}

func (g *graph) fail(format string, values ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, values...)
	}
}

// initialiser is a constant by its name.
type initialiser struct {
	name string
	Tensor
}

// value is an input or output of shape (rows × shape).
type value struct {
	name  string
	shape []int
}

// node appends an operation and returns the name of its result.
func (g *graph) node(operator string, inputs []string, attributes ...message) string {
	output := fmt.Sprintf("%s_%d", operator, len(g.nodes))
	g.nodeAs(operator, inputs, output, attributes...)
	return output
}

// nodeAs is node for a result of a given name, which is also the node's, as it stands.
func (g *graph) nodeAs(operator string, inputs []string, output string, attributes ...message) {
	var m message
	for _, input := range inputs {
		m.text(nodeInput, input)
	}
	m.text(nodeOutput, output)
	m.text(nodeName, output)
	m.text(nodeOperator, operator)
	for _, a := range attributes {
		m.message(nodeAttribute, a)
	}
	g.nodes = append(g.nodes, m)
}

// ints, integer and real are the attributes of nodes: integers, an integer and a real number.
func ints(name string, values ...int) (m message) {
	m.text(attributeName, name)
	for _, v := range values {
		m.integer(attributeInts, v)
	}
	m.integer(attributeKind, kindInts)
	return m
}

func integer(name string, v int) (m message) {
	m.text(attributeName, name)
	m.integer(attributeInt, v)
	m.integer(attributeKind, kindInt)
	return m
}

func real(name string, v float32) (m message) {
	m.text(attributeName, name)
	m.float(attributeFloat, v)
	m.integer(attributeKind, kindFloat)
	return m
}

// constant adds a constant and returns its name, prefix and all.
func (g *graph) constant(name string, t Tensor) string {
	name = g.prefix + name
	g.initialisers = append(g.initialisers, initialiser{name, t})
	return name
}

// parameter adds a parameter, which must have that shape, as a constant.
func (g *graph) parameter(name string, shape ...int) string {
	t := g.parameters[name]
	if found := g.shape(name, len(shape)); !slices.Equal(found, shape) || len(t.Values) != datasets.Size(shape) {
		g.fail("parameter %s has shape %v and %d values, want %v", name, found, len(t.Values), shape)
	}
	g.taken[name] = true
	return g.constant(name, t)
}

func (g *graph) has(name string) bool {
	_, ok := g.parameters[name]
	return ok
}

// shape returns the shape of a parameter of that many dimensions, zeros where there is
// none.
func (g *graph) shape(name string, dims int) []int {
	t, ok := g.parameters[name]
	switch {
	case !ok:
		g.fail("no parameter %s", name)
	case len(t.Shape) != dims:
		g.fail("parameter %s has shape %v, want %d dimensions", name, t.Shape, dims)
	default:
		return t.Shape
	}
	return make([]int, dims)
}

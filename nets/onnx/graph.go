package onnx

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"iwda/datasets"
)

// The numbers of onnx.proto3 that are used here.
const (
	irVersion    = 8
	opsetVersion = 17

	modelIRVersion, modelProducer, modelProducerVersion = 1, 2, 3
	modelGraph, modelOpset, modelProperty               = 7, 8, 14
	opsetOfVersion                                      = 2
	propertyKey, propertyValue                          = 1, 2

	graphNode, graphName, graphInitialiser, graphInput, graphOutput = 1, 2, 5, 11, 12

	nodeInput, nodeOutput, nodeName, nodeOperator, nodeAttribute = 1, 2, 3, 4, 5

	attributeName, attributeFloat, attributeInt, attributeInts, attributeKind = 1, 2, 3, 8, 20
	kindFloat, kindInt, kindInts                                              = 1, 2, 7

	tensorDim, tensorType, tensorName, tensorRaw = 1, 2, 8, 9
	float32Type, int64Type                       = 1, 7

	valueName, valueType         = 1, 2
	typeTensor                   = 1
	tensorElement, tensorShape   = 1, 2
	shapeDim                     = 1
	dimensionSize, dimensionName = 1, 2
)

// message is a message of Protocol Buffers as far as it is written.
type message []byte

func (m *message) integer(field protowire.Number, v int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
}

func (m *message) text(field protowire.Number, v string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), v)
}

func (m *message) message(field protowire.Number, v message) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), v)
}

// opened appends the head of a field of bytes, which follow later.
func (m *message) opened(field protowire.Number, size int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.BytesType), uint64(size))
}

// encode writes the file. Constants, which are nearly all of it, go straight to w.
func (g *graph) encode(w io.Writer, version string, properties map[string]string) error {
	rest, size := g.encodeRest(), 0
	heads := make([]message, len(g.initialisers))
	for i, c := range g.initialisers {
		heads[i] = c.encodeHead()
		size += len(heads[i]) + 4*len(c.Values)
	}
	var file message
	file.integer(modelIRVersion, irVersion)
	file.text(modelProducer, "iwda")
	file.text(modelProducerVersion, version)
	var opset message
	opset.integer(opsetOfVersion, opsetVersion)
	file.message(modelOpset, opset)
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		var property message
		property.text(propertyKey, key)
		property.text(propertyValue, properties[key])
		file.message(modelProperty, property)
	}
	file.opened(modelGraph, len(rest)+size)
	file = append(file, rest...)
	if _, err := w.Write(file); err != nil {
		return err
	}
	for i, c := range g.initialisers {
		if _, err := w.Write(heads[i]); err != nil {
			return err
		}
		if err := binary.Write(w, binary.LittleEndian, c.Values); err != nil {
			return err
		}
	}
	return nil
}

// encodeRest is the graph without its constants.
func (g *graph) encodeRest() message {
	var m message
	m.text(graphName, "iwda")
	for _, n := range g.nodes {
		m.message(graphNode, n)
	}
	for _, v := range g.inputs {
		m.message(graphInput, v.encode())
	}
	for _, v := range g.outputs {
		m.message(graphOutput, v.encode())
	}
	return m
}

// encodeHead is the constant up to its values, the last of its fields, as a field of the
// graph.
func (c initialiser) encodeHead() message {
	var t message
	for _, n := range c.Shape {
		t.integer(tensorDim, n)
	}
	t.integer(tensorType, float32Type)
	t.text(tensorName, c.name)
	t.opened(tensorRaw, 4*len(c.Values))
	var m message
	m.opened(graphInitialiser, len(t)+4*len(c.Values))
	return append(m, t...)
}

func (v value) encode() message {
	var shape, dim message
	dim.text(dimensionName, "rows")
	shape.message(shapeDim, dim)
	for _, n := range v.shape {
		var dim message
		dim.integer(dimensionSize, n)
		shape.message(shapeDim, dim)
	}
	var tensor, kind, m message
	tensor.integer(tensorElement, float32Type)
	tensor.message(tensorShape, shape)
	kind.message(typeTensor, tensor)
	m.text(valueName, v.name)
	m.message(valueType, kind)
	return m
}

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
	m = protowire.AppendFixed32(protowire.AppendTag(m, attributeFloat, protowire.Fixed32Type), math.Float32bits(v))
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

package model

import (
	"encoding/binary"

	"github.com/maruel/safetensors"

	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/learners/perceptron"
	"iwda/learners/regression"
	"iwda/nets/architecture"
	"iwda/nets/statedict"
	"iwda/weightest"
)

// Learnt describes what a learner has found, with its numbers: the metadata lack all but the architecture.
func Learnt(of learners.Model) (m Model) {
	switch of := of.(type) {
	case regression.Classifier:
		m.Architecture.Name = architecture.Linear
	case perceptron.Model:
		m.Architecture = Architecture{Name: architecture.Perceptron, HiddenLayers: 1, HiddenSize: len(of.Bias)}
	case forest.Forest:
		m.Architecture = Architecture{Name: architecture.Forest, Trees: of.Trees, Nodes: len(of.Nodes) / forest.Fields, Leaves: len(of.Shares) / of.Classes}
	case boosting.Model:
		m.Architecture = Architecture{Name: architecture.Boosting, Trees: of.Trees, Nodes: len(of.Nodes) / boosting.Fields}
	}
	for _, t := range of.Tensors() {
		shape := []uint64{uint64(len(t.Values))}
		if t.Width > 0 {
			shape = []uint64{uint64(len(t.Values) / t.Width), uint64(t.Width)}
		}
		data, _ := binary.Append(nil, binary.LittleEndian, t.Values) // float32 have a size
		m.Weights = append(m.Weights, statedict.Tensor{Name: t.Name, DType: safetensors.F32, Shape: shape, Data: data})
	}
	return m
}

// learnt is the model as a learner has found it, or could have, as an MLP of one hidden layer is a perceptron; nil of
// any other network.
func (m Model) learnt() learners.Model {
	values := func(name string) []float32 { return statedict.Floats(*statedict.Find(m.Weights, name)) }
	n, k := m.Architecture, len(m.Classes)
	switch n.Name {
	case architecture.Linear:
		return regression.Classifier{Weight: weightest.Widen(values(regression.WeightTensor)), Bias: weightest.Widen(values(regression.BiasTensor))}
	case architecture.MLP, architecture.Perceptron:
		if n.HiddenLayers > 1 {
			return nil
		}
		return perceptron.Model{Weight: values(perceptron.WeightTensor), Bias: values(perceptron.BiasTensor), Out: values(perceptron.OutTensor), OutBias: values(perceptron.OutBiasTensor)}
	case architecture.Forest:
		return forest.Forest{Trees: n.Trees, Classes: k, Nodes: values(forest.NodesTensor), Shares: values(forest.SharesTensor)}
	case architecture.Boosting:
		return boosting.Model{Trees: n.Trees, Classes: k, Nodes: values(boosting.NodesTensor)}
	}
	return nil
}

// Logits returns what computes the logits (rows × classes) of rows that are normalised, row after row; nil if it
// takes libtorch, as networks do that are trained in steps. An MLP of one hidden layer takes it where there is one,
// because it is faster, and gives the same to 1e-5.
func (m Model) Logits(torch bool) func(values []float32) []float32 {
	if torch && m.Architecture.Name == architecture.MLP {
		return nil
	}
	of := m.learnt()
	if of == nil {
		return nil
	}
	return func(values []float32) []float32 { return weightest.Narrow(of.Logits(values, m.Input.Shape[0], 1)) }
}

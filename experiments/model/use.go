package model

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/maruel/safetensors"

	"iwda/datasets"
	"iwda/inference/classshares"
	"iwda/internal/convert"
	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/learners/perceptron"
	"iwda/learners/regression"
	"iwda/nets/architecture"
	"iwda/nets/onnx"
	"iwda/nets/statedict"
	"iwda/weightest/calibration"
)

// Normalise changes rows of values in place, by the target's statistics, to what the network
// takes.
func (m Metadata) Normalise(values []float32) {
	m.Normalisation.Rows(values, datasets.Size(m.Input.Shape))
}

// Probabilities returns the probabilities of rows of logits, both row-major (rows ×
// classes): calibrated and, where shares are given, corrected for these class shares q in
// the place of the classifier's p, by the factors q/p (Saerens, Latinne and Decaestecker
// 2002). Shares that are no distribution over the classes are an error.
func (m Metadata) Probabilities(logits []float32, shares []float64) ([]float64, error) {
	c, err := m.corrected(shares)
	if err != nil {
		return nil, err
	}
	return c.Probabilities(convert.Slice[float64](logits)), nil
}

// corrected is calibration and correction for shares, if there are any, in one.
func (m Metadata) corrected(shares []float64) (calibration.Calibration, error) {
	c := classshares.Classifier{Calibration: calibration.Identity(len(m.Classes)), SpeaksFor: m.Shares.Classifier}
	if m.Calibration != nil {
		c.Scales, c.Biases = m.Calibration.Scales, m.Calibration.Biases
	}
	if shares == nil {
		return c.Calibration, nil
	}
	if err := m.checkDistribution(shares); err != nil {
		return calibration.Calibration{}, fmt.Errorf("the class shares to correct for:%w", err)
	}
	return c.Corrected(shares), nil
}

// WriteONNX writes models that predict together as one ONNX file, from rows as they come,
// through normalisation and network, to what [Metadata.Probabilities] makes of the logits with
// each member's shares, and the mean of that. The names of the classes are its property
// "classes", a list in JSON, and what is to be taken off the values before is "origins", if
// anything is. See package onnx for inputs and outputs. A network whose backbone
// is a TorchScript module cannot be written.
func WriteONNX(w io.Writer, models []Model, shares [][]float64) error {
	written := make([]onnx.Model, len(models))
	for i, m := range models {
		var err error
		if written[i], err = m.onnx(shares[i]); err != nil {
			return err
		}
	}
	classes, err := json.Marshal(models[0].Classes)
	if err != nil {
		return err
	}
	about := onnx.About{Properties: map[string]string{"classes": string(classes)}, Version: models[0].Versions["iwda"]}
	if origins := models[0].Input.Origins; origins != nil {
		text, err := json.Marshal(origins)
		if err != nil {
			return err
		}
		about.Properties["origins"] = string(text)
	}
	return onnx.Write(w, about, written...)
}

func (m Model) onnx(shares []float64) (onnx.Model, error) {
	if m.Architecture.Name == architecture.TorchScript {
		return onnx.Model{}, errors.New("the backbone is a TorchScript module, a program that iwda does not translate to ONNX; " +
			"write the model's folder with -o, load it in PyTorch as docs/reference/model.md shows, and use torch.onnx.export there")
	}
	c, err := m.corrected(shares)
	if err != nil {
		return onnx.Model{}, err
	}
	written := onnx.Model{
		Architecture: m.Architecture.Name, Frozen: m.Architecture.Frozen, Trees: m.Architecture.Trees, Classes: len(m.Classes), InputShape: m.Input.Shape,
		Normalisation: m.Normalisation, Parameters: make(map[string]onnx.Tensor),
		Scales: c.Scales, Shifts: c.Biases, Vote: m.Vote,
	}
	weights, err := m.whole(m.Architecture.Backbone)
	if err != nil {
		return onnx.Model{}, err
	}
	for _, t := range weights {
		if values := statedict.Floats(t); values != nil {
			written.Parameters[t.Name] = onnx.Tensor{Shape: statedict.Shape(t), Values: values}
		}
	}
	return written, nil
}

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
		return regression.Classifier{Weight: convert.Slice[float64](values(regression.WeightTensor)), Bias: convert.Slice[float64](values(regression.BiasTensor))}
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
	return func(values []float32) []float32 {
		return convert.Slice[float32](of.Logits(values, m.Input.Shape[0], 1))
	}
}

package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"iwda/datasets"
	"iwda/inference/classshares"
	"iwda/nets/architecture"
	"iwda/nets/onnx"
	"iwda/nets/statedict"
	"iwda/weightest"
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
	return c.Probabilities(weightest.Widen(logits)), nil
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

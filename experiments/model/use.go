package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"iwda/datasets"
	"iwda/nets/architecture"
	"iwda/nets/onnx"
	"iwda/torch"
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
	scales, shifts, err := m.scalesAndShifts(shares)
	if err != nil {
		return nil, err
	}
	k := len(m.Classes)
	probabilities := make([]float64, len(logits))
	for first := 0; first < len(logits); first += k {
		row, largest := probabilities[first:first+k], math.Inf(-1)
		for j, z := range logits[first : first+k] {
			row[j] = scales[j]*float64(z) + shifts[j]
			largest = max(largest, row[j])
		}
		sum := 0.0
		for j, v := range row {
			row[j] = math.Exp(v - largest)
			sum += row[j]
		}
		for j := range row {
			row[j] /= sum
		}
	}
	return probabilities, nil
}

// scalesAndShifts are calibration and correction in one: the probabilities are
// softmax(scales∘logits + shifts).
func (m Metadata) scalesAndShifts(shares []float64) (scales, shifts []float64, err error) {
	if shares != nil {
		if err := m.checkDistribution(shares); err != nil {
			return nil, nil, fmt.Errorf("the class shares to correct for:%w", err)
		}
	}
	scales, shifts = make([]float64, len(m.Classes)), make([]float64, len(m.Classes))
	for j := range m.Classes {
		scales[j] = 1
		if m.Calibration != nil {
			scales[j], shifts[j] = m.Calibration.Scales[j], m.Calibration.Biases[j]
		}
		if shares != nil {
			shifts[j] += math.Log(shares[j] / m.Shares.Classifier[j])
		}
	}
	return scales, shifts, nil
}

// WriteONNX writes models that predict together as one ONNX file, from rows as they come,
// through normalisation and network, to what [Metadata.Probabilities] makes of the logits with
// each member's shares, and the mean of that. The names of the classes are its property
// "classes", a list in JSON. See package onnx for inputs and outputs. A network whose backbone
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
	return onnx.Write(w, about, written...)
}

func (m Model) onnx(shares []float64) (onnx.Model, error) {
	if m.Architecture.Name == architecture.TorchScript {
		return onnx.Model{}, errors.New("the backbone is a TorchScript module, a program that iwda does not translate to ONNX; " +
			"write the model's folder with -o, load it in PyTorch as docs/model.md shows, and use torch.onnx.export there")
	}
	scales, shifts, err := m.scalesAndShifts(shares)
	if err != nil {
		return onnx.Model{}, err
	}
	written := onnx.Model{
		Architecture: m.Architecture.Name, Frozen: m.Architecture.Frozen, InputShape: m.Input.Shape,
		Normalisation: m.Normalisation, Parameters: make(map[string]onnx.Tensor),
		Scales: scales, Shifts: shifts,
	}
	for _, e := range m.Network.State() {
		if e.Tensor.DType() == torch.Float32 {
			written.Parameters[e.Name] = onnx.Tensor{Shape: e.Tensor.Shape(), Values: torch.ToSlice[float32](e.Tensor)}
		}
	}
	return written, nil
}

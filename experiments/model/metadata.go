// Package model keeps a trained network in a folder for other programs and later use:
//
//	model.safetensors  parameters and buffers under the names of PyTorch's state
//	                   dictionaries
//	model.json         what the network is, and what comes before and after it: [Metadata]
//
// [Save] writes the folder, or one of several models that predict together, [Trust.Open] and
// [Trust.OpenEnsemble] make the networks of it again, and [WriteONNX] writes all of it as one ONNX
// file. docs/reference/model.md is for those who read it with other programs.
package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/store"
	"iwda/inference/sets"
	"iwda/internal/input"
	"iwda/internal/seal"
	"iwda/internal/wholefile"
	"iwda/nets/architecture"
)

// The formats of model.json: a change that readers could get wrong has a higher number. Keys that readers may ignore
// change nothing.
const (
	firstFormat  = 1
	latestFormat = 6
)

// Metadata is what model.json holds beside the network's numbers.
type Metadata struct {
	Format        int                     `json:"format"`
	Architecture  Architecture            `json:"network"`
	Input         Input                   `json:"input"`
	Classes       []string                `json:"classes"` // in label order
	Normalisation normalise.Normalisation `json:"normalisation"`
	Shares        Shares                  `json:"shares"`
	// Calibration is nil where there is none.
	Calibration *Calibration `json:"calibration,omitempty"`
	// Vote is the weight of this model in the mean of those that predict together, up to a factor; 0 stands for 1.
	Vote float64 `json:"vote,omitempty"`
	// Sets are the thresholds of the classes that a row may have; nil if there are none.
	Sets *Sets `json:"sets,omitempty"`
	// Versions are those of the programs that made the model, by their names.
	Versions map[string]string `json:"versions,omitempty"`
	// Provenance says what the model was trained on and how, for people to read.
	Provenance map[string]string `json:"provenance,omitempty"`
}

// Architecture says how the network is built.
type Architecture struct {
	Name architecture.Name `json:"name"`
	// HiddenLayers of HiddenSize are those of an mlp.
	HiddenLayers int `json:"hidden_layers,omitempty"`
	HiddenSize   int `json:"hidden_size,omitempty"`
	// Trees and all their Nodes are those of a forest or of boosting, the Leaves that differ of a forest.
	Trees  int `json:"trees,omitempty"`
	Nodes  int `json:"nodes,omitempty"`
	Leaves int `json:"leaves,omitempty"`
	// Frozen says that the backbone was not trained; ReLU follows its bottleneck.
	Frozen bool `json:"frozen,omitempty"`
	// Backbone is the module of torchscript. Of a ResNet it is where the weights of a frozen
	// backbone are, in the folder of a run whose checkpoint leaves them out; nil elsewhere.
	Backbone *Backbone `json:"backbone,omitempty"`
}

// Backbone is a file of pretrained weights, or of a TorchScript module.
type Backbone struct {
	// File is relative to the working directory, and in the model.json that [Save] writes
	// to its folder.
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// The kinds of input.
const (
	Features = "features"
	Images   = "images"
)

// Input is what a row is before normalisation.
type Input struct {
	Kind string `json:"kind"` // Features or Images
	// Shape is {size} of features; {channels, height, width} of images, whose pixels go
	// from 0 to 1.
	Shape []int `json:"shape"`
	// Columns are the names of features, in their order; nil where they have none.
	Columns []string `json:"columns,omitempty"`
	// Encoding makes these of the columns of a table; nil where all cells are numbers.
	Encoding table.Encoding `json:"encoding,omitempty"`
	// Origins are taken off the values of a row of features in float64, before they become float32;
	// nil if all are 0.
	Origins []float64 `json:"origins,omitempty"`
	// Decimal is the sign before fractions in the target's file, for numbers that can be read in two
	// ways; "" if it is not known.
	Decimal string `json:"decimal,omitempty"`
	// IDColumn is that of the target's ids; "" for one of a usual name.
	IDColumn string `json:"id_column,omitempty"`
	// Resize is the side in pixels to which image files are scaled before the middle of
	// Shape's size is cut out; 0 for images that come in that size.
	Resize int `json:"resize,omitempty"`
}

// Sets are thresholds of package sets, on the mean of the calibrated, uncorrected probabilities of so many models
// together, this one among them.
type Sets struct {
	Models     int               `json:"models"`
	Levels     []float64         `json:"levels"`
	Thresholds []sets.Thresholds `json:"thresholds"` // levels×k
}

// Shares are class shares in label order; each sums to 1.
type Shares struct {
	// Source are those of the source's training rows.
	Source []float64 `json:"source"`
	// Target are those that training estimated for the target, nil where it did not.
	Target []float64 `json:"target,omitempty"`
	// Assumed are those that predictions are corrected for, if they are not the target's.
	Assumed []float64 `json:"assumed,omitempty"`
	// Classifier are those for which the probabilities speak that follow from the
	// calibrated logits: equal ones after a balanced loss, the source's after plain
	// cross-entropy and after a calibration with biases. None is 0.
	Classifier []float64 `json:"classifier"`
}

// Calibration makes probabilities softmax(scales∘logits + biases); see
// calibration.Calibration.
type Calibration struct {
	Form   string    `json:"form"`
	Scales []float64 `json:"scales"` // not negative
	Biases []float64 `json:"biases"`
}

// file is the content of model.json.
type file struct {
	// Seal is the SHA-256 of model.json, taken with zeros in its place; former versions had none.
	Seal string `json:"seal,omitempty"`
	// WeightsSHA256 is that of the file of weights beside it. A run's folder has a checkpoint
	// instead, which has a seal of its own.
	WeightsSHA256 string `json:"weights_sha256,omitempty"`
	Metadata
}

// beforeSeal stands before the seal, which is among the first keys.
const beforeSeal = `"seal": "`

// write writes model.json. Metadata that cannot be read again are an error.
func (f file) write(disk *wholefile.Disk, folder string) error {
	path := filepath.Join(folder, MetadataFile)
	if err := f.check(); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	f.Format, f.Seal = latestFormat, seal.Zeros
	var text bytes.Buffer
	if err := errors.Join(wholefile.JSON(&text, f, "  "), seal.Set(text.Bytes(), beforeSeal)); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return disk.WriteText(path, text.String())
}

// ReadMetadata reads model.json alone. Its errors name the file and the field.
func ReadMetadata(folder string) (Metadata, error) {
	f, err := readFile(folder)
	return f.Metadata, err
}

func readFile(folder string) (file, error) {
	path := filepath.Join(folder, MetadataFile)
	data, err := input.Read(path, input.Text)
	if err != nil {
		return file{}, err
	}
	f, err := parseMetadata(data)
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", path, err)
	}
	if f.Seal == "" {
		return f, nil
	}
	if err := seal.Check(data, beforeSeal); err != nil {
		return file{}, fmt.Errorf("%s: %w; write the model again, or, if you changed the file, remove its key seal", path, err)
	}
	return f, nil
}

// parseMetadata reads and checks the content of model.json, but for its seal. Keys that it does
// not know are ignored, for they may be those of a later version.
func parseMetadata(data []byte) (file, error) {
	var version struct{ Format int }
	if err := json.Unmarshal(data, &version); err != nil {
		return file{}, located(data, err)
	}
	switch {
	case version.Format > latestFormat:
		return file{}, fmt.Errorf("format is %d, of a later version of iwda; this one reads up to %d", version.Format, latestFormat)
	case version.Format < firstFormat:
		return file{}, fmt.Errorf("format is %d, want %d to %d", version.Format, firstFormat, latestFormat)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return file{}, located(data, err)
	}
	if err := f.check(); err != nil {
		return file{}, err
	}
	return f, nil
}

// located adds the line to an error of package json.
func located(data []byte, err error) error {
	return fmt.Errorf("line %d: %w", max(1, store.JSONLine(data, err)), err)
}

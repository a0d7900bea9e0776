package model

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// The files of a model's folder.
const (
	MetadataFile = "model.json"
	WeightsFile  = "model.safetensors"
)

// Model is a network with all that is needed to use it.
type Model struct {
	Metadata
	Network nets.Network
}

// Save writes the model into a folder, which is created where it is missing. Each file is
// replaced in one step, model.json last. Metadata that [Load] would refuse are an error;
// their format is set.
func Save(folder string, m Model) error {
	m.Format = formatVersion
	path := filepath.Join(folder, MetadataFile)
	if err := m.check(); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("cannot create the model's folder: %w", err)
	}
	var tensors []torch.Named
	for _, e := range m.Network.State() {
		tensors = append(tensors, torch.Named{Name: e.Name, Tensor: e.Tensor})
	}
	err := wholefile.Write(filepath.Join(folder, WeightsFile), func(w io.Writer) error {
		return torch.WriteTensors(w, tensors, map[string]string{"format": "pt"})
	})
	if err != nil {
		return err
	}
	return wholefile.Write(path, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(m.Metadata)
	})
}

// ReadMetadata reads model.json alone. Its errors name the file and the field.
func ReadMetadata(folder string) (Metadata, error) {
	path := filepath.Join(folder, MetadataFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return Metadata{}, err
	}
	m, err := parseMetadata(data)
	if err != nil {
		return Metadata{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Load reads a model's folder and makes its network on the CPU. Weights that are not
// those of the network which model.json describes are an error that names them.
func Load(folder string) (m Model, err error) {
	if m.Metadata, err = ReadMetadata(folder); err != nil {
		return Model{}, err
	}
	path := filepath.Join(folder, WeightsFile)
	torch.Tidy(func() {
		var values map[string]torch.Tensor
		if values, _, err = nets.ReadStateDict(path); err != nil {
			return
		}
		if m.Network, err = m.newNetwork(values); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
			return
		}
		if err = m.Network.State().Load(values); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	})
	if err != nil {
		return Model{}, err
	}
	return m, nil
}

// newNetwork makes the network that the metadata describe, after a look at the values
// that it is to take: what model.json says must not ask for more memory than they have.
func (m Metadata) newNetwork(values map[string]torch.Tensor) (nets.Network, error) {
	for name, want := range m.shapes() {
		if value, ok := values[name]; !ok {
			return nil, fmt.Errorf("no %s, which the network of %s has", name, MetadataFile)
		} else if found := value.Shape(); !slices.Equal(found, want) {
			return nil, fmt.Errorf("%s has the shape %v; by %s it is %v", name, found, MetadataFile, want)
		}
	}
	network, _, err := nets.New(m.Architecture.Name, nets.Settings{
		Classes: len(m.Classes), Frozen: m.Architecture.Frozen,
		RowSize: m.Input.Shape[0], HiddenLayers: m.Architecture.HiddenLayers, HiddenSize: m.Architecture.HiddenSize,
	})
	return network, err
}

// shapes are those of the tensors whose size depends on the metadata, by their names.
func (m Metadata) shapes() iter.Seq2[string, []int] {
	return func(yield func(string, []int) bool) {
		n := m.Architecture
		if n.Name != architecture.MLP {
			yield("classifier.bias", []int{len(m.Classes)})
			return
		}
		inputs := m.Input.Shape[0]
		for i := 1; i < n.HiddenLayers; i++ {
			if !yield(fmt.Sprintf("hidden%d.weight", i), []int{n.HiddenSize, inputs}) {
				return
			}
			inputs = n.HiddenSize
		}
		_ = yield("bottleneck.weight", []int{n.HiddenSize, inputs}) &&
			yield("classifier.weight", []int{len(m.Classes), n.HiddenSize})
	}
}

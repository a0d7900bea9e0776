package model

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/experiments/store"
	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// The files of a model's folder.
const (
	MetadataFile = store.ModelFile
	WeightsFile  = "model.safetensors"
	BackboneFile = "backbone.pt" // the module of torchscript
)

// Model is a network with all that is needed to use it.
type Model struct {
	Metadata
	Network nets.Network
}

// Save writes the model into a folder, which is created where it is missing. Each file is
// replaced in one step, model.json last. Metadata that [Load] would refuse are an error;
// their format is set. A module of torchscript is copied; if it is frozen, its tensors are not
// repeated in the file of weights.
func Save(folder string, m Model) error { return save(folder, m, wholefile.Copy) }

// save is [Save] that has place put torchscript's module into the folder.
func save(folder string, m Model, place func(path, from string) error) error {
	module := m.Architecture.Backbone
	if m.Architecture.Backbone = nil; m.Architecture.Name == architecture.TorchScript && module != nil {
		m.Architecture.Backbone = &Backbone{File: BackboneFile, SHA256: module.SHA256}
	}
	m.Format = m.leastFormat()
	if err := m.check(); err != nil {
		return fmt.Errorf("cannot write %s: %w", filepath.Join(folder, MetadataFile), err)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("cannot create the model's folder: %w", err)
	}
	state := m.Network.State()
	if frozen, ok := m.Network.(*nets.Frozen); ok && m.Architecture.Backbone != nil {
		state = frozen.Head() // the module has its own, which were not trained
	}
	var tensors []torch.Named
	for _, e := range state {
		tensors = append(tensors, torch.Named{Name: e.Name, Tensor: e.Tensor})
	}
	err := wholefile.Write(filepath.Join(folder, WeightsFile), func(w io.Writer) error {
		return torch.WriteTensors(w, tensors, map[string]string{"format": "pt"})
	})
	if err != nil {
		return err
	}
	if m.Architecture.Backbone != nil {
		if err := place(filepath.Join(folder, BackboneFile), module.File); err != nil {
			return err
		}
	}
	return m.Metadata.Write(folder)
}

// Write writes model.json alone, for a folder whose checkpoint has the weights. Metadata
// that [ReadMetadata] would refuse are an error; their format is set.
func (m Metadata) Write(folder string) error {
	m.Format = m.leastFormat()
	path := filepath.Join(folder, MetadataFile)
	if err := m.check(); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return wholefile.Write(path, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(m)
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
// those of the network which model.json describes are an error that names them. The module
// of torchscript is a program: see [nets.NewTorchScript].
func Load(folder string) (Model, error) {
	about, err := ReadMetadata(folder)
	if err != nil {
		return Model{}, err
	}
	if backbone := about.Architecture.Backbone; backbone != nil {
		if !filepath.IsLocal(backbone.File) {
			return Model{}, fmt.Errorf("%s: network.backbone.file is %q, which is not in the folder", filepath.Join(folder, MetadataFile), backbone.File)
		}
		backbone.File = filepath.Join(folder, backbone.File)
	}
	return about.load(filepath.Join(folder, WeightsFile), func(path string) (map[string]torch.Tensor, error) {
		values, _, err := nets.ReadStateDict(path)
		return values, err
	})
}

// load makes the network that the metadata describe, of the tensors that read returns of
// the file.
func (m Metadata) load(path string, read func(path string) (map[string]torch.Tensor, error)) (Model, error) {
	made := Model{Metadata: m}
	var err error
	torch.Tidy(func() {
		var values map[string]torch.Tensor
		if values, err = read(path); err != nil {
			return
		}
		if made.Network, err = m.newNetwork(values); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
			return
		}
		state := made.Network.State()
		if frozen, ok := made.Network.(*nets.Frozen); ok && m.Architecture.Backbone != nil && !hasBackbone(values) {
			state = frozen.Head() // the file has the backbone's
		}
		if err = state.Load(values); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	})
	if err != nil {
		return Model{}, err
	}
	return made, nil
}

// hasBackbone reports whether a state dictionary has more than a head.
func hasBackbone(values map[string]torch.Tensor) bool {
	for name := range values {
		if strings.HasPrefix(name, "backbone.") {
			return true
		}
	}
	return false
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
	settings := nets.Settings{
		Classes: len(m.Classes), Frozen: m.Architecture.Frozen,
		RowShape: m.Input.Shape, HiddenLayers: m.Architecture.HiddenLayers, HiddenSize: m.Architecture.HiddenSize,
	}
	backbone := m.Architecture.Backbone
	if backbone != nil {
		settings.Weights = backbone.File
	}
	network, sum, err := nets.New(m.Architecture.Name, settings)
	if err == nil && backbone != nil && sum != backbone.SHA256 {
		err = fmt.Errorf("the backbone's file, %s, has the SHA-256 %s; it had %s when the model was trained", backbone.File, sum, backbone.SHA256)
	}
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

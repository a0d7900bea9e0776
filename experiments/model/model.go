package model

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/experiments/checkpoint"
	"iwda/experiments/store"
	"iwda/learners/boosting"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/nets/forest"
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
	Folder  string // that it was opened from
}

// Open reads the model of a folder: one that [Save] wrote, the folder of a finished run,
// whose checkpoint has the weights, or a folder that has either as model/. The network is
// on the CPU. An error says what is missing, and how to get it. Weights that are not those of
// the network which model.json describes are an error that names them. The module of
// torchscript is a program: see [nets.NewTorchScript].
func Open(folder string) (Model, error) {
	place, err := find(folder)
	if err != nil {
		return Model{}, err
	}
	stated, err := readFile(place)
	if err != nil {
		return Model{}, err
	}
	m := Model{Metadata: stated.Metadata, Folder: folder}
	path, read := filepath.Join(place, WeightsFile), nets.ReadStateDict
	if exists(path) {
		if backbone := m.Architecture.Backbone; backbone != nil {
			if !filepath.IsLocal(backbone.File) {
				return Model{}, fmt.Errorf("%s: network.backbone.file is %q, which is not in the folder", filepath.Join(place, MetadataFile), backbone.File)
			}
			backbone.File = filepath.Join(place, backbone.File)
		}
	} else if path, read = filepath.Join(place, store.CheckpointFile), readCheckpoint; !exists(path) {
		return Model{}, fmt.Errorf("%s has no weights: neither %s nor, as a run's folder, %s", place, WeightsFile, store.CheckpointFile)
	}
	torch.Tidy(func() {
		var values map[string]torch.Tensor
		var sum string
		if values, sum, err = read(path); err != nil {
			return
		}
		if m.Network, err = m.network(values); err == nil && stated.WeightsSHA256 != "" && stated.WeightsSHA256 != sum {
			err = fmt.Errorf("it has the SHA-256 %s; %s was written for one of %s: write the model again", sum, MetadataFile, stated.WeightsSHA256)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	})
	if err != nil {
		return Model{}, err
	}
	return m, nil
}

// inner is the folder of a model in that of an adaptation.
const inner = "model"

// find returns the folder, or the one below it, that has model.json.
func find(folder string) (string, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return "", fmt.Errorf("no model: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is a file; a model is a folder with %s", folder, MetadataFile)
	}
	for _, place := range []string{folder, filepath.Join(folder, inner)} {
		if exists(filepath.Join(place, MetadataFile)) {
			return place, nil
		}
	}
	if exists(filepath.Join(folder, store.ConfigFile)) {
		return "", fmt.Errorf("%s is a run that has not finished: run its experiment again, which continues from the checkpoint", folder)
	}
	return "", fmt.Errorf("%s is no model: it has no %s, and neither has its folder model", folder, MetadataFile)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// readCheckpoint is [ReadCheckpoint]; the seal of a checkpoint takes the place of a SHA-256.
func readCheckpoint(path string) (values map[string]torch.Tensor, sha256Sum string, err error) {
	values, err = ReadCheckpoint(path)
	return values, "", err
}

// ReadCheckpoint returns the tensors of the network in a run's checkpoint, by their names
// in its state.
func ReadCheckpoint(path string) (map[string]torch.Tensor, error) {
	file, err := checkpoint.Read(path)
	if err != nil {
		return nil, err
	}
	tensors, _, err := torch.ParseTensors(file.Content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	values := make(map[string]torch.Tensor)
	for name, tensor := range tensors {
		if of, ok := strings.CutPrefix(name, checkpoint.NetworkPrefix+"."); ok {
			values[of] = tensor
		}
	}
	return values, nil
}

// network makes the network that the metadata describe and gives it the values, after a look
// at these: what model.json says must not ask for more memory than they have.
func (m Metadata) network(values map[string]torch.Tensor) (nets.Network, error) {
	if err := m.fits(values); err != nil {
		return nil, err
	}
	settings := nets.Settings{
		Classes: len(m.Classes), Frozen: m.Architecture.Frozen,
		RowShape: m.Input.Shape, HiddenLayers: m.Architecture.HiddenLayers, HiddenSize: m.Architecture.HiddenSize,
		Trees: m.Architecture.Trees, Nodes: m.Architecture.Nodes, Leaves: m.Architecture.Leaves,
	}
	backbone := m.Architecture.Backbone
	if backbone != nil {
		settings.Weights = backbone.File
	}
	network, sum, err := nets.New(m.Architecture.Name, settings)
	if err != nil {
		return nil, err
	}
	if backbone != nil && sum != backbone.SHA256 {
		return nil, fmt.Errorf("the backbone's file, %s, has the SHA-256 %s; it had %s when the model was trained", backbone.File, sum, backbone.SHA256)
	}
	state := network.State()
	inFile := func(e nets.Entry) bool {
		_, is := values[e.Name]
		return is
	}
	if frozen, ok := network.(*nets.Frozen); ok && backbone != nil && !slices.ContainsFunc(frozen.Backbone(), inFile) {
		state = frozen.Head() // the backbone's are those of its file
	}
	return network, state.Load(values)
}

// fits looks at the tensors whose size depends on the metadata, and whether the nodes of
// trees lead to leaves.
func (m Metadata) fits(values map[string]torch.Tensor) error {
	fit := func(name string, want ...int) error {
		if value, ok := values[name]; !ok {
			return fmt.Errorf("no %s, which the network of %s has", name, MetadataFile)
		} else if found := value.Shape(); !slices.Equal(found, want) {
			return fmt.Errorf("%s has the shape %v; by %s it is %v", name, found, MetadataFile, want)
		}
		return nil
	}
	n, k := m.Architecture, len(m.Classes)
	switch n.Name {
	case architecture.MLP:
	case architecture.Linear:
		return cmp.Or(fit("classifier.weight", k, m.Input.Shape[0]), fit("classifier.bias", k))
	case architecture.Forest, architecture.Boosting:
		err := fit(boosting.NodesTensor, n.Nodes, boosting.Fields)
		if n.Name == architecture.Forest {
			err = cmp.Or(fit(forest.NodesTensor, n.Nodes, forest.Fields), fit(forest.SharesTensor, n.Leaves, k))
		}
		if err != nil {
			return err
		}
		return nets.CheckTrees(n.Name, n.Trees, m.Input.Shape[0], k, values)
	default:
		return fit("classifier.bias", k)
	}
	inputs := m.Input.Shape[0]
	for i := 1; i < n.HiddenLayers; i++ {
		if err := fit(fmt.Sprintf("hidden%d.weight", i), n.HiddenSize, inputs); err != nil {
			return err
		}
		inputs = n.HiddenSize
	}
	return cmp.Or(fit("bottleneck.weight", n.HiddenSize, inputs), fit("classifier.weight", k, n.HiddenSize))
}

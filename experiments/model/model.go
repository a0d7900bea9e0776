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
	"iwda/internal/input"
	"iwda/internal/printable"
	"iwda/learners/boosting"
	"iwda/learners/forest"
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
	Folder  string // that it was opened from
}

// Trust says which TorchScript modules may run that a model has, each of them a program. The zero
// value lets none run.
type Trust struct {
	Inside bool     // those in the folders of the models
	Files  []string // these, wherever they lie
}

// Open is [Trust.Open] by the zero value.
func Open(folder string) (Model, error) { return Trust{}.Open(folder) }

// Open reads the model of a folder: one that [Save] wrote, the folder of a finished run,
// whose checkpoint has the weights, or a folder that has either as model/. The network is
// on the CPU. An error says what is missing, and how to get it. Weights that are not those of
// the network which model.json describes are an error that names them. So is the module of
// torchscript if it is not trusted, or not the one that model.json describes: it does not run then.
func (t Trust) Open(folder string) (Model, error) {
	place, err := find(folder)
	if err != nil {
		return Model{}, err
	}
	stated, err := readFile(place)
	if err == nil {
		err = stated.locate(place)
	}
	if err != nil {
		return Model{}, err
	}
	m := Model{Metadata: stated.Metadata, Folder: folder}
	path, read := filepath.Join(place, WeightsFile), nets.ReadStateDict
	if !exists(path) {
		if path, read = filepath.Join(place, store.CheckpointFile), readCheckpoint; !exists(path) {
			return Model{}, fmt.Errorf("%s has no weights: neither %s nor, as a run's folder, %s", place, WeightsFile, store.CheckpointFile)
		}
	}
	torch.Tidy(func() {
		var values map[string]torch.Tensor
		var sum string
		if values, sum, err = read(path); err != nil {
			return
		}
		if m.Network, err = m.network(values, t.permit(place, m.Architecture.Backbone)); err == nil && stated.WeightsSHA256 != "" && stated.WeightsSHA256 != sum {
			err = fmt.Errorf("it has the SHA-256 %s; %s was written for one of %s: write the model again", sum, MetadataFile, stated.WeightsSHA256)
		}
		if err != nil && !Untrusted(err) {
			err = fmt.Errorf("%s: %w", path, err)
		}
	})
	if err != nil {
		return Model{}, err
	}
	return m, nil
}

// locate makes the file of the backbone in a folder that [Save] wrote one from the working directory.
func (f file) locate(place string) error {
	backbone := f.Architecture.Backbone
	if backbone == nil || !exists(filepath.Join(place, WeightsFile)) {
		return nil
	}
	if !filepath.IsLocal(backbone.File) {
		return fmt.Errorf("%s: network.backbone.file is %q, which is not in the folder", filepath.Join(place, MetadataFile), backbone.File)
	}
	backbone.File = filepath.Join(place, backbone.File)
	return nil
}

// permit returns what [nets.NewTorchScript] asks about the module of a model's folder.
func (t Trust) permit(place string, module *Backbone) func(*os.File, string) error {
	return func(file *os.File, sum string) error {
		if err := module.check(sum); err != nil {
			return err
		}
		info, err := file.Stat()
		if err != nil {
			return err
		}
		within, add := isWithin(place, module.File, info), "--run-module"
		if !within {
			add = printable.Command("--module", module.File)
		}
		if within && t.Inside || t.names(info) {
			return nil
		}
		return untrusted{input.Wrong(fmt.Errorf("%s is a TorchScript module, a program that would be run (SHA-256 %s); if you trust who made it, add %s", module.File, sum, add))}
	}
}

// names reports whether a file is one of those that are trusted wherever they lie.
func (t Trust) names(file os.FileInfo) bool {
	return slices.ContainsFunc(t.Files, func(path string) bool {
		other, err := os.Stat(path)
		return err == nil && os.SameFile(file, other)
	})
}

// CheckFile returns an error if a module, which is about to be trained with, is none of the Files.
func (t Trust) CheckFile(path string) error {
	if info, err := os.Stat(path); err != nil || t.names(info) {
		return nil // one that is not there does not run either
	}
	return untrusted{input.Wrong(fmt.Errorf("%s is a TorchScript module, a program that would be run; if you trust who made it, add %s", path, printable.Command("--module", path)))}
}

// isWithin reports whether a path is that of a file in a folder, also where links lead.
func isWithin(folder, path string, file os.FileInfo) bool {
	path, pathErr := filepath.Abs(path)
	folder, folderErr := filepath.Abs(folder)
	below, err := filepath.Rel(folder, path)
	if errors.Join(pathErr, folderErr, err) != nil || !filepath.IsLocal(below) {
		return false
	}
	opened, err := input.OpenIn(folder, below)
	if err != nil {
		return false
	}
	defer opened.Close()
	info, err := opened.Stat()
	return err == nil && os.SameFile(file, info)
}

type untrusted struct{ error }

func (e untrusted) Unwrap() error { return e.error }

// Untrusted reports whether an error is that of a module which was not trusted.
func Untrusted(err error) bool { return errors.As(err, new(untrusted)) }

// check returns an error unless the backbone's file has that SHA-256.
func (b *Backbone) check(sum string) error {
	if sum != b.SHA256 {
		return fmt.Errorf("the backbone's file, %s, has the SHA-256 %s; it had %s when the model was trained", b.File, sum, b.SHA256)
	}
	return nil
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
// at these: what model.json says must not ask for more memory than they have. A module runs if permit
// says so.
func (m Metadata) network(values map[string]torch.Tensor, permit func(*os.File, string) error) (nets.Network, error) {
	if err := m.fits(values); err != nil {
		return nil, err
	}
	settings := nets.Settings{
		Classes: len(m.Classes), Frozen: m.Architecture.Frozen,
		RowShape: m.Input.Shape, HiddenLayers: m.Architecture.HiddenLayers, HiddenSize: m.Architecture.HiddenSize,
		Trees: m.Architecture.Trees, Nodes: m.Architecture.Nodes, Leaves: m.Architecture.Leaves, Permit: permit,
	}
	backbone := m.Architecture.Backbone
	if backbone != nil {
		settings.Weights = backbone.File
	}
	network, sum, err := nets.New(m.Architecture.Name, settings)
	if err != nil {
		return nil, err
	}
	if backbone != nil {
		if err := backbone.check(sum); err != nil {
			return nil, err
		}
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

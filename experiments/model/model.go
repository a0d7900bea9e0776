package model

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	"iwda/nets/architecture"
	"iwda/nets/statedict"
)

// The files of a model's folder.
const (
	MetadataFile = store.ModelFile
	WeightsFile  = "model.safetensors"
	BackboneFile = "backbone.pt" // the module of torchscript
)

// Model is a network as numbers, with all that is needed to use it.
type Model struct {
	Metadata
	// Weights are its tensors by their names, but for those of a backbone that a file of its own has.
	Weights []statedict.Tensor
	Folder  string // that it was opened from
}

// Trust says which TorchScript modules may run that a model has, each of them a program. The zero
// value lets none run.
type Trust struct {
	Inside bool     // those in the folders of the models
	Files  []string // these, wherever they lie
}

// Open reads the model of a folder: one that [Save] wrote, the folder of a finished run,
// whose checkpoint has the weights, or a folder that has either as model/. An error says what is
// missing, and how to get it. Weights that are not those of the network which model.json describes
// are an error that names them, as far as their number depends on model.json. So is the module of
// torchscript if it is not trusted, or not the one that model.json describes.
func (t Trust) Open(folder string) (Model, error) {
	m, place, err := open(folder)
	if err == nil && m.Architecture.Name == architecture.TorchScript {
		err = t.permit(place, m.Architecture.Backbone)
	}
	if err != nil {
		return Model{}, err
	}
	return m, nil
}

// OpenUnasked is [Trust.Open] for whoever asks by himself before a module runs.
func OpenUnasked(folder string) (Model, error) {
	m, _, err := open(folder)
	return m, err
}

func open(folder string) (m Model, place string, err error) {
	if place, err = find(folder); err != nil {
		return Model{}, "", err
	}
	stated, err := readFile(place)
	if err == nil {
		err = stated.locate(place)
	}
	if err != nil {
		return Model{}, "", err
	}
	m = Model{Metadata: stated.Metadata, Folder: folder}
	path, read := filepath.Join(place, WeightsFile), statedict.Read
	if !exists(path) {
		if path, read = filepath.Join(place, store.CheckpointFile), ReadCheckpoint; !exists(path) {
			return Model{}, "", fmt.Errorf("%s has no weights: neither %s nor, as a run's folder, %s", place, WeightsFile, store.CheckpointFile)
		}
	}
	var sum string
	if m.Weights, sum, err = read(path); err != nil {
		return Model{}, "", err
	}
	if err = m.fits(); err == nil && stated.WeightsSHA256 != "" && sum != "" && stated.WeightsSHA256 != sum {
		err = fmt.Errorf("it has the SHA-256 %s; %s was written for one of %s: write the model again", sum, MetadataFile, stated.WeightsSHA256)
	}
	if err != nil {
		return Model{}, "", fmt.Errorf("%s: %w", path, err)
	}
	if b := m.Architecture.Backbone; b != nil && m.Architecture.Name != architecture.TorchScript {
		sum, err := input.SHA256(b.File)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; the weights are in torchvision's model zoo: %s", err, architecture.WeightsURL(m.Architecture.Name))
		}
		if err := cmp.Or(err, b.Check(sum)); err != nil {
			return Model{}, "", err
		}
	}
	return m, place, nil
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

// permit returns an error unless the module of a model's folder is trusted.
func (t Trust) permit(place string, module *Backbone) error {
	file, err := input.Open(module.File)
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := input.ReadAll(file, input.Tensors)
	if err != nil {
		return err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	if err := module.Check(sum); err != nil {
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

// Check returns an error unless the backbone's file has that SHA-256.
func (b *Backbone) Check(sum string) error {
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

// ReadCheckpoint returns the tensors of the network in a run's checkpoint, by their names
// in its state, and no SHA-256, whose place its seal takes.
func ReadCheckpoint(path string) (tensors []statedict.Tensor, sha256Sum string, err error) {
	file, err := checkpoint.Read(path)
	if err != nil {
		return nil, "", err
	}
	all, err := statedict.Parse(file.Content)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	for _, tensor := range all {
		if of, ok := strings.CutPrefix(tensor.Name, checkpoint.NetworkPrefix+"."); ok {
			tensor.Name = of
			tensors = append(tensors, tensor)
		}
	}
	return tensors, "", nil
}

// fits looks at the tensors whose size depends on the metadata, which must not ask for more memory than
// they have, and whether the nodes of trees lead to leaves.
func (m Model) fits() error {
	left := make(map[string]bool, len(m.Weights))
	for _, t := range m.Weights {
		left[t.Name] = true
	}
	fit := func(name string, want ...int) error {
		if tensor := statedict.Find(m.Weights, name); tensor == nil {
			return fmt.Errorf("no %s, which the network of %s has", name, MetadataFile)
		} else if found := statedict.Shape(*tensor); !slices.Equal(found, want) {
			return fmt.Errorf("%s has the shape %v; by %s it is %v", name, found, MetadataFile, want)
		}
		delete(left, name)
		return nil
	}
	layer := func(name string, outputs, inputs int) error {
		return cmp.Or(fit(name+".weight", outputs, inputs), fit(name+".bias", outputs))
	}
	n, k, inputs := m.Architecture, len(m.Classes), m.Input.Shape[0]
	var err error
	switch n.Name {
	case architecture.MLP, architecture.Perceptron:
		for i := 1; i < n.HiddenLayers && err == nil; i++ {
			err = layer(fmt.Sprintf("hidden%d", i), n.HiddenSize, inputs)
			inputs = n.HiddenSize
		}
		err = cmp.Or(err, layer("bottleneck", n.HiddenSize, inputs), layer("classifier", k, n.HiddenSize))
	case architecture.Linear:
		err = layer("classifier", k, inputs)
	case architecture.Forest:
		err = cmp.Or(fit(forest.NodesTensor, n.Nodes, forest.Fields), fit(forest.SharesTensor, n.Leaves, k))
	case architecture.Boosting:
		err = fit(boosting.NodesTensor, n.Nodes, boosting.Fields)
	default: // who makes the network looks at the others
		return fit("classifier.bias", k)
	}
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("unexpected %s, which the network of %s has not", slices.Min(slices.Collect(maps.Keys(left))), MetadataFile)
	}
	if err != nil {
		return err
	}
	switch of := m.learnt().(type) {
	case interface{ Check(d int) (int, error) }: // trees
		if _, err = of.Check(m.Input.Shape[0]); err != nil {
			err = fmt.Errorf("%s.nodes: %w", n.Name, err)
		}
	case interface{ Check(d int) error }:
		err = of.Check(m.Input.Shape[0])
	}
	return err
}

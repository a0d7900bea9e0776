package model

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/experiments/checkpoint"
	"iwda/experiments/store"
	"iwda/torch"
)

// Open reads the model of a folder: one that [Save] wrote, the folder of a finished run,
// whose checkpoint has the weights, or a folder that has either as model/. The network is
// on the CPU. An error says what is missing, and how to get it.
func Open(folder string) (Model, error) {
	folder, err := find(folder)
	if err != nil {
		return Model{}, err
	}
	if exists(filepath.Join(folder, WeightsFile)) {
		return Load(folder)
	}
	about, err := ReadMetadata(folder)
	if err != nil {
		return Model{}, err
	}
	path := filepath.Join(folder, store.CheckpointFile)
	if !exists(path) {
		return Model{}, fmt.Errorf("%s has no weights: neither %s nor, as a run's folder, %s", folder, WeightsFile, store.CheckpointFile)
	}
	return about.load(path, readCheckpoint)
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
	has := func(name string) bool { return exists(filepath.Join(folder, name)) }
	switch {
	case has(store.ResultFile) && has(store.CheckpointFile):
		return "", fmt.Errorf("%s is a run without %s, which former versions did not write: remove its %s and run the experiment again, "+
			"which goes on from the checkpoint", folder, MetadataFile, store.ResultFile)
	case has(store.ConfigFile):
		return "", fmt.Errorf("%s is a run that has not finished: run its experiment again, which goes on from the checkpoint", folder)
	}
	return "", fmt.Errorf("%s is no model: it has no %s, and neither has its folder model", folder, MetadataFile)
}

// Files returns the paths of all files that there may be of models in a folder, in those for
// seeds and in model/: what [OpenEnsemble] may read there and [SaveEnsemble] replace or remove.
// It returns none for the empty path.
func Files(folder string) (paths []string) {
	if folder == "" {
		return nil
	}
	within := filepath.Join(folder, inner)
	for _, place := range slices.Concat([]string{folder, within}, seedFolders(folder), seedFolders(within)) {
		for _, name := range []string{MetadataFile, WeightsFile, BackboneFile, store.CheckpointFile} {
			paths = append(paths, filepath.Join(place, name))
		}
	}
	return paths
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// readCheckpoint returns the tensors of the network in a run's checkpoint, by their names
// in its state.
func readCheckpoint(path string) (map[string]torch.Tensor, error) {
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

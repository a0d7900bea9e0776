package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"iwda/experiments/store"
	"iwda/internal/wholefile"
	"iwda/nets/architecture"
	"iwda/nets/statedict"
)

// Save writes models that predict together, so that [Trust.OpenEnsemble] of the folder returns them
// and no others: one into the folder itself, several into folders seed-N in it that are called
// as those they were opened from. Folders are created where they are missing. What Save wrote
// there before and is none of them is removed; files of others stay, and the folder of a run is
// refused.
//
// The folder is replaced in one step: whenever the program ends, all of it is the former models or
// the new ones. See [wholefile.Disk.WriteFolder] for what that asks of the folder. Metadata that [Trust.Open]
// would refuse are an error; their format is set. A module of torchscript is copied; if it is frozen,
// its tensors are not repeated in the file of weights.
func Save(folder string, models ...Model) error {
	var disk *wholefile.Disk
	places := []string{"."}
	if len(models) > 1 {
		places = nil
		for _, m := range models {
			place := filepath.Base(m.Folder)
			for n := 1; slices.Contains(places, place); n++ { // of several methods
				place = fmt.Sprintf("seed-%d", n)
			}
			places = append(places, place)
		}
	}
	for i, m := range models {
		place := filepath.Join(folder, places[i])
		if err := m.check(); err != nil {
			return fmt.Errorf("cannot write %s: %w", filepath.Join(place, MetadataFile), err)
		}
		if exists(filepath.Join(place, store.ConfigFile)) || exists(filepath.Join(place, store.CheckpointFile)) {
			return fmt.Errorf("%s is the folder of a run; write the model into another one", place)
		}
	}
	return disk.WriteFolder(folder, func(name string) bool { return !isFormer(folder, name) }, func(made string) error {
		for i, m := range models {
			if err := m.WriteBeside(disk, filepath.Join(made, places[i])); err != nil {
				return err
			}
		}
		return nil
	})
}

// isFormer reports whether Save left an entry of a folder or of one for a seed in it. A run's folder,
// which has no file of weights alone, is none of its own.
func isFormer(folder, name string) bool {
	files := []string{MetadataFile, WeightsFile, BackboneFile}
	if inside, err := os.ReadDir(filepath.Join(folder, name)); err == nil { // a folder
		return slices.Contains(seedFolders(folder), filepath.Join(folder, name)) && exists(filepath.Join(folder, name, WeightsFile)) &&
			!slices.ContainsFunc(inside, func(e fs.DirEntry) bool { return !slices.Contains(files, e.Name()) })
	}
	within, file := filepath.Split(name)
	return slices.Contains(files, file) && exists(filepath.Join(folder, within, WeightsFile))
}

// WriteBeside writes the model, with torchscript's module, beside other files of a folder, as that of the run that
// made it.
func (m Model) WriteBeside(disk *wholefile.Disk, folder string) error {
	module := m.Architecture.Backbone
	if m.Architecture.Backbone = nil; m.Architecture.Name == architecture.TorchScript && module != nil {
		m.Architecture.Backbone = &Backbone{File: BackboneFile, SHA256: module.SHA256}
	}
	if err := disk.MakeFolder(folder); err != nil {
		return err
	}
	weights, err := m.whole(module)
	if err != nil {
		return err
	}
	sum := sha256.New()
	err = disk.Write(filepath.Join(folder, WeightsFile), func(w io.Writer) error {
		return statedict.Write(io.MultiWriter(w, sum), weights)
	})
	if err != nil {
		return err
	}
	if m.Architecture.Backbone != nil {
		if err := disk.Copy(filepath.Join(folder, BackboneFile), module.File); err != nil {
			return err
		}
	}
	return file{WeightsSHA256: hex.EncodeToString(sum.Sum(nil)), Metadata: m.Metadata}.write(disk, folder)
}

// Write writes model.json alone, for a folder whose checkpoint has the weights. Metadata
// that [ReadMetadata] would refuse are an error; their format is set.
func (m Metadata) Write(disk *wholefile.Disk, folder string) error {
	return file{Metadata: m}.write(disk, folder)
}

// whole are the tensors of a model whose folder stands alone, with those of a frozen backbone that were left in
// its file, and without those that a frozen module has, which were not trained.
func (m Model) whole(backbone *Backbone) ([]statedict.Tensor, error) {
	const prefix = "backbone."
	of := func(t statedict.Tensor) bool { return strings.HasPrefix(t.Name, prefix) }
	switch {
	case !m.Architecture.Frozen || backbone == nil:
		return m.Weights, nil
	case m.Architecture.Name == architecture.TorchScript:
		return slices.DeleteFunc(slices.Clone(m.Weights), of), nil
	case slices.ContainsFunc(m.Weights, of):
		return m.Weights, nil
	}
	pretrained, sum, err := statedict.Backbone(backbone.File)
	if err == nil {
		err = backbone.Check(sum)
	}
	if err != nil {
		return nil, err
	}
	for i := range pretrained {
		pretrained[i].Name = prefix + pretrained[i].Name
	}
	return append(pretrained, m.Weights...), nil
}

// OpenEnsemble opens the models of a folder that predict together: all of its folders
// seed-N, such as those of a method's runs, or of its folder model/, by increasing N. A
// folder that [Trust.Open] reads is an ensemble of one.
//
// A folder seed-N that Open refuses, as that of a run that has not finished, is an error,
// and so are models that differ in their classes or in the rows that they take.
func (t Trust) OpenEnsemble(folder string) ([]Model, error) {
	folders := []string{folder}
	if _, err := find(folder); err != nil {
		if folders = seedFolders(folder); len(folders) == 0 {
			folders = seedFolders(filepath.Join(folder, inner))
		}
		if len(folders) == 0 {
			return nil, err
		}
	}
	return t.OpenMembers(folders)
}

// OpenMembers opens the models of these folders, which are to predict together.
func (t Trust) OpenMembers(folders []string) ([]Model, error) {
	var members []Model
	for _, folder := range folders {
		m, err := t.Open(folder)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
		if differ := difference(members[0].Metadata, m.Metadata); differ != "" {
			return nil, fmt.Errorf("%s and %s cannot predict together: %s", members[0].Folder, folder, differ)
		}
	}
	return members, nil
}

// seedFolders returns the folders seed-N of a folder by increasing N.
func seedFolders(folder string) (folders []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var seeds []int64
	for _, entry := range entries {
		text := strings.TrimPrefix(entry.Name(), "seed-")
		seed, err := strconv.ParseInt(text, 10, 64)
		if err == nil && entry.Name() == fmt.Sprintf("seed-%d", seed) {
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	for _, seed := range seeds {
		folders = append(folders, filepath.Join(folder, fmt.Sprintf("seed-%d", seed)))
	}
	return folders
}

// difference says why two models cannot predict the same rows together; it is empty where
// they can. Each normalises rows by itself, but those of image files, which are normalised
// as they are read.
func difference(first, second Metadata) string {
	switch {
	case !slices.Equal(first.Classes, second.Classes):
		return fmt.Sprintf("the classes of the first are %q, those of the second %q", first.Classes, second.Classes)
	case !reflect.DeepEqual(first.Input, second.Input):
		return fmt.Sprintf("the first takes %s, the second %s", first.Input.describe(), second.Input.describe())
	case first.Input.Resize > 0 && !first.Normalisation.SameOnTarget(second.Normalisation):
		return "they normalise images with other means and deviations"
	}
	return ""
}

func (in Input) describe() string {
	text := fmt.Sprintf("%s of shape %v", in.Kind, in.Shape)
	if in.Resize > 0 {
		text += fmt.Sprintf(" from files scaled to %d pixels", in.Resize)
	}
	return text
}

// Files returns the paths of all files that there may be of models in a folder, in those for
// seeds and in model/: what [Trust.OpenEnsemble] may read there and [Save] replace or remove. It
// returns none for the empty path.
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

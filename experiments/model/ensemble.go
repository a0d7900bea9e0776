package model

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"iwda/experiments/store"
)

// OpenEnsemble is [Trust.OpenEnsemble] by the zero value.
func OpenEnsemble(folder string) ([]Model, error) { return Trust{}.OpenEnsemble(folder) }

// OpenEnsemble opens the models of a folder that predict together: all of its folders
// seed-N, such as those of a method's runs, or of its folder model/, by increasing N. A
// folder that [Open] reads is an ensemble of one.
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
// seeds and in model/: what [OpenEnsemble] may read there and [Save] replace or remove. It
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

package model

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// Member is one of the models that predict together, with the folder that it was opened
// from.
type Member struct {
	Folder string
	Model
}

// OpenEnsemble opens the models of a folder that predict together: all of its folders
// seed-N, such as those of a method's runs, or of its folder model/, by increasing N. A
// folder that [Open] reads is an ensemble of one.
//
// A folder seed-N that Open refuses, as that of a run that has not finished, is an error,
// and so are models that differ in their classes or in the rows that they take.
func OpenEnsemble(folder string) ([]Member, error) {
	folders := []string{folder}
	if _, err := find(folder); err != nil {
		if folders = seedFolders(folder); len(folders) == 0 {
			folders = seedFolders(filepath.Join(folder, inner))
		}
		if len(folders) == 0 {
			return nil, err
		}
	}
	return OpenMembers(folders)
}

// OpenMembers opens the models of these folders, which are to predict together. Those with the
// same frozen backbone have it once.
func OpenMembers(folders []string) ([]Member, error) {
	var members []Member
	for _, folder := range folders {
		m, err := Open(folder)
		if err != nil {
			return nil, err
		}
		members = append(members, Member{folder, m})
		first := members[0]
		if differ := difference(first.Metadata, m.Metadata); differ != "" {
			return nil, fmt.Errorf("%s and %s cannot predict together: %s", first.Folder, folder, differ)
		}
		shareBackbone(m, first.Model)
	}
	return members, nil
}

// shareBackbone makes a model use the frozen backbone of another one if it is the same.
func shareBackbone(m, other Model) {
	frozen, ok := m.Network.(*nets.Frozen)
	with, both := other.Network.(*nets.Frozen)
	if !ok || !both || m.Architecture.Name != other.Architecture.Name {
		return
	}
	if m.Architecture.Name == architecture.TorchScript && m.Architecture.Backbone.SHA256 != other.Architecture.Backbone.SHA256 {
		return
	}
	torch.Tidy(func() { frozen.ShareBackbone(with) })
}

// SaveEnsemble writes models that predict together, so that [OpenEnsemble] of the folder
// returns them and no others: one as [Save] does, several into folders seed-N that are called
// as those they were opened from. A module of torchscript that they have in common takes the
// room of one. What SaveEnsemble wrote there before and is none of them is removed.
func SaveEnsemble(folder string, members []Member) error {
	places := []string{folder}
	if len(members) > 1 {
		places = nil
		for _, m := range members {
			places = append(places, filepath.Join(folder, filepath.Base(m.Folder)))
		}
	}
	for _, former := range append(seedFolders(folder), folder) {
		if !slices.Contains(places, former) {
			if err := remove(former); err != nil {
				return fmt.Errorf("cannot remove the former model: %w", err)
			}
		}
	}
	first := members[0].Architecture.Backbone
	for i, m := range members {
		place := wholefile.Copy
		if module := m.Architecture.Backbone; i > 0 && module != nil && first != nil && module.SHA256 == first.SHA256 {
			m.Architecture.Backbone = &Backbone{File: filepath.Join(places[0], BackboneFile), SHA256: module.SHA256}
			place = wholefile.Link
		}
		if err := save(places[i], m.Model, place); err != nil {
			return err
		}
	}
	return nil
}

// remove removes what [Save] leaves in a folder, and the folder if nothing else is there. A
// run's folder, which has no file of weights alone, it leaves as it is.
func remove(folder string) error {
	if !exists(filepath.Join(folder, WeightsFile)) {
		return nil
	}
	for _, name := range []string{MetadataFile, WeightsFile, BackboneFile} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		return err
	}
	return os.Remove(folder)
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
	case first.Input.Resize > 0 && !reflect.DeepEqual(first.Normalisation.Target, second.Normalisation.Target):
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

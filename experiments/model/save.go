package model

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// Save writes models that predict together, so that [OpenEnsemble] of the folder returns them
// and no others: one into the folder itself, several into folders seed-N in it that are called
// as those they were opened from. Folders are created where they are missing. What Save wrote
// there before and is none of them is removed.
//
// Each file is replaced in one step, model.json last. Metadata that [Open] would refuse are an
// error; their format is set. A module of torchscript is copied, and one that models have in
// common takes the room of one; if it is frozen, its tensors are not repeated in the file of
// weights.
func Save(folder string, models ...Model) error {
	places := []string{folder}
	if len(models) > 1 {
		places = nil
		for _, m := range models {
			place := filepath.Join(folder, filepath.Base(m.Folder))
			for n := 1; slices.Contains(places, place); n++ { // of several methods
				place = filepath.Join(folder, fmt.Sprintf("seed-%d", n))
			}
			places = append(places, place)
		}
	}
	for _, former := range append(seedFolders(folder), folder) {
		if !slices.Contains(places, former) {
			if err := remove(former); err != nil {
				return fmt.Errorf("cannot remove the former model: %w", err)
			}
		}
	}
	first := models[0].Architecture.Backbone
	for i, m := range models {
		place := wholefile.Copy
		if module := m.Architecture.Backbone; i > 0 && module != nil && first != nil && module.SHA256 == first.SHA256 {
			m.Architecture.Backbone = &Backbone{File: filepath.Join(places[0], BackboneFile), SHA256: module.SHA256}
			place = wholefile.Link
		}
		if err := m.save(places[i], place); err != nil {
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

// save writes the model, and has place put torchscript's module into the folder.
func (m Model) save(folder string, place func(path, from string) error) error {
	module := m.Architecture.Backbone
	if m.Architecture.Backbone = nil; m.Architecture.Name == architecture.TorchScript && module != nil {
		m.Architecture.Backbone = &Backbone{File: BackboneFile, SHA256: module.SHA256}
	}
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
	return wholefile.WriteJSON(path, m)
}

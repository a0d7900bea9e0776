package store

import (
	"errors"
	"io/fs"
	"os"

	"iwda/internal/wholefile"
)

// PreviousCheckpointFile is the checkpoint before the last one, in case that is
// damaged.
const PreviousCheckpointFile = "checkpoint.previous.safetensors"

// WriteCheckpoint writes the checkpoint that write produces and keeps the one before
// it. At any moment one of the two is whole, also where the writing fails.
func (d Dir) WriteCheckpoint(write func(wholefile.File) error) error {
	return wholefile.WriteAfter(d.Path(CheckpointFile), write, func() error {
		err := os.Rename(d.Path(CheckpointFile), d.Path(PreviousCheckpointFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// Checkpoints returns the paths of the checkpoints that are there, the newest first.
func (d Dir) Checkpoints() []string {
	var paths []string
	for _, name := range []string{CheckpointFile, PreviousCheckpointFile} {
		if _, err := os.Stat(d.Path(name)); err == nil {
			paths = append(paths, d.Path(name))
		}
	}
	return paths
}

// RemovePreviousCheckpoint removes the checkpoint before the last one, for a run that
// is finished.
func (d Dir) RemovePreviousCheckpoint() error {
	if err := os.Remove(d.Path(PreviousCheckpointFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

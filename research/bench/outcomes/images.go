package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"

	"iwda/datasets"
	"iwda/datasets/table"
	"iwda/experiments/config"
)

// writeRun writes what the peer reads: the run's configuration and its images.
func writeRun(folder string, run config.Resolved) error {
	text, err := json.Marshal(run)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "run.json"), text, 0o666); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(folder, "images.npz"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	err = writeImages(w, run)
	return errors.Join(err, w.Flush(), file.Close())
}

// writeImages writes the images of a run as its network sees them, the source without
// the rows that the variant leaves out.
func writeImages(w *bufio.Writer, run config.Resolved) error {
	from, to := run.Domains()
	d := run.Dataset
	source, err := datasets.DrawGlyphs(from, "train", d.TrainPerClass, run.Seed)
	if err != nil {
		return err
	}
	target, err := datasets.DrawGlyphs(to, "train", d.TrainPerClass, run.Seed)
	if err != nil {
		return err
	}
	test, err := datasets.DrawGlyphs(to, "test", d.TestPerClass, run.Seed)
	if err != nil {
		return err
	}
	fractions := datasets.HalfFractions(len(source.ClassNames()), d.Fraction)
	kept, err := datasets.Subsample(source, fractions, rand.New(datasets.Stream(run.Seed, "subsample")))
	if err != nil {
		return err
	}
	file := table.NewNPZ(w)
	return errors.Join(
		writePixels(file, "source", kept), writeLabels(file, "source_labels", kept),
		writePixels(file, "target", target),
		writePixels(file, "test", test), writeLabels(file, "test_labels", test),
		file.Close())
}

func writePixels(file table.NPZ, name string, set datasets.Set) error {
	w, err := file.Array(name, "<f4", append([]int{set.Len()}, set.Shape()...)...)
	if err != nil {
		return err
	}
	row := make([]float32, datasets.Size(set.Shape()))
	for i := range set.Len() {
		set.CopyRow(row, i)
		if err := binary.Write(w, binary.LittleEndian, row); err != nil {
			return err
		}
	}
	return nil
}

func writeLabels(file table.NPZ, name string, set datasets.Set) error {
	w, err := file.Array(name, "<i8", set.Len())
	if err != nil {
		return err
	}
	labels := make([]int64, set.Len())
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	datasets.CopyLabels(labels, set, rows)
	return binary.Write(w, binary.LittleEndian, labels)
}

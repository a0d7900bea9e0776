package main

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/research/npz"
)

// writeRun writes what the peer reads: the run's configuration, and its images as its
// network sees them, the source without the rows that the variant leaves out.
func writeRun(folder string, run config.Resolved) error {
	text, err := json.Marshal(run)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "run.json"), text, 0o666); err != nil {
		return err
	}
	from, to := run.Domains()
	d := run.Dataset
	source, err := datasets.DrawGlyphs(from[0], "train", d.TrainPerClass, run.Seed)
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
	return errors.Join(writeImages(folder, "source", kept), writeImages(folder, "target", target), writeImages(folder, "test", test))
}

func writeImages(folder, name string, set datasets.Set) error {
	file, err := os.Create(filepath.Join(folder, name+".npz"))
	if err != nil {
		return err
	}
	return errors.Join(npz.WriteFeatures(file, set), file.Close())
}

package labelshift

import (
	"errors"
	"fmt"
	"io/fs"

	"iwda/datasets/table"
	"iwda/experiments/store"
)

// ReadRun reads the logits that the network of the finished run of the folder gives in
// evaluation mode, of the source's rows that were held out and of the target's test rows,
// whose labels are not read. A run that held nothing out has none.
func ReadRun(folder string) (source, target *Predictions, err error) {
	dir, err := store.DirOf(folder)
	if err != nil {
		return nil, nil, err
	}
	result, err := dir.ReadResult()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s is no finished run: it has no %s. A run's folder is such as results/mine/full/photos-sketches/iwdan/seed-1; iwrun adapt has its runs in runs/ of its own folder", folder, store.ResultFile)
	}
	if err != nil {
		return nil, nil, err
	}
	outputs, err := dir.ReadOutputs()
	if err != nil {
		return nil, nil, err
	}
	if outputs.Classes != len(result.Classes) {
		return nil, nil, fmt.Errorf("%s: logits of %d classes, and %s names %d", dir.Path(store.OutputsFile), outputs.Classes, store.ResultFile, len(result.Classes))
	}
	of := func(rows string, values []float32) *Predictions {
		return &Predictions{Name: fmt.Sprintf("%s (%s)", folder, rows), Classes: result.Classes, Named: true, Kind: table.Logits, values: values}
	}
	source, target = of("held-out source rows", outputs.HeldOut), of("target rows", outputs.Target)
	source.labels = outputs.HeldOutLabels
	if known := result.WithoutLabels; known != nil {
		source.trained = known.TrainedShares
	}
	return source, target, nil
}

package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// check returns an error if result is not one of the run of this folder or holds
// a value that no run can have.
func (d Dir) check(result Result) error {
	if id := result.RunID().String(); result.ID != id {
		return fmt.Errorf("id is %q, but variant, task, method and seed make %q", result.ID, id)
	}
	if result.ID != d.id || result.Experiment != d.experiment {
		return fmt.Errorf("run %s of experiment %q lies in the folder of %s of %q",
			result.ID, result.Experiment, d.id, d.experiment)
	}
	classes := len(result.Classes)
	return cmp.Or(
		checkAccuracies(result),
		checkTarget(result),
		checkVectors(result),
		checkConfusion("source_confusion", result.SourceConfusion, classes),
		checkConfusion("confusion", result.Confusion, classes),
	)
}

// checkAccuracies returns an error where an accuracy is none, or is missing although rows of the
// target have labels.
func checkAccuracies(r Result) error {
	labelled := slices.ContainsFunc(r.Confusion, func(row []int) bool {
		return slices.ContainsFunc(row, func(count int) bool { return count != 0 })
	})
	const missing = "the key %q is missing, although rows have labels"
	if labelled && !r.BestEpoch.Measured {
		return fmt.Errorf(missing, "best_epoch")
	}
	for _, share := range []struct {
		key   string
		value Optional[float64]
	}{
		{"best_accuracy", r.BestAccuracy},
		{"last_accuracy", r.LastAccuracy},
		{"mean_class_accuracy", r.MeanClassAccuracy},
	} {
		if labelled && !share.value.Measured {
			return fmt.Errorf(missing, share.key)
		}
		if v := share.value.Value; !(v >= 0 && v <= 1) { // NaN too
			return fmt.Errorf("%s is %v, not a fraction of 1", share.key, v)
		}
	}
	return nil
}

// checkVectors returns an error where a vector of a value a class is none.
func checkVectors(r Result) error {
	type vector struct {
		key     string
		values  []float64
		missing bool // may be
	}
	vectors := []vector{
		{"weights", r.Weights, false},
		{"true_weights", r.TrueWeights, true},
		{"label_distributions.source", r.LabelDistributions.Source, false},
		{"label_distributions.target", r.LabelDistributions.Target, true},
	}
	if u := r.WithoutLabels; u != nil {
		vectors = append(vectors,
			vector{"without_labels.predicted_shares", u.PredictedShares, false},
			vector{"without_labels.estimated_shares", u.EstimatedShares, true})
	}
	for i, source := range r.Sources {
		key := fmt.Sprintf("sources[%d].", i)
		vectors = append(vectors, vector{key + "shares", source.Shares, false}, vector{key + "weights", source.Weights, false},
			vector{key + "true_weights", source.TrueWeights, true})
	}
	for _, v := range vectors {
		if v.missing && v.values == nil {
			continue
		}
		if classes := len(r.Classes); len(v.values) != classes {
			return fmt.Errorf("%s has %d values for %d classes", v.key, len(v.values), classes)
		}
		for i, value := range v.values {
			if math.IsNaN(value) || math.IsInf(value, 0) {
				return fmt.Errorf("%s[%d] is %v", v.key, i, value)
			}
		}
	}
	return nil
}

// checkTarget returns an error where a part of what the target's labels tell is missing.
func checkTarget(r Result) error {
	known := r.TrueWeights != nil
	if r.WeightDistance.Measured != known || r.JSD.Measured != known || (r.LabelDistributions.Target != nil) != known {
		return errors.New("of true_weights, weight_distance, jsd and label_distributions.target, some are there and some are missing")
	}
	return nil
}

// checkConfusion returns an error where a confusion matrix that is there is none of so many
// classes.
func checkConfusion(key string, confusion [][]int, classes int) error {
	if confusion == nil {
		return nil
	}
	if len(confusion) != classes {
		return fmt.Errorf("%s has %d rows for %d classes", key, len(confusion), classes)
	}
	for i, row := range confusion {
		if len(row) != classes {
			return fmt.Errorf("%s[%d] has %d columns for %d classes", key, i, len(row), classes)
		}
		for j, count := range row {
			if count < 0 {
				return fmt.Errorf("%s[%d][%d] is %d, not a count", key, i, j, count)
			}
		}
	}
	return nil
}

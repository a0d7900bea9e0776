package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"iwda/internal/input"
)

// WriteResult writes result.json, which makes the run a finished one. The same
// result gives the same bytes. A result that ReadResult would refuse is an error.
func (d Dir) WriteResult(result Result) error {
	path := d.Path(ResultFile)
	if err := d.check(result); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return d.disk.WriteJSON(path, result)
}

// ReadResult reads result.json. Unknown or missing keys, values out of range and
// a result of another run are errors that name the file and, where it is known,
// the line; errors.Is(err, fs.ErrNotExist) tells that there is none.
func (d Dir) ReadResult() (Result, error) {
	path := d.Path(ResultFile)
	text, err := input.Read(path, input.Text)
	if err != nil {
		return Result{}, err
	}
	result, err := parseResult(text)
	if err != nil {
		return Result{}, fmt.Errorf("%s%w", path, err)
	}
	if err := d.check(result); err != nil {
		return Result{}, fmt.Errorf("%s: %w", path, err)
	}
	return result, nil
}

// parseResult decodes a whole result.json. Its errors are to follow the file's
// name: they begin with a colon and the line, where it is known.
func parseResult(text []byte) (Result, error) {
	var result Result
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&result); err != nil {
		return Result{}, locate(text, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Result{}, fmt.Errorf(":%d: text after the end of the result", lineAt(text, decoder.InputOffset()))
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return Result{}, locate(text, err)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Result]()) {
		key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, ok := keys[key]; !ok && options == "" {
			return Result{}, fmt.Errorf(": the key %q is missing", key)
		}
	}
	return result, nil
}

// locate puts the line of a JSON error before it.
func locate(text []byte, err error) error {
	switch line := JSONLine(text, err); {
	case line > 0:
		return fmt.Errorf(":%d: %w", line, err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf(":%d: the file ends too early", lineAt(text, int64(len(text))))
	}
	return fmt.Errorf(": %w", err)
}

// JSONLine returns the number, from 1, of the line of a text that an error of package json is
// about, and 0 if it does not say.
func JSONLine(text []byte, err error) int {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return lineAt(text, syntax.Offset)
	}
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) {
		return lineAt(text, mismatch.Offset)
	}
	return 0
}

// lineAt is the line that holds the byte before the offset.
func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset-1, 0), int64(len(text)))], []byte("\n"))
}

// ResultHash returns the hash of the configuration that gave the result, whatever else it
// holds, and "" where there is no result of which it can be read.
func (d Dir) ResultHash() string {
	text, err := input.Read(d.Path(ResultFile), input.Text)
	var result struct {
		Hash string `json:"config_hash"`
	}
	if err != nil || json.Unmarshal(text, &result) != nil {
		return ""
	}
	return result.Hash
}

// Optional is a value that a run may not have measured, as an accuracy where no row has
// a label. The zero Optional is one that was not measured; it is left out of JSON and an
// empty cell of CSV.
type Optional[T int | float64] struct {
	Value    T // zero where not measured
	Measured bool
}

// Measured returns a value that was measured.
func Measured[T int | float64](value T) Optional[T] { return Optional[T]{value, true} }

// OrNaN returns the value of a measurement, or NaN.
func (o Optional[T]) OrNaN() float64 {
	if !o.Measured {
		return math.NaN()
	}
	return float64(o.Value)
}

// MarshalJSON writes the value. One that was not measured is an error: the key is to be
// left out, as omitzero does.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Measured {
		return nil, errors.New("not measured")
	}
	return json.Marshal(o.Value)
}

// UnmarshalJSON reads a value.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		return errors.New("null is no measured value; leave the key out")
	}
	o.Measured = true
	return json.Unmarshal(text, &o.Value)
}

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

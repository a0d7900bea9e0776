package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"iwda/internal/wholefile"
)

// WriteResult writes result.json, which makes the run a finished one. The same
// result gives the same bytes. A result that ReadResult would refuse is an error.
func (d Dir) WriteResult(result Result) error {
	path := d.Path(ResultFile)
	if err := d.check(result); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return wholefile.Write(path, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(result)
	})
}

// ReadResult reads result.json. Unknown or missing keys, values out of range and
// a result of another run are errors that name the file and, where it is known,
// the line; errors.Is(err, fs.ErrNotExist) tells that there is none.
func (d Dir) ReadResult() (Result, error) {
	path := d.Path(ResultFile)
	text, err := os.ReadFile(path)
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
		return Result{}, fmt.Errorf(":%d: text after the end of the result", line(text, decoder.InputOffset()))
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
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf(":%d: %w", line(text, syntax.Offset), err)
	}
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) {
		return fmt.Errorf(":%d: %w", line(text, mismatch.Offset), err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf(":%d: the file ends too early", line(text, int64(len(text))))
	}
	return fmt.Errorf(": %w", err)
}

// line returns the number, from 1, of the line that holds the byte before offset.
func line(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset-1, 0), int64(len(text)))], []byte("\n"))
}

// check returns an error if result is not one of the run of this folder or holds
// a value that no run can have.
func (d Dir) check(result Result) error {
	if id := result.runID().String(); result.ID != id {
		return fmt.Errorf("id is %q, but variant, task, method and seed make %q", result.ID, id)
	}
	if result.ID != d.id || result.Experiment != d.experiment {
		return fmt.Errorf("%w: run %s of experiment %q lies in the folder of %s of %q",
			ErrForeign, result.ID, result.Experiment, d.id, d.experiment)
	}
	labelled := slices.ContainsFunc(result.Confusion, func(row []int) bool {
		return slices.ContainsFunc(row, func(count int) bool { return count != 0 })
	})
	const missing = "the key %q is missing, although rows have labels"
	if labelled && !result.BestEpoch.Measured {
		return fmt.Errorf(missing, "best_epoch")
	}
	for _, share := range []struct {
		key   string
		value Optional[float64]
	}{
		{"best_accuracy", result.BestAccuracy},
		{"last_accuracy", result.LastAccuracy},
		{"mean_class_accuracy", result.MeanClassAccuracy},
	} {
		if labelled && !share.value.Measured {
			return fmt.Errorf(missing, share.key)
		}
		if v := share.value.Value; !(v >= 0 && v <= 1) { // NaN too
			return fmt.Errorf("%s is %v, not a fraction of 1", share.key, v)
		}
	}
	classes := len(result.Classes)
	if err := checkTarget(result); err != nil {
		return err
	}
	vectors := []struct {
		key     string
		values  []float64
		missing bool // may be
	}{
		{"weights", result.Weights, false},
		{"true_weights", result.TrueWeights, true},
		{"label_distributions.source", result.LabelDistributions.Source, false},
		{"label_distributions.target", result.LabelDistributions.Target, true},
	}
	if u := result.WithoutLabels; u != nil {
		vectors = append(vectors, vectors[:2]...)
		vectors[4].key, vectors[4].values = "without_labels.predicted_shares", u.PredictedShares
		vectors[5].key, vectors[5].values, vectors[5].missing = "without_labels.estimated_shares", u.EstimatedShares, true
	}
	for _, vector := range vectors {
		if vector.missing && vector.values == nil {
			continue
		}
		if len(vector.values) != classes {
			return fmt.Errorf("%s has %d values for %d classes", vector.key, len(vector.values), classes)
		}
		for i, value := range vector.values {
			if math.IsNaN(value) || math.IsInf(value, 0) {
				return fmt.Errorf("%s[%d] is %v", vector.key, i, value)
			}
		}
	}
	if result.SourceConfusion != nil {
		if err := checkConfusion("source_confusion", result.SourceConfusion, classes); err != nil {
			return err
		}
	}
	if result.Confusion != nil {
		return checkConfusion("confusion", result.Confusion, classes)
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

func checkConfusion(key string, confusion [][]int, classes int) error {
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

// ResultHash returns the hash of the configuration that gave the result, of which it
// reads no more than it must. errors.Is(err, fs.ErrNotExist) tells that there is none.
func (d Dir) ResultHash() (string, error) {
	path := d.Path(ResultFile)
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash, err := configHash(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hash, nil
}

func configHash(result io.Reader) (string, error) {
	const key = "config_hash"
	decoder := json.NewDecoder(result)
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return "", errors.Join(errors.New("it is no result"), err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return "", err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return "", err
		}
		if name == key {
			var hash string
			return hash, json.Unmarshal(value, &hash)
		}
	}
	return "", errors.New("it has no " + key)
}

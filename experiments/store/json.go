package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
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

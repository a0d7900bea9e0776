package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
)

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

// Package convert turns numbers of one type into those of another.
package convert

// Slice returns the values as numbers of type To.
func Slice[To, From int | int64 | uint64 | float32 | float64](values []From) []To {
	converted := make([]To, len(values))
	for i, v := range values {
		converted[i] = To(v)
	}
	return converted
}

// Package convert makes slices of other slices.
package convert

import "unsafe"

// Slice returns numbers as those of another type.
func Slice[To, From ~int | ~int32 | ~int64 | ~uint64 | ~float32 | ~float64](values []From) []To {
	all := make([]To, len(values))
	for i, v := range values {
		all[i] = To(v)
	}
	return all
}

// Each returns what becomes of each value.
func Each[From, To any](values []From, become func(From) To) []To {
	all := make([]To, len(values))
	for i, v := range values {
		all[i] = become(v)
	}
	return all
}

// Bytes is the memory of numbers, in the order of bytes of the machine.
func Bytes[T uint8 | int64 | float32 | float64](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(*new(T))))
}

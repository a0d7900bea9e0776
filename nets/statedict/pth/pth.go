// Package pth reads the state dictionaries that torch.save writes: .pth files in
// the zip form of PyTorch 1.6 and later, and in the stream form before it.
//
// Each form keeps names and shapes in a pickle, a program for a small machine that
// in Python can call anything. Here it can build numbers, strings, lists,
// dictionaries and the few classes of state dictionaries and nothing else: another
// class is an error that names it. What a file makes the reader allocate is bounded by
// the file's size.
package pth

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"iwda/internal/convert"

	"github.com/maruel/safetensors"
)

// Read returns the tensors of a file's content, in row-major order, sorted by their names.
func Read(data []byte) ([]safetensors.Tensor, error) {
	var dictionary any
	var err error
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		dictionary, err = readZip(data)
	default:
		dictionary, err = readStream(data)
	}
	if err != nil {
		return nil, err
	}
	entries, err := entriesOf(dictionary)
	if err != nil {
		return nil, err
	}
	tensors := make(map[string]safetensors.Tensor, len(entries))
	left := len(data)
	for _, e := range entries {
		v, ok := e.value.(*view)
		if p, isParameter := e.value.(*parameter); isParameter {
			v, ok = p.view, p.view != nil
		}
		if !ok {
			return nil, fmt.Errorf("%.100q is not a tensor: want a state dictionary, not a whole checkpoint or model", e.key)
		}
		if left -= v.bytes(); left < 0 {
			return nil, fmt.Errorf("%.100q: the tensors are larger than the file", e.key)
		}
		t := safetensors.Tensor{Name: e.key, DType: v.storage.class.elements, Shape: convert.Slice[uint64](v.shape)}
		if t.Data, err = v.read(); err != nil {
			return nil, fmt.Errorf("%.100q: %w", e.key, err)
		}
		tensors[e.key] = t
	}
	sorted := make([]safetensors.Tensor, 0, len(tensors))
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		sorted = append(sorted, tensors[name])
	}
	return sorted, nil
}

// storage is a block of numbers in a file, which tensors are views of. Data is nil
// until it is known where they lie.
type storage struct {
	key    string
	class  storageClass
	length int // numbers
	data   []byte
}

// view is a tensor: the numbers of a storage at offset + Σ index·stride.
type view struct {
	storage       *storage
	offset        int
	shape, stride []int
}

// newView checks that all numbers lie in the storage and are no more than it has, in float64,
// which is exact for every storage that a file can hold. A tensor without numbers may have any
// shape that does not overflow.
func newView(s *storage, offset int, shape, stride []int) (*view, error) {
	fits := len(shape) == len(stride) && len(shape) <= 8 && offset >= 0
	count, most, last := 1.0, float64(s.length), float64(offset)
	for i, d := range shape {
		if fits = fits && d >= 0 && stride[i] >= 0; !fits {
			break
		}
		count *= float64(max(d, 1))
		last += float64(max(d, 1)-1) * float64(stride[i])
	}
	if slices.Contains(shape, 0) {
		const largest = 1 << 62
		most, last = largest, float64(offset)-1
	}
	if !fits || count > most || last >= float64(s.length) {
		return nil, fmt.Errorf("a tensor of shape %v, strides %v and offset %d does not fit its storage of %d numbers", shape, stride, offset, s.length)
	}
	return &view{s, offset, shape, stride}, nil
}

func (v *view) bytes() int {
	count := v.storage.class.size
	for _, d := range v.shape {
		count *= d
	}
	return count
}

// read returns the numbers in row-major order.
func (v *view) read() ([]byte, error) {
	if v.storage.data == nil {
		return nil, errors.New("the file holds no numbers for it")
	}
	size, values := v.storage.class.size, make([]byte, v.bytes())
	index, from := make([]int, len(v.shape)), v.offset
	for at := 0; at < len(values); at += size {
		copy(values[at:at+size], v.storage.data[from*size:])
		for d := len(index) - 1; d >= 0; d-- {
			index[d]++
			from += v.stride[d]
			if index[d] < v.shape[d] {
				break
			}
			from -= index[d] * v.stride[d]
			index[d] = 0
		}
	}
	return values, nil
}

// take returns the first n numbers of data as the storage's and what follows them.
func (s *storage) take(data []byte) (rest []byte, err error) {
	if s.length > len(data)/s.class.size {
		return nil, fmt.Errorf("the file ends within a storage of %d numbers", s.length)
	}
	n := s.length * s.class.size
	s.data = data[:n:n]
	return data[n:], nil
}

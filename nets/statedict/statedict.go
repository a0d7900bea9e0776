// Package statedict reads and writes the tensors of networks by their names, as numbers in memory: state
// dictionaries in files of safetensors and of PyTorch.
package statedict

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/maruel/safetensors"

	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/nets/statedict/pth"
)

// Tensor is a tensor in a file: its elements are little-endian, one after another.
type Tensor = safetensors.Tensor

// Read reads tensors from a .safetensors file, in its order, or from a .pth file of torch.save since 2017,
// by their names, and the file's SHA-256 in hexadecimal. It tells the formats apart by their content.
// Nothing of a .pth file is executed: a class that no state dictionary needs is an error that names it.
func Read(path string) (tensors []Tensor, sha256Sum string, err error) {
	data, err := input.Read(path, input.Tensors)
	if err == nil {
		tensors, err = Parse(data)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return tensors, fmt.Sprintf("%x", sha256.Sum256(data)), nil
}

// Parse is [Read] of a file's content. One that is cut off or of no known format is an error, which does not name
// the file.
func Parse(data []byte) (tensors []Tensor, err error) {
	// A safetensors file begins with the length of its header, which is JSON.
	const headerAt = 8
	if len(data) > headerAt && data[headerAt] == '{' {
		file, err := safetensors.Parse(data)
		if err != nil {
			return nil, fmt.Errorf("not a whole safetensors file: %w", err)
		}
		return file.Tensors, nil
	}
	return pth.Read(data)
}

// Backbone reads torchvision's weights of a ResNet as [Read] does. The file's classifier, fc.weight and fc.bias,
// is left out where it is there; counters of batches, which older files lack, become 0 where they are not.
func Backbone(path string) (tensors []Tensor, sha256Sum string, err error) {
	all, sum, err := Read(path)
	for _, t := range all {
		if t.Name == "fc.weight" || t.Name == "fc.bias" {
			continue
		}
		tensors = append(tensors, t)
		norm, is := strings.CutSuffix(t.Name, ".running_var")
		if counter := norm + ".num_batches_tracked"; is && Find(all, counter) == nil {
			tensors = append(tensors, Tensor{Name: counter, DType: safetensors.I64, Shape: []uint64{}, Data: make([]byte, 8)})
		}
	}
	return tensors, sum, err
}

// Write writes tensors in the order given, as PyTorch reads them.
func Write(w io.Writer, tensors []Tensor) error {
	return (&safetensors.File{Metadata: map[string]string{"format": "pt"}, Tensors: tensors}).Serialize(w)
}

// Find returns the tensor of a name, nil if there is none.
func Find(tensors []Tensor, name string) *Tensor {
	for i := range tensors {
		if tensors[i].Name == name {
			return &tensors[i]
		}
	}
	return nil
}

// Shape is that of a tensor.
func Shape(t Tensor) []int { return convert.Slice[int](t.Shape) }

// Floats are the elements of a tensor of float32, nil of another type.
func Floats(t Tensor) []float32 {
	if t.DType != safetensors.F32 {
		return nil
	}
	values := make([]float32, len(t.Data)/4)
	binary.Read(bytes.NewReader(t.Data), binary.LittleEndian, values) // as long as the data
	return values
}

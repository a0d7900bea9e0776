package table

import (
	"encoding/json"
	"fmt"

	"github.com/maruel/safetensors"
)

// openSafetensors opens the tensors of a file, whose metadata may hold the names of
// classes: class_names, a list in JSON.
func openSafetensors(t *Table) error {
	f := new(arrays)
	t.form = f
	m, err := f.mapFile(t.name)
	if err != nil {
		return err
	}
	file, err := safetensors.Parse(m.content[:len(m.content):len(m.content)])
	if err != nil {
		return fmt.Errorf("not a whole safetensors file: %w", err)
	}
	there := make([]string, len(file.Tensors))
	for i, tensor := range file.Tensors {
		there[i] = tensor.Name
	}
	if err := distinct("tensors", there); err != nil {
		return err
	}
	err = f.openNamed(there, t, func(i int) (*array, error) { return placeTensor(m, file.Tensors[i]) })
	if err != nil {
		return err
	}
	if text, found := file.Metadata[classNamesArray]; found {
		if f.names, err = parseClassNames(text); err != nil {
			return err
		}
	}
	return f.describe(t)
}

// parseClassNames reads the names of classes that a file's metadata hold.
func parseClassNames(text string) (names []string, err error) {
	if err = json.Unmarshal([]byte(text), &names); err != nil {
		err = fmt.Errorf("class_names of the metadata is no list of texts: %w", err)
	}
	return names, err
}

// tensorElements are the types of tensors that numbers and labels have.
var tensorElements = map[safetensors.DType]element{
	safetensors.F16: {'f', 2}, safetensors.F32: {'f', 4}, safetensors.F64: {'f', 8},
	safetensors.I8: {'i', 1}, safetensors.I16: {'i', 2}, safetensors.I32: {'i', 4}, safetensors.I64: {'i', 8},
	safetensors.U8: {'u', 1}, safetensors.U16: {'u', 2}, safetensors.U32: {'u', 4}, safetensors.U64: {'u', 8},
	safetensors.BOOL: {'b', 1}, safetensors.BF16: {'g', 2},
}

func placeTensor(m *mapping, tensor safetensors.Tensor) (*array, error) {
	element, known := tensorElements[tensor.DType]
	if !known {
		return nil, fmt.Errorf("elements of type %s; want numbers of 1, 2, 4 or 8 bytes", tensor.DType)
	}
	a := &array{element: element}
	for _, d := range tensor.Shape {
		if d > uint64(m.size) {
			return nil, fmt.Errorf("shape %v", tensor.Shape)
		}
		a.shape = append(a.shape, int(d))
	}
	// A part of the content keeps what follows it as its capacity.
	return a, m.place(a, m.size-int64(cap(tensor.Data)), int64(len(tensor.Data)))
}

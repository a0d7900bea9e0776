package table

import (
	"encoding/json"
	"fmt"

	"github.com/maruel/safetensors"
)

// openSafetensors opens the tensors of a file, whose metadata may hold the names of
// classes: class_names, a list in JSON.
func openSafetensors(t *Table) error {
	m, err := mapFile(t.name)
	if err != nil {
		return err
	}
	values, labels, ids, names, err := readSafetensors(m, t.options)
	if err != nil {
		m.Close()
		return err
	}
	return t.setArrays(values, labels, ids, names, m.Close)
}

func readSafetensors(m *mapping, o Options) (values, labels, ids *array, classNames []string, err error) {
	file, err := safetensors.Parse(m.content[:len(m.content):len(m.content)])
	if err != nil {
		return nil, nil, nil, nil, fmt.Errorf("not a whole safetensors file: %w", err)
	}
	tensors := make(map[string]safetensors.Tensor)
	var there []string
	for _, tensor := range file.Tensors {
		if _, again := tensors[tensor.Name]; again {
			return nil, nil, nil, nil, fmt.Errorf("two tensors of the name %.100q", tensor.Name)
		}
		tensors[tensor.Name] = tensor
		there = append(there, tensor.Name)
	}
	valuesName, labelsName, idsName, err := chooseArrays(there, o)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	read := func(name string) *array {
		if name == "" || err != nil {
			return nil
		}
		var a *array
		a, err = placeTensor(m, tensors[name])
		return a
	}
	values, labels, ids = read(valuesName), read(labelsName), read(idsName)
	if text, found := file.Metadata[classNamesArray]; found && err == nil {
		if err = json.Unmarshal([]byte(text), &classNames); err != nil {
			err = fmt.Errorf("class_names of the metadata is no list of texts: %w", err)
		}
	}
	return values, labels, ids, classNames, err
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
		return nil, fmt.Errorf("%s: elements of type %s; want numbers of 1, 2, 4 or 8 bytes", tensor.Name, tensor.DType)
	}
	a := &array{name: tensor.Name, element: element}
	for _, d := range tensor.Shape {
		if d > uint64(m.size) {
			return nil, fmt.Errorf("%s: shape %v", tensor.Name, tensor.Shape)
		}
		a.shape = append(a.shape, int(d))
	}
	if err := a.fills(int64(len(tensor.Data))); err != nil {
		return nil, fmt.Errorf("%s: %w", tensor.Name, err)
	}
	// A part of the content keeps what follows it as its capacity.
	m.place(a, m.size-int64(cap(tensor.Data)), int64(len(tensor.Data)))
	return a, nil
}

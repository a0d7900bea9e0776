package torch

import (
	"errors"
	"fmt"
	"io"
	"unsafe"

	"iwda/internal/convert"

	"github.com/maruel/safetensors"
)

// Named is a tensor under its name in a file.
type Named struct {
	Name   string
	Tensor Tensor
}

// fileType is how the elements of a tensor stand in a file, which is little-endian, as are all machines
// that libtorch runs on.
type fileType struct {
	name safetensors.DType
	data func(Tensor) []byte
	read func(data []byte, shape []int) Tensor
}

func fileTypeOf[T Element](name safetensors.DType) fileType {
	return fileType{
		name: name,
		data: func(t Tensor) []byte { return convert.Bytes(ToSlice[T](t)) },
		read: func(data []byte, shape []int) Tensor { return FromSlice(valuesOf[T](data), shape...) },
	}
}

var fileTypes = map[DType]fileType{
	Float32: fileTypeOf[float32](safetensors.F32), Float64: fileTypeOf[float64](safetensors.F64),
	Int64: fileTypeOf[int64](safetensors.I64), Uint8: fileTypeOf[uint8](safetensors.U8),
	Bool: {
		name: safetensors.BOOL,
		data: func(t Tensor) []byte { return ToSlice[uint8](t.To(Uint8, CPU)) },
		read: func(data []byte, shape []int) Tensor { return FromSlice(data, shape...).To(Bool, CPU) },
	},
}

// WriteTensors writes tensors of any device and metadata, which may be nil, in the
// safetensors format, in the order given.
func WriteTensors(w io.Writer, tensors []Named, metadata map[string]string) error {
	file := safetensors.File{Metadata: metadata}
	names := make(map[string]bool, len(tensors))
	for _, n := range tensors {
		if names[n.Name] {
			return &Error{Op: "WriteTensors", Msg: fmt.Sprintf("two tensors are called %q", n.Name)}
		}
		names[n.Name] = true
		dtype := n.Tensor.DType()
		of, ok := fileTypes[dtype]
		if !ok {
			return &Error{Op: "WriteTensors", Msg: fmt.Sprintf("%s: no file format for elements of type %v", n.Name, dtype)}
		}
		shape := convert.Slice[uint64](n.Tensor.Shape()) // nil would be written as null, which other readers refuse
		file.Tensors = append(file.Tensors, safetensors.Tensor{Name: n.Name, DType: of.name, Shape: shape, Data: of.data(n.Tensor)})
	}
	if err := file.Serialize(w); err != nil {
		return &Error{Op: "WriteTensors", Msg: err.Error()}
	}
	return nil
}

// ParseTensors reads the content of a safetensors file onto the CPU. One that is cut off or
// not of the format is an error, which does not name the file; no tensor is left then.
func ParseTensors(data []byte) (tensors map[string]Tensor, metadata map[string]string, err error) {
	file, err := safetensors.Parse(data)
	if err != nil {
		return nil, nil, fmt.Errorf("not a whole safetensors file: %w", err)
	}
	tensors, err = TensorsOf(file.Tensors)
	return tensors, file.Metadata, err
}

// TensorsOf makes the entries of a safetensors file tensors on the CPU, by their names. One that is no
// tensor is an error that names it; no tensor is left then.
func TensorsOf(entries []safetensors.Tensor) (tensors map[string]Tensor, err error) {
	tensors = make(map[string]Tensor, len(entries))
	for _, entry := range entries {
		if _, again := tensors[entry.Name]; again {
			err = errors.New("two tensors of one name")
		} else if refused := Try(func() { tensors[entry.Name], err = parseTensor(entry) }); refused != nil {
			err = refused // a shape that no tensor has
		}
		if err != nil {
			for _, t := range tensors {
				t.Release()
			}
			return nil, fmt.Errorf("%.100q: %w", entry.Name, err)
		}
	}
	return tensors, nil
}

func parseTensor(entry safetensors.Tensor) (Tensor, error) {
	shape := convert.Slice[int](entry.Shape)
	for _, of := range fileTypes {
		if of.name == entry.DType {
			return of.read(entry.Data, shape), nil
		}
	}
	return Tensor{}, fmt.Errorf("elements of type %s are not supported", entry.DType)
}

// valuesOf copies the values out of bytes that may lie at any address.
func valuesOf[T Element](data []byte) []T {
	values := make([]T, len(data)/int(unsafe.Sizeof(*new(T))))
	copy(convert.Bytes(values), data)
	return values
}

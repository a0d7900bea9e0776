package torch

// #include "iwtorch.h"
import "C"

import (
	"fmt"
	"unsafe"

	"iwda/internal/convert"

	"github.com/wangkuiyi/gotorch"
)

// Tensor is an array of numbers on a device, perhaps with the graph of operations
// that made it. The zero Tensor holds nothing.
type Tensor struct {
	t gotorch.Tensor
}

// Wrap makes a Tensor of gotorch's, such as a parameter of one of its modules. Both
// names mean the same memory, which gotorch's finalizer frees: do not release it.
func Wrap(t gotorch.Tensor) Tensor { return Tensor{t} }

// Gotorch returns gotorch's view of t: the same memory, under the same owner. gotorch
// itself does not notice a tensor that is released afterwards.
func (t Tensor) Gotorch() gotorch.Tensor {
	t.mustLive("Gotorch")
	return t.t
}

// IsZero reports whether t is the zero Tensor, as an absent bias is.
func (t Tensor) IsZero() bool { return t.t.T == nil }

// box returns the address of the C++ tensor, nil for a released or zero Tensor; the
// shim refuses nil.
func (t Tensor) box() unsafe.Pointer {
	if t.t.T == nil {
		return nil
	}
	return *t.t.T
}

// boxesOf returns the addresses of C++ tensors; a released one's is nil, which the shim
// refuses.
func boxesOf(tensors []Tensor) []unsafe.Pointer { return convert.Each(tensors, Tensor.box) }

// mustLive refuses what the shim would, for operations that do not call it.
func (t Tensor) mustLive(op string) {
	if t.box() == nil {
		refuse(op, "the tensor is empty or was released with its scope")
	}
}

// DType is the type of a tensor's elements.
type DType int

// The element types.
const (
	Float32  = DType(C.IWT_FLOAT32)
	Float64  = DType(C.IWT_FLOAT64)
	Int64    = DType(C.IWT_INT64)
	Uint8    = DType(C.IWT_UINT8)
	Bool     = DType(C.IWT_BOOL)
	BFloat16 = DType(C.IWT_BFLOAT16)
)

func (d DType) String() string {
	names := [...]string{"float32", "float64", "int64", "uint8", "bool", "bfloat16"}
	if d < 0 || int(d) >= len(names) {
		return fmt.Sprintf("DType(%d)", int(d))
	}
	return names[d]
}

// Element is a Go type whose slices are copied to and from tensors.
type Element interface {
	float32 | float64 | int64 | uint8
}

func dtypeOf[T Element]() DType {
	switch any(*new(T)).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	case int64:
		return Int64
	}
	return Uint8
}

// int64s copies an operation's shape to C's type.
func int64s(op string, shape []int) (buffer [C.IWT_MAX_DIMS]C.int64_t, count C.int64_t) {
	if len(shape) > len(buffer) {
		refuse(op, "%d dimensions; at most %d are supported", len(shape), len(buffer))
	}
	for i, n := range shape {
		buffer[i] = C.int64_t(n)
	}
	return buffer, C.int64_t(len(shape))
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// FromSlice returns a tensor on the CPU with a copy of data in row-major order. No
// shape means a 0-dimensional tensor of one element.
func FromSlice[T Element](data []T, shape ...int) Tensor {
	return fromHost("FromSlice", data, CPU, shape)
}

// Upload returns a tensor on a device with a copy of data, as [FromSlice] does on the CPU. On
// a GPU nobody waits: the data go through page-locked memory, on a stream of their own, while
// what was asked for before is still being computed, and what follows waits for them there.
func Upload[T Element](data []T, device Device, shape ...int) Tensor {
	return fromHost("Upload", data, device, shape)
}

func fromHost[T Element](op string, data []T, device Device, shape []int) Tensor {
	if len(data) != size(shape) {
		refuse(op, "%d elements do not fill the shape %v", len(data), shape)
	}
	sizes, dims := int64s(op, shape)
	return made(op, C.iwt_from_host(unsafe.Pointer(unsafe.SliceData(data)), C.int(dtypeOf[T]()), device.index(), &sizes[0], dims))
}

// Full returns a tensor whose every element is value.
func Full(value float64, dtype DType, device Device, shape ...int) Tensor {
	sizes, dims := int64s("Full", shape)
	return made("Full", C.iwt_full(C.double(value), C.int(dtype), device.index(), &sizes[0], dims))
}

// RandN returns a tensor on the CPU of independent draws from N(0, 1), from
// libtorch's generator.
func RandN(dtype DType, shape ...int) Tensor {
	sizes, dims := int64s("RandN", shape)
	return made("RandN", C.iwt_randn(C.int(dtype), &sizes[0], dims))
}

// CopyFromSlice overwrites the elements of t, in row-major order, with data, of the
// same number and type, on whatever device t lies. Autograd does not see it.
func CopyFromSlice[T Element](t Tensor, data []T) {
	done("CopyFromSlice", C.iwt_copy_in(t.box(), unsafe.Pointer(unsafe.SliceData(data)), C.int(dtypeOf[T]()), C.int64_t(len(data))), t)
}

// CopyToSlice fills data with the elements of t, of the same number and type, in
// row-major order.
func CopyToSlice[T Element](data []T, t Tensor) {
	done("CopyToSlice", C.iwt_copy_out(t.box(), unsafe.Pointer(unsafe.SliceData(data)), C.int(dtypeOf[T]()), C.int64_t(len(data))), t)
}

// ToSlice returns the elements of t, whose type must be T, in row-major order.
func ToSlice[T Element](t Tensor) []T {
	data := make([]T, t.Len())
	CopyToSlice(data, t)
	return data
}

// Item returns the value of a tensor of one element of any type. On a GPU it waits
// for the value.
func (t Tensor) Item() float64 {
	var value C.double
	done("Item", C.iwt_item(t.box(), &value), t)
	return float64(value)
}

// Shape returns the size of every dimension.
func (t Tensor) Shape() []int {
	var sizes [C.IWT_MAX_DIMS]C.int64_t
	var dims C.int64_t
	done("Shape", C.iwt_shape(t.box(), &sizes[0], &dims), t)
	return convert.Slice[int](sizes[:dims])
}

// Len returns the number of elements.
func (t Tensor) Len() int { return size(t.Shape()) }

// DType returns the type of the elements.
func (t Tensor) DType() DType {
	var dtype C.int
	done("DType", C.iwt_dtype(t.box(), &dtype), t)
	return DType(dtype)
}

// Device returns where the elements lie.
func (t Tensor) Device() Device {
	var index C.int
	done("Device", C.iwt_device(t.box(), &index), t)
	return Device{cuda: int(index) + 1}
}

// IsChannelsLast reports whether a 4-dimensional tensor lies in memory as
// batch × height × width × channels.
func (t Tensor) IsChannelsLast() bool {
	var last C.bool
	done("IsChannelsLast", C.iwt_is_channels_last(t.box(), &last), t)
	return bool(last)
}

// To returns t with that element type on that device: t's own memory where both are
// what they were.
func (t Tensor) To(dtype DType, device Device) Tensor {
	return made("To", C.iwt_to(t.box(), C.int(dtype), device.index()), t)
}

// Move changes t itself, a leaf such as a parameter, to that element type and device
// and takes its gradient away.
func (t Tensor) Move(dtype DType, device Device) {
	done("Move", C.iwt_move(t.box(), C.int(dtype), device.index()), t)
}

// ChannelsLast returns a 4-dimensional tensor of the same shape and values that lies
// in memory as batch × height × width × channels, the order in which convolution and
// pooling are fastest.
func (t Tensor) ChannelsLast() Tensor {
	return made("ChannelsLast", C.iwt_channels_last(t.box()), t)
}

// Clone returns a copy in memory of its own, through which gradients flow.
func (t Tensor) Clone() Tensor { return made("Clone", C.iwt_clone(t.box()), t) }

// Set overwrites the elements of t with those of from, of the same shape, cast and
// moved as needed. Autograd does not see it.
func (t Tensor) Set(from Tensor) {
	done("Set", C.iwt_copy_from(t.box(), from.box()), t, from)
}

// String describes t by type, shape and device; it is for a released tensor too.
func (t Tensor) String() string {
	if t.IsZero() {
		return "no tensor"
	}
	if t.box() == nil {
		return "released tensor"
	}
	return fmt.Sprintf("%v tensor of shape %v on %v", t.DType(), t.Shape(), t.Device())
}

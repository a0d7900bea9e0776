package onnx_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"iwda/torch"
)

// fields are the fields of a message of Protocol Buffers in their order, by number.
type fields map[protowire.Number][]field

type field struct {
	bytes  []byte
	number uint64
}

func parse(t *testing.T, data []byte) fields {
	t.Helper()
	f := make(fields)
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		data = data[n:]
		var v field
		switch kind {
		case protowire.VarintType:
			v.number, n = protowire.ConsumeVarint(data)
		case protowire.Fixed32Type:
			var bits uint32
			bits, n = protowire.ConsumeFixed32(data)
			v.number = uint64(bits)
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(data)
		default:
			t.Fatalf("field %d is of type %d", number, kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		data = data[n:]
		f[number] = append(f[number], v)
	}
	return f
}

func (f fields) texts(number protowire.Number) []string {
	var texts []string
	for _, v := range f[number] {
		texts = append(texts, string(v.bytes))
	}
	return texts
}

func (f fields) ints(number protowire.Number) []int {
	var ints []int
	for _, v := range f[number] {
		ints = append(ints, int(v.number))
	}
	return ints
}

// file is a decoded model, by the numbers of onnx.proto3.
type file struct {
	model       fields
	constants   map[string]torch.Tensor
	nodes       []decodedNode
	inputs      map[string][]int // -1 for what is called "rows"
	outputNames []string
	outputs     map[string][]int
}

type decodedNode struct {
	operator   string
	inputs     []string
	output     string
	attributes map[string]fields
}

func decode(t *testing.T, data []byte) file {
	t.Helper()
	f := file{model: parse(t, data), constants: make(map[string]torch.Tensor), inputs: make(map[string][]int), outputs: make(map[string][]int)}
	graph := parse(t, f.model[7][0].bytes)
	for _, c := range graph[5] {
		tensor := parse(t, c.bytes)
		if kind := tensor.ints(2); !slices.Equal(kind, []int{1}) {
			t.Errorf("a constant of type %v, want float32", kind)
		}
		raw := tensor[9][0].bytes
		values := make([]float32, len(raw)/4)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		f.constants[string(tensor[8][0].bytes)] = torch.FromSlice(values, tensor.ints(1)...)
	}
	if len(f.constants) != len(graph[5]) {
		t.Error("two constants of one name")
	}
	for _, n := range graph[1] {
		node := parse(t, n.bytes)
		decoded := decodedNode{node.texts(4)[0], node.texts(1), node.texts(2)[0], make(map[string]fields)}
		for _, a := range node[5] {
			attribute := parse(t, a.bytes)
			decoded.attributes[attribute.texts(1)[0]] = attribute
		}
		f.nodes = append(f.nodes, decoded)
	}
	for _, v := range graph[11] {
		name, shape := decodeValue(t, v.bytes)
		f.inputs[name] = shape
	}
	for _, v := range graph[12] {
		name, shape := decodeValue(t, v.bytes)
		f.outputNames, f.outputs[name] = append(f.outputNames, name), shape
	}
	return f
}

func decodeValue(t *testing.T, data []byte) (name string, shape []int) {
	value := parse(t, data)
	tensor := parse(t, parse(t, value[2][0].bytes)[1][0].bytes)
	if tensor[1][0].number != 1 {
		t.Error("a value that is not float32")
	}
	for _, d := range parse(t, tensor[2][0].bytes)[1] {
		dim := parse(t, d.bytes)
		switch {
		case slices.Equal(dim.texts(2), []string{"rows"}):
			shape = append(shape, -1)
		default:
			shape = append(shape, dim.ints(1)...)
		}
	}
	return value.texts(1)[0], shape
}

// run computes the graph's values, each from ones that come before it.
func (f file) run(t *testing.T, x torch.Tensor) map[string]torch.Tensor {
	t.Helper()
	values := map[string]torch.Tensor{"input": x}
	for name, c := range f.constants {
		values[name] = c
	}
	for _, n := range f.nodes {
		var in []torch.Tensor
		for _, name := range n.inputs {
			v, ok := values[name]
			if !ok {
				t.Fatalf("%s takes %q, which nothing before it makes", n.output, name)
			}
			in = append(in, v)
		}
		if _, again := values[n.output]; again {
			t.Fatalf("two values of the name %q", n.output)
		}
		values[n.output] = n.compute(t, in)
	}
	return values
}

// elementwise takes b along the last dimension of a.
func elementwise(a, b torch.Tensor, f func(a, b float32) float32) torch.Tensor {
	values, others := torch.ToSlice[float32](a), torch.ToSlice[float32](b)
	for i, v := range values {
		values[i] = f(v, others[i%len(others)])
	}
	return torch.FromSlice(values, a.Shape()...)
}

// compute is a node's operator as the standard defines it.
func (n decodedNode) compute(t *testing.T, in []torch.Tensor) torch.Tensor {
	t.Helper()
	switch n.operator {
	case "Sub":
		return in[0].Sub(in[1])
	case "Mul":
		return in[0].Mul(in[1])
	case "Div":
		return in[0].Div(in[1])
	case "Add":
		return in[0].Add(in[1])
	case "Mean", "Sum":
		sum := in[0]
		for _, v := range in[1:] {
			sum = sum.Add(v)
		}
		if n.operator == "Sum" {
			return sum
		}
		return sum.Scale(1 / float64(len(in)))
	case "Max":
		return elementwise(in[0], in[1], func(a, b float32) float32 { return max(a, b) })
	case "Min":
		return elementwise(in[0], in[1], func(a, b float32) float32 { return min(a, b) })
	case "Identity", "Cast": // of whole numbers
		return in[0]
	case "Log":
		return in[0].Log()
	case "Transpose":
		return in[0].Transpose(0, 1)
	case "Shape":
		return torch.FromSlice([]float32{float32(in[0].Shape()[n.int("start")])}, n.int("end")-n.int("start"))
	case "Expand":
		return torch.Cat(1, slices.Repeat(in[:1], int(in[1].Item()))...)
	case "Gather":
		index := in[1].To(torch.Int64, torch.CPU)
		shape := slices.Concat(in[1].Shape(), in[0].Shape()[n.int("axis")+1:])
		if n.int("axis") == 1 {
			shape = in[0].Shape()[:1]
		}
		return in[0].IndexSelect(n.int("axis"), index.Reshape(-1)).Reshape(shape...)
	case "GatherElements":
		return in[0].Gather(n.int("axis"), in[1].To(torch.Int64, torch.CPU))
	case "LessOrEqual":
		return elementwise(in[0], in[1], func(a, b float32) float32 {
			if a <= b {
				return 1
			}
			return 0
		})
	case "Where":
		return in[0].Mul(in[1]).Add(in[0].Affine(-1, 1).Mul(in[2]))
	case "ReduceMean":
		axis := n.same(t, "axes")
		return in[0].SumDim(axis, n.int("keepdims") == 1).Scale(1 / float64(in[0].Shape()[axis]))
	case "Relu":
		return in[0].ReLU()
	case "Softmax":
		return in[0].Softmax(n.int("axis"))
	case "Flatten":
		return in[0].Reshape(in[0].Shape()[0], -1)
	case "IsNaN":
		return elementwise(in[0], in[0], func(a, _ float32) float32 {
			if a != a {
				return 1
			}
			return 0
		})
	case "MatMul":
		return in[0].MatMul(in[1])
	case "Gemm":
		if n.int("transB") != 1 {
			t.Error("the weight of a linear layer is not transposed")
		}
		return in[0].Linear(in[1], in[2])
	case "Conv":
		bias := torch.Tensor{}
		if len(in) == 3 {
			bias = in[2]
		}
		if kernel := n.same(t, "kernel_shape"); kernel != in[1].Shape()[3] {
			t.Errorf("%s: a kernel of %d", n.output, kernel)
		}
		return in[0].Conv2D(in[1], bias, n.same(t, "strides"), n.same(t, "pads"))
	case "MaxPool":
		return in[0].MaxPool2D(n.same(t, "kernel_shape"), n.same(t, "strides"), n.same(t, "pads"))
	case "GlobalAveragePool":
		shape := in[0].Shape()
		return in[0].GlobalAveragePool2D().Reshape(shape[0], shape[1], 1, 1)
	case "BatchNormalization":
		running := torch.RunningStatistics{Mean: in[3], Variance: in[4]}
		epsilon := math.Float32frombits(uint32(n.attributes["epsilon"][2][0].number))
		return in[0].BatchNorm(in[1], in[2], running, float64(epsilon), false)
	}
	t.Fatalf("operator %s", n.operator)
	return torch.Tensor{}
}

func (n decodedNode) int(name string) int { return n.attributes[name].ints(3)[0] }

// same is the value that all numbers of an attribute have, 0 where it is absent.
func (n decodedNode) same(t *testing.T, name string) int {
	values := n.attributes[name].ints(8)
	if len(values) == 0 {
		return 0
	}
	for _, v := range values {
		if v != values[0] {
			t.Errorf("%s: %s are %v", n.output, name, values)
		}
	}
	return values[0]
}

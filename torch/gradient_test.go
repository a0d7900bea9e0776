package torch

import (
	"math"
	"math/rand/v2"
	"testing"
)

// operation is a differentiable function of leaves of the given shapes.
type operation struct {
	name   string
	shapes [][]int
	apply  func(x []Tensor) Tensor
}

// differentiable lists every operation through which gradients flow but for those of
// residual networks, which vision_test.go lists.
var differentiable = []operation{
	{"Add", [][]int{{3, 4}, {4}}, func(x []Tensor) Tensor { return x[0].Add(x[1]) }},
	{"Sub", [][]int{{3, 4}, {3, 1}}, func(x []Tensor) Tensor { return x[0].Sub(x[1]) }},
	{"Mul", [][]int{{3, 4}, {4}}, func(x []Tensor) Tensor { return x[0].Mul(x[1]) }},
	{"Div", [][]int{{3, 4}, {3, 4}}, func(x []Tensor) Tensor { return x[0].Div(x[1].Exp()) }},
	{"Affine", [][]int{{5}}, func(x []Tensor) Tensor { return x[0].Affine(-3, 2) }},
	{"Scale", [][]int{{5}}, func(x []Tensor) Tensor { return x[0].Scale(0.3) }},
	{"Neg", [][]int{{5}}, func(x []Tensor) Tensor { return x[0].Neg() }},
	{"Exp", [][]int{{5}}, func(x []Tensor) Tensor { return x[0].Exp() }},
	{"Log", [][]int{{5}}, func(x []Tensor) Tensor { return x[0].Exp().Affine(1, 1).Log() }},
	{"Square", [][]int{{5}}, func(x []Tensor) Tensor { return x[0].Square() }},
	{"ClampMin", [][]int{{9}}, func(x []Tensor) Tensor { return x[0].ClampMin(0.1) }},
	{"Sum", [][]int{{3, 4}}, func(x []Tensor) Tensor { return x[0].Sum() }},
	{"Mean", [][]int{{3, 4}}, func(x []Tensor) Tensor { return x[0].Mean() }},
	{"SumDim", [][]int{{3, 4}}, func(x []Tensor) Tensor { return x[0].SumDim(1, false) }},
	{"SumDim keep", [][]int{{3, 4}}, func(x []Tensor) Tensor { return x[0].SumDim(0, true).Mul(x[0]) }},
	{"MatMul", [][]int{{3, 4}, {4, 2}}, func(x []Tensor) Tensor { return x[0].MatMul(x[1]) }},
	{"OuterProduct", [][]int{{5, 3}, {5, 4}}, func(x []Tensor) Tensor { return x[0].OuterProduct(x[1]) }},
	{"Reshape", [][]int{{3, 4}}, func(x []Tensor) Tensor { return x[0].Reshape(2, -1) }},
	{"Transpose", [][]int{{3, 4}}, func(x []Tensor) Tensor { return x[0].Transpose(0, 1) }},
	{"Narrow", [][]int{{5, 4}}, func(x []Tensor) Tensor { return x[0].Narrow(0, 1, 3) }},
	{"Cat", [][]int{{3, 4}, {2, 4}}, func(x []Tensor) Tensor { return Cat(0, x[0], x[1]) }},
	{"IndexSelect", [][]int{{5, 4}}, func(x []Tensor) Tensor {
		return x[0].IndexSelect(0, FromSlice([]int64{4, 0, 4}, 3))
	}},
	{"Gather", [][]int{{3, 4}}, func(x []Tensor) Tensor {
		return x[0].Gather(1, FromSlice([]int64{3, 0, 2}, 3, 1))
	}},
	{"ReLU", [][]int{{9}}, func(x []Tensor) Tensor { return x[0].ReLU() }},
	{"LogSigmoid", [][]int{{5}}, func(x []Tensor) Tensor { return x[0].LogSigmoid() }},
	{"Softmax", [][]int{{3, 4}}, func(x []Tensor) Tensor { return x[0].Softmax(1) }},
	{"LogSoftmax", [][]int{{3, 4}}, func(x []Tensor) Tensor { return x[0].LogSoftmax(1) }},
	{"Linear", [][]int{{3, 4}, {2, 4}, {2}}, func(x []Tensor) Tensor { return x[0].Linear(x[1], x[2]) }},
	{"Linear without bias", [][]int{{3, 4}, {2, 4}}, func(x []Tensor) Tensor { return x[0].Linear(x[1], Tensor{}) }},
	{"Conv2D", [][]int{{2, 3, 6, 6}, {4, 3, 3, 3}, {4}}, func(x []Tensor) Tensor { return x[0].Conv2D(x[1], x[2], 2, 1) }},
	{"Conv2D channels last", [][]int{{2, 3, 6, 6}, {4, 3, 3, 3}, {4}}, func(x []Tensor) Tensor {
		return x[0].ChannelsLast().Conv2D(x[1], x[2], 1, 0)
	}},
	{"MaxPool2D", [][]int{{2, 3, 6, 6}}, func(x []Tensor) Tensor { return x[0].MaxPool2D(2, 2, 0) }},
	{"GaussianKernelSum", [][]int{{5, 3}}, func(x []Tensor) Tensor {
		return x[0].GaussianKernelSum(Full(2.5, Float64, CPU), 3)
	}},
	{"BlockBatch", [][]int{{3, 2, 2, 2}}, func(x []Tensor) Tensor { return x[0].BlockBatch() }},
	{"UnblockBatch", [][]int{{2, 1, 1, 2, 16}}, func(x []Tensor) Tensor { return x[0].UnblockBatch(19) }},
	{"ConvMaxPoolReLU", [][]int{{2, 2, 7, 6}, {3, 2, 3, 3}, {3}}, func(x []Tensor) Tensor {
		return x[0].BlockBatch().ConvMaxPoolReLU(x[1], x[2])
	}},
	{"Dropout", [][]int{{40}}, func(x []Tensor) Tensor {
		Seed(5)
		return x[0].Dropout(0.5)
	}},
	{"Dropout2D", [][]int{{4, 5, 2, 2}}, func(x []Tensor) Tensor {
		Seed(5)
		return x[0].Dropout2D(0.5)
	}},
	{"Clone", [][]int{{5}}, func(x []Tensor) Tensor { return x[0].Clone() }},
	{"To", [][]int{{5}}, func(x []Tensor) Tensor { return x[0].To(Float64, CPU) }},
}

func TestGradientsAgainstFiniteDifferences(t *testing.T) { checkGradients(t, differentiable) }

func checkGradients(t *testing.T, operations []operation) {
	for _, c := range operations {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			values := make([][]float64, len(c.shapes))
			for i, shape := range c.shapes {
				values[i] = make([]float64, size(shape))
				for j := range values[i] {
					values[i][j] = random.NormFloat64()
				}
			}
			// The outputs are summed under weights of their own, so that no two
			// elements can stand for each other.
			value := func(backward bool) (total float64, gradients [][]float64) {
				Tidy(func() {
					leaves := make([]Tensor, len(values))
					for i := range values {
						leaves[i] = FromSlice(values[i], c.shapes[i]...).SetRequiresGrad(true)
					}
					out := c.apply(leaves)
					weights := make([]float64, out.Len())
					for i := range weights {
						weights[i] = math.Sin(float64(3*i + 1))
					}
					sum := out.Mul(FromSlice(weights, out.Shape()...)).Sum()
					total = sum.Item()
					if backward {
						sum.Backward()
						for i, leaf := range leaves {
							g, ok := leaf.Grad()
							if !ok {
								t.Fatalf("no gradient of argument %d", i)
							}
							gradients = append(gradients, ToSlice[float64](g))
						}
					}
				})
				return total, gradients
			}
			_, gradients := value(true)
			const h = 1e-5
			for i := range values {
				for j := range values[i] {
					saved := values[i][j]
					values[i][j] = saved + h
					above, _ := value(false)
					values[i][j] = saved - h
					below, _ := value(false)
					values[i][j] = saved
					want := (above - below) / (2 * h)
					if math.Abs(gradients[i][j]-want) > 1e-7*(1+math.Abs(want)) {
						t.Fatalf("argument %d, element %d: gradient %v, finite difference %v", i, j, gradients[i][j], want)
					}
				}
			}
		})
	}
}

// The reversal is its own case: its gradient is by design not its derivative.
func TestReverseGradient(t *testing.T) {
	Tidy(func() {
		for _, coefficient := range []Coefficient{Number(0.25), Scalar(Full(0.25, Float64, CPU)), Scalar(Full(0.25, Float32, CPU))} {
			x := FromSlice([]float64{1, -2, 3}, 3).SetRequiresGrad(true)
			y := x.ReverseGradient(coefficient)
			for i, v := range ToSlice[float64](y) {
				if want := []float64{1, -2, 3}[i]; v != want {
					t.Errorf("forward changed element %d to %v", i, v)
				}
			}
			y.Mul(FromSlice([]float64{1, 10, 100}, 3)).Sum().Backward()
			g, _ := x.Grad()
			for i, v := range ToSlice[float64](g) {
				if want := []float64{-0.25, -2.5, -25}[i]; v != want {
					t.Errorf("gradient %d is %v, want %v", i, v, want)
				}
			}
		}
		// What the scalar holds when the gradient is computed counts.
		x, later := Full(1, Float32, CPU, 2).SetRequiresGrad(true), Full(7, Float64, CPU)
		y := x.ReverseGradient(Scalar(later))
		later.Set(Full(0.5, Float64, CPU))
		y.Sum().Backward()
		if g, _ := x.Grad(); ToSlice[float32](g)[1] != -0.5 {
			t.Errorf("gradient %v", ToSlice[float32](g))
		}
		refused(t, "a coefficient of one dimension", func() { x.ReverseGradient(Scalar(Full(1, Float64, CPU, 1))) })
		refused(t, "a released coefficient", func() { x.ReverseGradient(Scalar(released())) })
	})
}

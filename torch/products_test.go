package torch

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// Products of matrices of float32, which go another way than those of float64, are those of
// float64 up to rounding: of every shape, turned or not, with a bias or without, in forward
// and backward passes.
func TestProducts(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	matrix := func(rows, columns int) []float32 {
		values := make([]float32, rows*columns)
		for i := range values {
			values[i] = float32(random.NormFloat64())
		}
		return values
	}
	for _, s := range [][3]int{{1, 1, 1}, {1, 5, 3}, {5, 1, 3}, {5, 3, 1}, {2, 3, 4}, {17, 33, 65}, {128, 10, 256}, {130, 257, 70}, {3, 300, 1}, {0, 4, 2}, {4, 3, 0}} {
		rows, inner, columns := s[0], s[1], s[2]
		x, w, wt, bias, g := matrix(rows, inner), matrix(inner, columns), matrix(columns, inner), matrix(1, columns), matrix(rows, columns)
		for name, apply := range map[string]func(dtype DType) []Tensor{
			"MatMul": func(dtype DType) []Tensor {
				a, b := FromSlice(x, rows, inner).To(dtype, CPU).SetRequiresGrad(true), FromSlice(w, inner, columns).To(dtype, CPU).SetRequiresGrad(true)
				return gradientsOf(a.MatMul(b), FromSlice(g, rows, columns).To(dtype, CPU), a, b)
			},
			"MatMul, both turned": func(dtype DType) []Tensor {
				a, b := FromSlice(x, inner, rows).To(dtype, CPU).SetRequiresGrad(true), FromSlice(w, columns, inner).To(dtype, CPU).SetRequiresGrad(true)
				return gradientsOf(a.Transpose(0, 1).MatMul(b.Transpose(0, 1)), FromSlice(g, rows, columns).To(dtype, CPU), a, b)
			},
			"Linear": func(dtype DType) []Tensor {
				a, b := FromSlice(x, rows, inner).To(dtype, CPU).SetRequiresGrad(true), FromSlice(wt, columns, inner).To(dtype, CPU).SetRequiresGrad(true)
				c := FromSlice(bias, columns).To(dtype, CPU).SetRequiresGrad(true)
				return gradientsOf(a.Linear(b, c), FromSlice(g, rows, columns).To(dtype, CPU), a, b, c)
			},
		} {
			Tidy(func() {
				single, double := apply(Float32), apply(Float64)
				for i := range single {
					got, want := ToSlice[float32](single[i]), ToSlice[float64](double[i])
					for j := range got {
						if math.Abs(float64(got[j])-want[j]) > 1e-4 {
							t.Fatalf("%s of %d×%d×%d: element %d of tensor %d is %v, want %v", name, rows, inner, columns, j, i, got[j], want[j])
						}
					}
				}
			})
		}
	}
}

// gradientsOf returns a tensor, and the gradients of its product with g with respect to leaves.
func gradientsOf(y, g Tensor, leaves ...Tensor) []Tensor {
	y.Mul(g).Sum().Backward()
	all := []Tensor{y.Detach().Clone()}
	for _, leaf := range leaves {
		if gradient, ok := leaf.Grad(); ok {
			all = append(all, gradient.Clone())
		}
	}
	return all
}

// Wherever the loader finds oneDNN on x86-64, products go to it: this package's function comes
// before that of BLAS.
func TestProductsByOneDNN(t *testing.T) {
	libraries := testfiles.Read(t, "/proc/self/maps")
	want := runtime.GOARCH == "amd64" && strings.Contains(string(libraries), "/libdnnl.so")
	if got := ProductsByOneDNN(); got != want {
		t.Errorf("products by oneDNN: %v, want %v", got, want)
	}
}

// Outer products of rows of different types, as features of bfloat16 with probabilities of
// float32 are, have the larger type, and gradients the types of their rows.
func TestOuterProductOfMixedTypes(t *testing.T) {
	Tidy(func() {
		a := FromSlice([]float32{0.25, 0.75, 1, 0}, 2, 2).SetRequiresGrad(true)
		b := FromSlice([]float32{1, -2, 3, 4, 0.5, -0.25}, 2, 3).To(BFloat16, CPU).SetRequiresGrad(true)
		y := a.OuterProduct(b)
		if y.DType() != Float32 {
			t.Fatalf("type %v", y.DType())
		}
		want := []float32{0.25, -0.5, 0.75, 0.75, -1.5, 2.25, 4, 0.5, -0.25, 0, 0, 0}
		if got := ToSlice[float32](y.Detach()); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		y.Sum().Backward()
		for _, c := range []struct {
			leaf Tensor
			want []float32
		}{{a, []float32{2, 2, 4.25, 4.25}}, {b, []float32{1, 1, 1, 1, 1, 1}}} {
			g, ok := c.leaf.Grad()
			if !ok || g.DType() != c.leaf.DType() {
				t.Fatalf("a gradient of type %v for %v", g.DType(), c.leaf.DType())
			}
			if got := ToSlice[float32](g.To(Float32, CPU)); !slices.Equal(got, c.want) {
				t.Errorf("gradient %v, want %v", got, c.want)
			}
		}
		refused(t, "as many rows", func() { a.OuterProduct(Full(1, Float32, CPU, 3, 3)) })
		refused(t, "a vector", func() { a.OuterProduct(Full(1, Float32, CPU, 2)) })
	})
}

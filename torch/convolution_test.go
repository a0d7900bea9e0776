package torch

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// convolution is an operation's sizes.
type convolution struct{ rows, in, height, width, out, kernel int }

var convolutions = []convolution{
	{128, 1, 28, 28, 20, 5},
	{33, 20, 12, 12, 50, 5},
	{1, 1, 2, 2, 1, 1},
	{16, 3, 9, 8, 4, 2},   // a last row that no window has
	{17, 11, 8, 11, 7, 3}, // a last column
	{5, 10, 13, 12, 6, 7}, // more columns than one tile of weights
	{40, 4, 7, 7, 9, 6},   // one window
}

// pass returns the result of a convolution of random numbers and the gradients of its
// images, weights and bias, in blocks or by libtorch.
func (c convolution) pass(dtype DType, blocks bool) (values [4][]float64) {
	Tidy(func() {
		Seed(7)
		images := RandN(dtype, c.rows, c.in, c.height, c.width).SetRequiresGrad(true)
		weight := RandN(dtype, c.out, c.in, c.kernel, c.kernel).SetRequiresGrad(true)
		bias := RandN(dtype, c.out).SetRequiresGrad(true)
		x := images
		if blocks {
			x = x.BlockBatch()
		}
		y := x.ConvMaxPoolReLU(weight, bias).UnblockBatch(c.rows)
		y.Mul(RandN(dtype, y.Shape()...)).Sum().Backward()
		for i, t := range []Tensor{y, images, weight, bias} {
			if i > 0 {
				t, _ = t.Grad()
			}
			values[i] = ToSlice[float64](t.To(Float64, CPU))
		}
	})
	return values
}

func TestConvMaxPoolReLUInBlocks(t *testing.T) {
	for _, c := range convolutions {
		for dtype, tolerance := range map[DType]float64{Float32: 2e-5, Float64: 1e-13} {
			want, got := c.pass(dtype, false), c.pass(dtype, true)
			for i, what := range []string{"result", "images' gradient", "weights' gradient", "bias's gradient"} {
				largest := max(slices.Max(want[i]), -slices.Min(want[i]))
				for j := range want[i] {
					if !(math.Abs(got[i][j]-want[i][j]) <= tolerance*largest) {
						t.Fatalf("%+v, %v: element %d of the %s is %v, want %v", c, dtype, j, what, got[i][j], want[i][j])
					}
				}
			}
		}
	}
}

// The kernels are compiled for several instruction sets, of which a process chooses one.
func TestConvMaxPoolReLUWithOtherInstructions(t *testing.T) {
	for _, set := range []string{"default", "avx2"} {
		command := exec.Command(os.Args[0], "-test.run", "^Test(ConvMaxPoolReLU(InBlocks|NotANumberAndTies)|ConvolutionInstructions)$")
		command.Env = append(os.Environ(), "ATEN_CPU_CAPABILITY="+set)
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", set, err, out)
		}
	}
}

// The name is that of instructions which the variable of libtorch allows.
func TestConvolutionInstructions(t *testing.T) {
	allowed := map[string][]string{"default": {""}, "avx2": {"", "AVX2"}, "": {"", "AVX2", "AVX512"}}
	if got, set := ConvolutionInstructions(), os.Getenv("ATEN_CPU_CAPABILITY"); !slices.Contains(allowed[set], got) {
		t.Errorf("%q, where ATEN_CPU_CAPABILITY is %q", got, set)
	}
}

func TestConvMaxPoolReLUHasTheSameBitsWithThreads(t *testing.T) {
	defer SetThreads(Threads())
	SetThreads(1)
	one := convolutions[1].pass(Float32, true)
	for n := 2; n <= 5; n++ {
		SetThreads(n)
		if many := convolutions[1].pass(Float32, true); fmt.Sprint(many) != fmt.Sprint(one) {
			t.Errorf("%d threads give other numbers than one", n)
		}
	}
}

// A loss that is not a number must not hide behind a maximum or a rectification, and the
// gradient of equal maxima goes to the first, that of a maximum of zero nowhere.
func TestConvMaxPoolReLUNotANumberAndTies(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		window   [4]float64
		want     float64
		gradient [4]float64
	}{
		{[4]float64{1, 3, 2, 3}, 3, [4]float64{0, 1, 0, 0}},
		{[4]float64{1, 3, 2, 4}, 4, [4]float64{0, 0, 0, 1}},
		{[4]float64{5, 3, 2, 5}, 5, [4]float64{1, 0, 0, 0}},
		{[4]float64{-1, 0, -2, -3}, 0, [4]float64{}},
		{[4]float64{-1, -4, -2, -3}, 0, [4]float64{}},
		{[4]float64{1, nan, 2, 3}, nan, [4]float64{0, 1, 0, 0}},
		{[4]float64{1, 2, 4, nan}, nan, [4]float64{0, 0, 0, 1}},
		{[4]float64{nan, 2, 4, 3}, nan, [4]float64{1, 0, 0, 0}},
	} {
		Tidy(func() {
			x := FromSlice(c.window[:], 1, 1, 2, 2).SetRequiresGrad(true)
			y := x.BlockBatch().ConvMaxPoolReLU(Full(1, Float64, CPU, 1, 1, 1, 1), Full(0, Float64, CPU, 1)).UnblockBatch(1)
			if got := y.Item(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("%v: maximum %v", c.window, got)
			}
			y.Sum().Backward()
			gradient, _ := x.Grad()
			if got := ToSlice[float64](gradient); !slices.Equal(got, c.gradient[:]) {
				t.Errorf("%v: gradient %v, want %v", c.window, got, c.gradient)
			}
		})
	}
}

// Types without loops of their own go through libtorch, in channels-last order.
func TestBlockBatchOfOtherTypes(t *testing.T) {
	Tidy(func() {
		for _, channels := range []int{1, 3} {
			x := RandN(Float32, 2, channels, 4, 4).To(BFloat16, CPU)
			w := RandN(Float32, 5, channels, 3, 3).To(BFloat16, CPU)
			y := x.BlockBatch()
			if !y.Conv2D(w, Tensor{}, 1, 0).IsChannelsLast() || y.Sub(x).Square().Sum().Item() != 0 || !slices.Equal(y.UnblockBatch(2).Shape(), x.Shape()) {
				t.Errorf("%d channels: order or values differ", channels)
			}
		}
	})
}

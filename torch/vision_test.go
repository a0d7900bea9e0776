package torch

import (
	"math"
	"testing"
)

// statistics are running ones of channels that differ in mean and variance.
func statistics() RunningStatistics {
	return RunningStatistics{Mean: FromSlice([]float64{-1.5, 0.5}, 2), Variance: FromSlice([]float64{0.5, 3}, 2), Momentum: 0.1}
}

func TestVisionGradientsAgainstFiniteDifferences(t *testing.T) {
	normalised := [][]int{{3, 2, 2, 3}, {2}, {2}}
	checkGradients(t, []operation{
		{"BatchNorm in training", normalised, func(x []Tensor) Tensor {
			return x[0].BatchNorm(x[1], x[2], statistics(), 1e-5, true)
		}},
		{"BatchNorm in training, channels last", normalised, func(x []Tensor) Tensor {
			return x[0].ChannelsLast().BatchNorm(x[1], x[2], statistics(), 1e-5, true)
		}},
		{"BatchNorm in evaluation", normalised, func(x []Tensor) Tensor {
			return x[0].BatchNorm(x[1], x[2], statistics(), 1e-5, false)
		}},
		{"BatchNorm in evaluation, channels last", normalised, func(x []Tensor) Tensor {
			return x[0].ChannelsLast().BatchNorm(x[1], x[2], statistics(), 1e-5, false)
		}},
		{"BatchNorm twice before the backward pass", normalised, func(x []Tensor) Tensor {
			running := statistics()
			first := x[0].BatchNorm(x[1], x[2], running, 1e-5, true)
			return first.Add(x[0].Square().BatchNorm(x[1], x[2], running, 1e-5, true))
		}},
		{"GlobalAveragePool2D", [][]int{{2, 3, 2, 4}}, func(x []Tensor) Tensor { return x[0].GlobalAveragePool2D() }},
		{"GlobalAveragePool2D channels last", [][]int{{2, 3, 2, 4}}, func(x []Tensor) Tensor {
			return x[0].ChannelsLast().GlobalAveragePool2D()
		}},
		{"MaxPool2D with padding, channels last", [][]int{{2, 3, 5, 5}}, func(x []Tensor) Tensor {
			return x[0].ChannelsLast().MaxPool2D(3, 2, 1)
		}},
		{"Conv2D without bias, strided, channels last", [][]int{{2, 3, 5, 5}, {4, 3, 3, 3}}, func(x []Tensor) Tensor {
			return x[0].ChannelsLast().Conv2D(x[1], Tensor{}, 2, 1)
		}},
		{"ReLUInPlace", [][]int{{9}}, func(x []Tensor) Tensor { return x[0].Clone().ReLUInPlace() }},
		{"AddInPlace", [][]int{{3, 4}, {4}}, func(x []Tensor) Tensor { return x[0].Scale(2).AddInPlace(x[1]).ReLUInPlace() }},
		{"BatchNorm and ReLUInPlace", normalised, func(x []Tensor) Tensor {
			return x[0].BatchNorm(x[1], x[2], statistics(), 1e-5, true).ReLUInPlace()
		}},
	})
}

func TestBatchNorm(t *testing.T) {
	const epsilon = 1e-3
	values := []float64{1, 2, 4, 10, 3, -1, 5, 0} // 2×2×2×1: rows, channels, height
	scale, shift := []float64{2, -3}, []float64{0.5, 1}
	for _, dtype := range []DType{Float32, Float64} {
		for _, last := range []bool{false, true} {
			Tidy(func() {
				tolerance := map[DType]float64{Float32: 1e-5, Float64: 1e-12}[dtype]
				to := func(x Tensor) Tensor { return x.To(dtype, CPU) }
				x := to(FromSlice(values, 2, 2, 2, 1))
				if last {
					x = x.ChannelsLast()
				}
				running := statistics()
				running.Mean, running.Variance = to(running.Mean), to(running.Variance)
				weight, bias := to(FromSlice(scale, 2)), to(FromSlice(shift, 2))
				check := func(what string, got Tensor, want []float64) {
					t.Helper()
					for i, v := range ToSlice[float64](got.To(Float64, CPU)) {
						if math.Abs(v-want[i]) > tolerance*(1+math.Abs(want[i])) {
							t.Errorf("%v, channels last %v: %s: element %d is %v, want %v", dtype, last, what, i, v, want[i])
						}
					}
				}
				normalise := func(mean, variance [2]float64) []float64 {
					want := make([]float64, len(values))
					for i, v := range values {
						c := i / 2 % 2
						want[i] = scale[c]*(v-mean[c])/math.Sqrt(variance[c]+epsilon) + shift[c]
					}
					return want
				}
				check("evaluation", x.BatchNorm(weight, bias, running, epsilon, false), normalise([2]float64{-1.5, 0.5}, [2]float64{0.5, 3}))
				check("mean after evaluation", running.Mean, []float64{-1.5, 0.5})

				// The channels are 1, 2, 3, -1 and 4, 10, 5, 0.
				mean, variance := [2]float64{1.25, 4.75}, [2]float64{35. / 16, 203. / 16}
				y := x.BatchNorm(weight, bias, running, epsilon, true)
				check("training", y, normalise(mean, variance))
				check("mean", running.Mean, []float64{0.9*-1.5 + 0.1*1.25, 0.9*0.5 + 0.1*4.75})
				check("variance", running.Variance, []float64{0.9*0.5 + 0.1*35/12, 0.9*3 + 0.1*203/12})
				if y.IsChannelsLast() != last {
					t.Errorf("%v: normalisation changes the order in memory", dtype)
				}
			})
		}
	}
}

func TestInPlace(t *testing.T) {
	Tidy(func() {
		x := FromSlice([]float64{-1, 2, 0, -4}, 2, 2)
		x.AddInPlace(FromSlice([]float64{3, -5}, 2)).ReLUInPlace()
		for i, v := range ToSlice[float64](x) {
			if want := []float64{2, 0, 3, 0}[i]; v != want {
				t.Errorf("element %d is %v, want %v", i, v, want)
			}
		}
		counter := Full(41, Int64, CPU)
		counter.Increment()
		if got := ToSlice[int64](counter); got[0] != 42 {
			t.Errorf("counter is %d", got[0])
		}
		leaf := Full(1, Float64, CPU, 2).SetRequiresGrad(true)
		for _, c := range []struct {
			op string
			f  func()
		}{
			{"ReLUInPlace", func() { leaf.ReLUInPlace() }},
			{"AddInPlace", func() { leaf.AddInPlace(leaf) }},
			{"AddInPlace", func() { Full(1, Float64, CPU, 2).AddInPlace(Full(1, Float64, CPU, 3)) }},
			{"Backward", func() {
				y := leaf.Exp()
				y.AddInPlace(leaf).Sum().Backward() // exp needs its result
			}},
			{"BatchNorm", func() {
				Full(1, Float64, CPU, 2, 3, 2, 2).BatchNorm(leaf, leaf, statistics(), 1e-5, true)
			}},
		} {
			if e := refused(t, c.op, c.f); e.Op != c.op {
				t.Errorf("error of %q, want %q: %v", e.Op, c.op, e)
			}
		}
	})
}

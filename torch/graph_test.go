package torch

import (
	"fmt"
	"slices"
	"testing"
)

// devices are those that this machine has.
func devices() []Device {
	if CUDADevices() > 0 {
		return []Device{CPU, CUDA(0)}
	}
	return []Device{CPU}
}

// A graph reads anew what its body reads from outside, changes what is there, and is right
// again after its body has failed.
func TestGraph(t *testing.T) {
	for _, device := range devices() {
		t.Run(fmt.Sprint(device), func(t *testing.T) {
			Tidy(func() {
				x, sum := Full(1, Float32, device, 2), Full(0, Float32, device, 2)
				g := NewGraph(device, func() Tensor {
					sum.Set(sum.Add(x))
					return sum.Affine(10, 0)
				})
				defer g.Close()
				var got []float32
				for i := range 8 {
					x.Set(FromSlice([]float32{float32(i), 1}, 2))
					Tidy(func() { got = append(got, ToSlice[float32](g.Run())[0]) })
				}
				if want := []float32{0, 10, 30, 60, 100, 150, 210, 280}; !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
				failing := NewGraph(device, func() Tensor { return x.Add(released()) })
				for range warmUps + 2 {
					mustBeReleased(t, "a failing body", func() { failing.Run() })
				}
				failing.Close()
				failing.Close()
				if got := ToSlice[float32](g.Run())[0]; got != 350 {
					t.Errorf("after a failure %v, want 350", got)
				}
			})
		})
	}
}

// A graph trains: its gradients, its steps, whose rate changes, and its dropout, which draws
// anew each time, are those of work that is not recorded.
func TestGraphTrains(t *testing.T) {
	for _, device := range devices() {
		t.Run(fmt.Sprint(device), func(t *testing.T) {
			Tidy(func() {
				train := func(recorded bool) []float32 {
					Seed(5)
					weight := FromSlice([]float32{0.1, -0.2, 0.3, 0.4, -0.5, 0.6}, 2, 3).To(Float32, device).Detach().SetRequiresGrad(true)
					bias := Full(0, Float32, device, 2).SetRequiresGrad(true)
					optimizer := NewSGD([]Tensor{weight, bias})
					defer optimizer.Close()
					x, rate := Full(0, Float32, device, 4, 3), Full(0, Float64, device)
					step := func() Tensor {
						optimizer.ZeroGrad()
						loss := x.Dropout(0.5).Linear(weight, bias).ReverseGradient(Scalar(rate)).Square().Sum()
						loss.Backward()
						optimizer.Step(SGDOptions{LearningRate: Scalar(rate), Momentum: 0.9})
						return loss.Detach()
					}
					if recorded {
						g := NewGraph(device, step)
						defer g.Close()
						step = g.Run
					}
					var losses []float32
					for i := range 8 {
						values := make([]float32, 12)
						for j := range values {
							values[j] = float32((i*5+j*7)%11) / 11
						}
						x.Set(FromSlice(values, 4, 3))
						rate.Set(Full(0.1/float64(i+1), Float64, device))
						losses = append(losses, ToSlice[float32](step())...)
					}
					return append(losses, ToSlice[float32](weight)...)
				}
				want, got := train(false), train(true)
				for i, v := range got {
					if off := abs32(v - want[i]); off > 1e-5*abs32(want[i]) {
						t.Errorf("number %d is %v, not recorded %v", i, v, want[i])
					}
				}
			})
		})
	}
}

func abs32(v float32) float32 { return max(v, -v) }

// A GPU that is not there is an error, whatever libtorch this is.
func TestGraphWithoutItsDevice(t *testing.T) {
	refused(t, "a graph on a GPU that is not there", func() { NewGraph(CUDA(100), func() Tensor { return Full(1, Float32, CUDA(100), 1) }).Run() })
}

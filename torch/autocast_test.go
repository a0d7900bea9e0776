package torch

import (
	"math"
	"testing"
)

// Within Autocast products are bfloat16, parameters and gradients float32; a parameter that
// an optimiser changed is cast again.
func TestAutocast(t *testing.T) {
	device := CPU
	if CUDADevices() > 0 {
		device = CUDA(0)
	}
	Tidy(func() {
		x := FromSlice([]float32{1, 2, 3, 4}, 2, 2).To(Float32, device)
		weight := FromSlice([]float32{1.001, 0, 0, 1}, 2, 2).To(Float32, device).SetRequiresGrad(true)
		product := func() (y Tensor) {
			Autocast(device, func() { y = x.Linear(weight, Tensor{}) })
			return y
		}
		y := product()
		if y.DType() != BFloat16 {
			t.Fatalf("the product is %v", y.DType())
		}
		// bfloat16 keeps eight bits: 1.001 is 1.
		if got := ToSlice[float32](y.To(Float32, CPU)); got[0] != 1 || got[3] != 4 {
			t.Errorf("product %v", got)
		}
		y.To(Float32, device).Sum().Backward()
		gradient, ok := weight.Grad()
		if !ok || gradient.DType() != Float32 || math.Abs(gradient.Sum().Item()-20) > 1e-6 {
			t.Errorf("gradient %v", gradient)
		}
		NoGrad(func() { CopyFromSlice(weight, []float32{2, 0, 0, 1}) })
		if got := ToSlice[float32](product().To(Float32, CPU)); got[0] != 2 {
			t.Errorf("after a change of the parameter the product is %v", got)
		}
		if err := Try(func() { Autocast(device, func() { x.Linear(x.Reshape(-1), Tensor{}).MatMul(x) }) }); err == nil {
			t.Error("a wrong shape is no error")
		}
		if y := x.Linear(weight, Tensor{}); y.DType() != Float32 {
			t.Errorf("outside the product is %v", y.DType())
		}
	})
}

package nets

import (
	"math"
	"testing"

	"iwda/torch"
)

// Rows keep their size beside each other, and no loss of what comes out changes with the size
// of all of them.
func TestCommonScale(t *testing.T) {
	torch.Tidy(func() {
		values := []float64{3, -4, 0, 0, 6, -8, 0, 0, 0, 0, 0, 0}
		rms := math.Sqrt(125.0 / 12)
		for _, size := range []float64{1, 1000} {
			scaled := make([]float64, len(values))
			for i, v := range values {
				scaled[i] = size * v
			}
			x := torch.FromSlice(scaled, 3, 4).SetRequiresGrad(true)
			y := CommonScale(x)
			for i, v := range torch.ToSlice[float64](y.Detach()) {
				if want := values[i] / rms; math.Abs(v-want) > 1e-6 {
					t.Errorf("size %v: element %d is %v, want %v", size, i, v, want)
				}
			}
			y.Mul(torch.FromSlice([]float64{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, 3, 4)).Sum().Backward()
			gradient, _ := x.Grad()
			g := torch.ToSlice[float64](gradient)
			along, ofFirst := 0.0, 3*g[0]-4*g[1]
			for i := range g {
				along += g[i] * scaled[i]
			}
			if math.Abs(along) > 1e-5 {
				t.Errorf("size %v: the gradient along all rows is %v", size, along)
			}
			if want := 3 / (size * rms); math.Abs(g[2]-want) > 1e-5 {
				t.Errorf("size %v: derivative %v, want %v", size, g[2], want)
			}
			if math.Abs(ofFirst) < 1e-4/size { // that of a row by itself may change
				t.Errorf("size %v: the gradient along the first row is %v", size, ofFirst)
			}
		}
		zeros := torch.Full(0, torch.Float64, torch.CPU, 2, 2).SetRequiresGrad(true)
		CommonScale(zeros).Sum().Backward()
		gradient, _ := zeros.Grad()
		for _, v := range torch.ToSlice[float64](gradient) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("derivative %v at zeros", v)
			}
		}
	})
}

func TestUnitScale(t *testing.T) {
	torch.Tidy(func() {
		x := torch.FromSlice([]float64{3, -4, 0, 0, 600, -800, 0, 0, 0, 0, 0, 0}, 3, 4).SetRequiresGrad(true)
		y := UnitScale(x)
		want := []float64{1.2, -1.6, 0, 0, 1.2, -1.6, 0, 0, 0, 0, 0, 0}
		for i, v := range torch.ToSlice[float64](y.Detach()) {
			if math.Abs(v-want[i]) > 1e-6 {
				t.Errorf("element %d is %v, want %v", i, v, want[i])
			}
		}
		y.Mul(torch.FromSlice([]float64{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, 3, 4)).Sum().Backward()
		gradient, _ := x.Grad()
		g := torch.ToSlice[float64](gradient)
		// The derivative is across the row's direction, falls with its length, and is
		// finite at zero.
		for row, length := range []float64{5, 1000} {
			if along := 3*g[4*row] - 4*g[4*row+1]; math.Abs(along) > 1e-5 {
				t.Errorf("row %d: the gradient along it is %v", row, along)
			}
			if want := 6 / length; math.Abs(g[4*row+2]-want) > 1e-5 {
				t.Errorf("row %d: derivative %v, want %v", row, g[4*row+2], want)
			}
		}
		for _, v := range g[8:] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("derivative %v at a row of zeros", v)
			}
		}
	})
}

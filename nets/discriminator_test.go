package nets

import (
	"math"
	"testing"

	"iwda/torch"
)

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

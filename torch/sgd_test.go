package torch

import (
	"math"
	"slices"
	"testing"
)

func TestSGD(t *testing.T) {
	for _, o := range []SGDOptions{
		{LearningRate: 0.1},
		{LearningRate: 0.1, Momentum: 0.9},
		{LearningRate: 0.1, Momentum: 0.9, WeightDecay: 0.01},
		{LearningRate: 0.1, Momentum: 0.9, WeightDecay: 0.01, Nesterov: true},
	} {
		Tidy(func() {
			p := FromSlice([]float64{1, -2}, 2).SetRequiresGrad(true)
			optimizer := NewSGD([]Tensor{p})
			defer optimizer.Close()
			value, buffer := []float64{1, -2}, []float64{0, 0}
			for step := range 4 {
				optimizer.ZeroGrad()
				p.Square().Mul(FromSlice([]float64{1, 3}, 2)).Sum().Backward()
				options := o
				options.LearningRate = o.LearningRate / float64(step+1)
				optimizer.Step(options)
				for i := range value {
					g := 2*value[i]*[]float64{1, 3}[i] + o.WeightDecay*value[i]
					buffer[i] = o.Momentum*buffer[i] + g
					update := buffer[i]
					if o.Nesterov {
						update = g + o.Momentum*buffer[i]
					}
					value[i] -= options.LearningRate * update
				}
				for i, v := range ToSlice[float64](p) {
					if math.Abs(v-value[i]) > 1e-14 {
						t.Fatalf("%+v: step %d: parameter %d is %v, want %v", o, step, i, v, value[i])
					}
				}
			}
		})
	}
}

// The path for parameters and gradients that lie differently in memory must make the
// same steps.
func TestSGDWithOtherLayouts(t *testing.T) {
	Tidy(func() {
		values := []float64{1, 2, 3, 4, 5, 6}
		train := func(p Tensor, view func(Tensor) Tensor) []float64 {
			optimizer := NewSGD([]Tensor{p})
			defer optimizer.Close()
			for range 3 {
				optimizer.ZeroGrad()
				x := view(p)
				x.Square().Mul(FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3)).Sum().Backward()
				optimizer.Step(SGDOptions{LearningRate: 0.01, Momentum: 0.9, WeightDecay: 0.1, Nesterov: true})
			}
			return ToSlice[float64](view(p).Clone())
		}
		plain := train(FromSlice(values, 2, 3).SetRequiresGrad(true), func(p Tensor) Tensor { return p })
		columns := FromSlice([]float64{1, 4, 2, 5, 3, 6}, 3, 2).Transpose(0, 1).SetRequiresGrad(true)
		transposed := train(columns, func(p Tensor) Tensor { return p })
		for i := range plain {
			if math.Abs(plain[i]-transposed[i]) > 1e-14 {
				t.Fatalf("element %d: %v and %v", i, plain[i], transposed[i])
			}
		}
	})
}

func TestSGDMomentumInAndOut(t *testing.T) {
	Tidy(func() {
		o := SGDOptions{LearningRate: 0.1, Momentum: 0.9}
		step := func(p Tensor, s *SGD) {
			s.ZeroGrad()
			p.Square().Sum().Backward()
			s.Step(o)
		}
		a := Full(1, Float32, CPU, 3).SetRequiresGrad(true)
		first := NewSGD([]Tensor{a})
		if !first.Momentum()[0].IsZero() {
			t.Error("momentum before the first step")
		}
		step(a, first)
		b := a.Detach().Clone().SetRequiresGrad(true)
		second := NewSGD([]Tensor{b})
		second.SetMomentum(first.Momentum())
		step(a, first)
		step(b, second)
		if !slices.Equal(ToSlice[float32](a), ToSlice[float32](b)) {
			t.Error("a restored optimiser makes another step")
		}
		refused(t, "momentum of another shape", func() { second.SetMomentum([]Tensor{Full(0, Float32, CPU, 4)}) })
		refused(t, "too many buffers", func() { second.SetMomentum(make([]Tensor, 2)) })
		second.Close()
	})
}

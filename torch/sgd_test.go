package torch

import (
	"math"
	"slices"
	"testing"
)

func TestSGD(t *testing.T) {
	for _, o := range []SGDOptions{
		{LearningRate: Number(0.1)},
		{LearningRate: Number(0.1), Momentum: 0.9},
		{LearningRate: Number(0.1), Momentum: 0.9, WeightDecay: 0.01},
		{LearningRate: Number(0.1), Momentum: 0.9, WeightDecay: 0.01, Nesterov: true},
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
				rate := o.LearningRate.number / float64(step+1)
				options.LearningRate = Number(rate)
				optimizer.Step(options)
				for i := range value {
					g := 2*value[i]*[]float64{1, 3}[i] + o.WeightDecay*value[i]
					buffer[i] = o.Momentum*buffer[i] + g
					update := buffer[i]
					if o.Nesterov {
						update = g + o.Momentum*buffer[i]
					}
					value[i] -= rate * update
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

// A learning rate that is read from a scalar makes the same steps as the number, on both
// paths, and so do those of the scalar's later values.
func TestSGDReadsItsRate(t *testing.T) {
	Tidy(func() {
		rate := Full(0, Float64, CPU)
		train := func(transposed bool, rateOf func(v float64) Coefficient) []float32 {
			p := FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3).SetRequiresGrad(true)
			if transposed {
				p = FromSlice([]float32{1, 4, 2, 5, 3, 6}, 3, 2).Transpose(0, 1).SetRequiresGrad(true)
			}
			optimizer := NewSGD([]Tensor{p})
			defer optimizer.Close()
			for _, v := range []float64{0.1, 0.03, 0.2} {
				optimizer.ZeroGrad()
				p.Square().Mul(FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)).Sum().Backward()
				optimizer.Step(SGDOptions{LearningRate: rateOf(v), Momentum: 0.9, WeightDecay: 0.1})
			}
			return ToSlice[float32](p.Clone())
		}
		for _, transposed := range []bool{false, true} {
			want := train(transposed, Number)
			got := train(transposed, func(v float64) Coefficient {
				rate.Set(Full(v, Float64, CPU))
				return Scalar(rate)
			})
			for i, v := range got {
				if off := math.Abs(float64(v - want[i])); transposed && off > 1e-6 || !transposed && off > 0 {
					t.Errorf("transposed %v: parameter %d is %v, want %v", transposed, i, v, want[i])
				}
			}
		}
		p := Full(1, Float32, CPU, 2).SetRequiresGrad(true)
		optimizer := NewSGD([]Tensor{p})
		defer optimizer.Close()
		p.Sum().Backward()
		for what, rate := range map[string]Tensor{"a rate of two numbers": Full(1, Float64, CPU, 2), "a released rate": released()} {
			refused(t, what, func() { optimizer.Step(SGDOptions{LearningRate: Scalar(rate)}) })
		}
	})
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
				optimizer.Step(SGDOptions{LearningRate: Number(0.01), Momentum: 0.9, WeightDecay: 0.1, Nesterov: true})
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
		o := SGDOptions{LearningRate: Number(0.1), Momentum: 0.9}
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

// The gradients of all parameters are one vector, whose length a step returns.
func TestSGDNormOfAllParameters(t *testing.T) {
	Tidy(func() {
		a := FromSlice([]float64{1, -2}, 2).SetRequiresGrad(true)
		b := FromSlice([]float64{2, 4, 0}, 3).SetRequiresGrad(true)
		idle := FromSlice([]float64{7}, 1).SetRequiresGrad(true)
		optimizer := NewSGD([]Tensor{a, idle, b})
		defer optimizer.Close()
		if norm := optimizer.Step(SGDOptions{LearningRate: Number(0)}).Item(); norm != 0 {
			t.Errorf("norm %v without gradients", norm)
		}
		a.Square().Sum().Add(b.Square().Sum()).Scale(0.5).Backward() // the gradient is (a, b), of length 5
		if norm := optimizer.Step(SGDOptions{LearningRate: Number(0)}).Item(); math.Abs(norm-5) > 1e-14 {
			t.Errorf("norm %v, want 5", norm)
		}
		optimizer.ZeroGrad()
		a.Scale(math.Inf(1)).Sum().Backward()
		if norm := optimizer.Step(SGDOptions{LearningRate: Number(0)}).Item(); !math.IsInf(norm, 1) {
			t.Errorf("norm %v of an infinite gradient", norm)
		}
	})
}

// The norm of a step is measured as the step is made, in pieces, on any number
// of threads alike; that of parameters which lie otherwise in memory, by libtorch.
func TestSGDNorm(t *testing.T) {
	before := Threads()
	defer SetThreads(before)
	Tidy(func() {
		const rows, columns = 123, 457 // more than a piece, and no multiple of anything
		values := make([]float32, rows*columns)
		var squares float64
		for i := range values {
			values[i] = float32(math.Sin(float64(i)))
			squares += float64(values[i]) * float64(values[i])
		}
		want := 3 * math.Sqrt(squares+1)
		var first float64
		for _, threads := range []int{1, 2} {
			for _, transposed := range []bool{false, true} {
				SetThreads(threads)
				constant := FromSlice(values, rows, columns)
				p := Full(1, Float32, CPU, rows, columns).SetRequiresGrad(true)
				if transposed {
					p = Full(1, Float32, CPU, columns, rows).Transpose(0, 1).SetRequiresGrad(true)
				}
				one := Full(1, Float32, CPU, 1).SetRequiresGrad(true)
				optimizer := NewSGD([]Tensor{p, one})
				p.Mul(constant).Sum().Add(one.Sum()).Scale(3).Backward()
				got := optimizer.Step(SGDOptions{LearningRate: Number(0.5), Momentum: 0.9, WeightDecay: 2}).Item()
				optimizer.Close()
				if math.Abs(got/want-1) > 1e-6 {
					t.Errorf("%d threads, transposed %v: norm %v, want %v", threads, transposed, got, want)
				}
				if transposed {
					continue
				}
				if first == 0 {
					first = got
				}
				if got != first {
					t.Errorf("%v with one thread, %v with %d", first, got, threads)
				}
			}
		}
	})
}

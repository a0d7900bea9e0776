package nets

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"iwda/torch"
)

// largestSingularValue is that of a matrix of float32, by gonum.
func largestSingularValue(t *testing.T, w torch.Tensor) float64 {
	shape := w.Shape()
	values := make([]float64, w.Len())
	for i, v := range torch.ToSlice[float32](w) {
		values[i] = float64(v)
	}
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(shape[0], shape[1], values), mat.SVDNone) {
		t.Fatal("gonum finds no singular values")
	}
	return svd.Values(nil)[0]
}

// After some passes, each of which takes one step of the iteration, every layer's weight has
// the spectral norm 1, whatever its size was, and the discriminator stretches no difference.
func TestSpectralNormIsOne(t *testing.T) {
	torch.Seed(3)
	torch.Tidy(func() {
		d := NewDiscriminator(7, 5, 0)
		d.LimitSpectrum()
		for i, l := range d.layers {
			l.weight.Set(l.weight.Scale(math.Pow(10, float64(i))))
		}
		x := torch.RandN(torch.Float32, 40, 7)
		for range 200 {
			torch.Tidy(func() { d.Forward(x, true) })
		}
		for i, l := range d.layers {
			if norm := largestSingularValue(t, d.spectral[i].divide(l.weight).Detach()); math.Abs(norm-1) > 1e-4 {
				t.Errorf("layer %d has the spectral norm %v", i+1, norm)
			}
		}
		rows, logits := torch.ToSlice[float32](x), torch.ToSlice[float32](d.Forward(x, false).Detach())
		for i := 1; i < len(logits); i++ {
			var distance float64
			for j := range 7 {
				distance += math.Pow(float64(rows[7*i+j]-rows[7*i-7+j]), 2)
			}
			if moved := math.Abs(float64(logits[i] - logits[i-1])); moved > 1.0001*math.Sqrt(distance) {
				t.Errorf("inputs at distance %v have logits at distance %v", math.Sqrt(distance), moved)
			}
		}
	})
}

// The derivative of a loss of W/σ(W) goes through σ as well: it is that of finite
// differences, and a weight's own direction, which changes nothing, has none.
func TestSpectralNormGradient(t *testing.T) {
	torch.Seed(4)
	torch.Tidy(func() {
		const rows, columns = 3, 4
		w := torch.RandN(torch.Float64, rows, columns)
		coefficients := torch.RandN(torch.Float64, rows, columns)
		loss := func(w torch.Tensor) torch.Tensor {
			s := newSpectralNorm(w.Detach())
			for range 300 {
				s.iterate(w.Detach())
			}
			return s.divide(w).Mul(coefficients).Sum()
		}
		at := w.Clone().SetRequiresGrad(true)
		loss(at).Backward()
		gradient, _ := at.Grad()
		g, values := torch.ToSlice[float64](gradient), torch.ToSlice[float64](w)
		const step = 1e-5
		along := 0.0
		for i, v := range values {
			along += v * g[i]
			shifted := func(by float64) float64 {
				moved := append([]float64(nil), values...)
				moved[i] += by
				return loss(torch.FromSlice(moved, rows, columns)).Item()
			}
			if want := (shifted(step) - shifted(-step)) / (2 * step); math.Abs(g[i]-want) > 1e-6 {
				t.Errorf("derivative %d is %v, finite differences give %v", i, g[i], want)
			}
		}
		if math.Abs(along) > 1e-9 {
			t.Errorf("the derivative along the weight is %v", along)
		}
	})
}

// A weight of zeros stays one, and the vectors finite.
func TestSpectralNormOfZeros(t *testing.T) {
	torch.Tidy(func() {
		w := torch.Full(0, torch.Float32, torch.CPU, 3, 2)
		for _, v := range torch.ToSlice[float32](newSpectralNorm(w).divide(w)) {
			if v != 0 {
				t.Errorf("a zero became %v", v)
			}
		}
	})
}

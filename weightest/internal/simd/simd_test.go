package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// lengths have whole groups of lanes, rests, and neither.
var lengths = []int{0, 1, 3, 4, 5, 8, 31, 256}

func TestExp(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), -5e-324, -1e-300, -0.34657359, -0.3466, smallest, math.Nextafter(smallest, math.Inf(-1)), -745, -1e300, math.Inf(-1)}
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range lengths {
		x := make([]float64, n)
		for i := range x {
			x[i] = -math.Exp(12*r.Float64() - 5)
			if i < len(special) && n == 31 {
				x[i] = special[i]
			}
		}
		got := append([]float64(nil), x...)
		Exp(got)
		for i, from := range x {
			want := math.Exp(from)
			if from < smallest {
				want = 0
			}
			if !(math.Abs(got[i]-want) <= 4e-16*want) {
				t.Errorf("%d of %d: exp(%v) is %v, want %v", i, n, from, got[i], want)
			}
			if alone := exp(from); alone != got[i] {
				t.Errorf("%d of %d: exp(%v) is %v among others and %v alone", i, n, from, got[i], alone)
			}
		}
	}
	nan := []float64{math.NaN(), -1, -2, -3, math.NaN()}
	Exp(nan)
	if !math.IsNaN(nan[0]) || !math.IsNaN(nan[4]) {
		t.Errorf("the exponential of NaN is %v and, in the rest, %v", nan[0], nan[4])
	}
}

func normal(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func TestScaleShift(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range lengths {
		got, z, former := make([]float64, n), normal(r, n), normal(r, n)
		largest := append([]float64(nil), former...)
		ScaleShift(got, z, largest, 1.7, -0.3)
		for i := range got {
			if want := math.FMA(1.7, z[i], -0.3); got[i] != want || largest[i] != max(want, former[i]) {
				t.Errorf("%d of %d: %v and the largest %v, want %v and %v", i, n, got[i], largest[i], want, max(want, former[i]))
			}
		}
	}
}

// TestAddGram compares with sums of products, and with those of one pair of columns at a
// time, bit for bit.
func TestAddGram(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range lengths {
		for _, columns := range []int{0, 1, 2, 3, 4, 5, 11} {
			x, y := make([][]float64, columns), make([][]float64, columns)
			for i := range x {
				x[i], y[i] = normal(r, n), normal(r, n)
			}
			stride := columns + 2
			const before = 0.5
			sums := make([]float64, max(1, columns*stride))
			for i := range sums {
				sums[i] = before
			}
			AddGram(sums, stride, x, y)
			for i := range x {
				for j := range stride {
					want := before
					if j >= i && j < columns {
						want += dot(x[i], y[j])
						var plain float64
						for k := range n {
							plain += x[i][k] * y[j][k]
						}
						if !(math.Abs(want-before-plain) <= 1e-13*float64(n)) {
							t.Fatalf("%d rows: a product is %v, want %v", n, want-before, plain)
						}
					}
					if got := sums[i*stride+j]; got != want {
						t.Fatalf("%d rows, entry %d, %d of %d columns is %v, want %v", n, i, j, columns, got, want)
					}
				}
			}
		}
	}
}

func TestAddExp(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range lengths {
		x, shift, sum := normal(r, n), make([]float64, n), normal(r, n)
		got, total := append([]float64(nil), x...), append([]float64(nil), sum...)
		for i := range shift {
			shift[i] = x[i] + float64(i%3)
		}
		AddExp(got, shift, total)
		for i := range x {
			if want := exp(x[i] - shift[i]); got[i] != want || total[i] != sum[i]+want {
				t.Errorf("%d of %d: %v and the sum %v, want %v and %v", i, n, got[i], total[i], want, sum[i]+want)
			}
		}
	}
}

func TestNormalise(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range lengths {
		p, factor, z, scaled, mean := normal(r, n), normal(r, n), normal(r, n), make([]float64, n), normal(r, n)
		got, total := append([]float64(nil), p...), append([]float64(nil), mean...)
		moments := Normalise(got, factor, z, scaled, total)
		var want Moments
		for i := range p {
			q := p[i] * factor[i]
			if got[i] != q || scaled[i] != q*z[i] || total[i] != mean[i]+q*z[i] {
				t.Errorf("%d of %d: %v, %v and %v, want %v, %v and %v", i, n, got[i], scaled[i], total[i], q, q*z[i], mean[i]+q*z[i])
			}
			want.Sum += q
			want.First += q * z[i]
			want.Second += q * z[i] * z[i]
		}
		for _, difference := range []float64{moments.Sum - want.Sum, moments.First - want.First, moments.Second - want.Second} {
			if !(math.Abs(difference) <= 1e-13*float64(n)) {
				t.Errorf("%d rows: moments %+v, want %+v", n, moments, want)
			}
		}
	}
}

// TestColumns compares what is done to columns that lie one after the other with sums of
// products.
func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range lengths {
		for _, count := range []int{0, 1, 2, 7, 8, 9, 17} {
			columns, weights, factors := normal(r, n*count), normal(r, count), normal(r, n)
			combined, projected := normal(r, n), normal(r, count)
			before := append([]float64(nil), projected...)
			Combine(combined, columns, weights)
			Project(projected, columns, factors)
			for i := range n {
				var want float64
				for a, weight := range weights {
					want += weight * columns[a*n+i]
				}
				if !(math.Abs(combined[i]-want) <= 1e-14*float64(count)) {
					t.Fatalf("entry %d of %d, %d columns: %v, want %v", i, n, count, combined[i], want)
				}
			}
			for a := range count {
				want := before[a]
				for i, factor := range factors {
					want += columns[a*n+i] * factor
				}
				if !(math.Abs(projected[a]-want) <= 1e-13*float64(max(1, n))) {
					t.Fatalf("%d rows, column %d of %d: %v, want %v", n, a, count, projected[a], want)
				}
			}
			if count == 2 {
				Multiply(combined, columns[:n], columns[n:])
				for i, got := range combined {
					if want := columns[i] * columns[n+i]; got != want {
						t.Fatalf("entry %d of %d: the product is %v, want %v", i, n, got, want)
					}
				}
			}
		}
	}
}

func TestColumnsOfOtherLengths(t *testing.T) {
	three, four := make([]float64, 3), make([]float64, 4)
	for name, call := range map[string]func(){
		"AddExp":     func() { AddExp(three, three, four) },
		"ScaleShift": func() { ScaleShift(three, four, three, 1, 1) },
		"Normalise":  func() { Normalise(three, three, three, four, three) },
		"Combine":    func() { Combine(three, make([]float64, 7), make([]float64, 2)) },
		"Project":    func() { Project(make([]float64, 2), make([]float64, 7), three) },
		"Multiply":   func() { Multiply(three, four, three) },
		"AddGram":    func() { AddGram(make([]float64, 4), 2, [][]float64{three, three}, [][]float64{three, four}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took columns of other lengths", name)
				}
			}()
			call()
		}()
	}
}

func TestSumLogs(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	values, counts := make([]float64, 3000), make([]float64, 3000)
	var want, size float64
	for i := range values {
		values[i], counts[i] = math.Pow(10, 40*r.Float64()-20), float64(1+r.IntN(6))
		if i%100 == 0 {
			values[i] = math.Pow(10, 600*r.Float64()-300)
		}
		want += counts[i] * math.Log(values[i])
		size += counts[i] * math.Abs(math.Log(values[i]))
	}
	if got := SumLogs(values, counts); !(math.Abs(got-want) < 1e-14*size) {
		t.Errorf("the sum is %v, want %v", got, want)
	}
	want = 0
	for _, v := range values {
		want += math.Log(v)
	}
	if got := SumLogs(values, nil); !(math.Abs(got-want) < 1e-14*size) {
		t.Errorf("the sum is %v, want %v", got, want)
	}
	if got := SumLogs([]float64{2, 0, 3}, []float64{1, 0, 1}); !(math.Abs(got-math.Log(6)) < 1e-15) {
		t.Errorf("the sum is %v where a value of 0 does not count", got)
	}
	if got := SumLogs([]float64{2, 0}, []float64{1, 1}); !math.IsInf(got, -1) {
		t.Errorf("the sum is %v where a value is 0", got)
	}
}

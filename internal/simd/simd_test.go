package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// lengths have whole groups of lanes, rests, and neither.
var lengths = []int{0, 1, 3, 4, 5, 8, 31, 256}

// TestExp gives AddExp the numbers themselves.
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
		got := exponentials(x)
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
	nan := make([]float64, 13)
	nan[0], nan[8], nan[12] = math.NaN(), math.NaN(), math.NaN()
	nan = exponentials(nan)
	if !math.IsNaN(nan[0]) || !math.IsNaN(nan[8]) || !math.IsNaN(nan[12]) {
		t.Errorf("the exponential of NaN is %v, after eight values %v and in the rest %v", nan[0], nan[8], nan[12])
	}
}

func exponentials(x []float64) []float64 {
	e, none := make([]float64, len(x)), make([]float64, len(x))
	AddExp(e, x, none, append([]float64(nil), none...), Affine{Scale: 1})
	return e
}

func normal(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func TestRaise(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range lengths {
		z, former := normal(r, n), normal(r, n)
		largest := append([]float64(nil), former...)
		Raise(largest, z, Affine{1.7, -0.3})
		for i, got := range largest {
			if want := max(math.FMA(1.7, z[i], -0.3), former[i]); got != want {
				t.Errorf("%d of %d: the largest is %v, want %v", i, n, got, want)
			}
		}
	}
}

// TestAddGram compares with sums of products, and with those of one pair of columns at a
// time, bit for bit.
func TestAddGram(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range lengths {
		for _, columns := range []int{0, 1, 2, 3, 4, 5, 11, 17, 24} {
			x := make([][]float64, columns)
			for i := range x {
				x[i] = normal(r, n)
			}
			stride := columns + 2
			const before = 0.5
			sums := make([]float64, max(1, columns*stride))
			for i := range sums {
				sums[i] = before
			}
			AddGram(sums, stride, x)
			for i := range x {
				for j := range stride {
					want := before
					if j >= i && j < columns {
						want = addDot(want, x[i], x[j], 0)
						var plain float64
						for k := range n {
							plain += x[i][k] * x[j][k]
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

func TestAddRowGram(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, n := range []int{0, 1, 127, 128, 300} {
		for _, columns := range []int{0, 1, 5, 20} {
			rows, stride := normal(r, n*columns), columns+1
			sums := normal(r, columns*stride)
			before := append([]float64(nil), sums...)
			AddRowGram(sums, stride, rows, columns)
			for at, got := range sums {
				want := before[at]
				if i, j := at/stride, at%stride; j >= i && j < columns {
					for row := range n {
						want += rows[row*columns+i] * rows[row*columns+j]
					}
				}
				if !(math.Abs(got-want) <= 1e-13*float64(max(1, n))) {
					t.Fatalf("%d×%d: position %d has %v, want %v", n, columns, at, got, want)
				}
			}
		}
	}
}

func TestAddExp(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	of := Affine{0.8, 0.2}
	for _, n := range lengths {
		z, largest, sum := normal(r, n), make([]float64, n), normal(r, n)
		got, total := make([]float64, n), append([]float64(nil), sum...)
		for i := range largest {
			largest[i] = math.FMA(of.Scale, z[i], of.Shift) + float64(i%3)
		}
		AddExp(got, z, largest, total, of)
		for i := range z {
			if want := exp(math.FMA(of.Scale, z[i], of.Shift) - largest[i]); got[i] != want || total[i] != sum[i]+want {
				t.Errorf("%d of %d: %v and the sum %v, want %v and %v", i, n, got[i], total[i], want, sum[i]+want)
			}
		}
	}
}

func TestNormalise(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range lengths {
		p, factor, z, mean := normal(r, n), normal(r, n), normal(r, n), normal(r, n)
		got, total := append([]float64(nil), p...), append([]float64(nil), mean...)
		moments := Normalise(got, factor, z, total)
		var want Moments
		for i := range p {
			q := p[i] * factor[i]
			if got[i] != q || total[i] != mean[i]+q*z[i] {
				t.Errorf("%d of %d: %v and %v, want %v and %v", i, n, got[i], total[i], q, mean[i]+q*z[i])
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
		}
	}
}

// Many products at once are those of one after another, bit for bit.
func TestAllColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, n := range lengths[1:] {
		for _, m := range []int{1, 2, 5, 9, 16} {
			for _, count := range []int{1, 3, 4, 10} {
				columns, weights, before := normal(r, n*count), normal(r, m*count), normal(r, m*count)
				got, sums := make([]float64, m*n), append([]float64(nil), before...)
				CombineAll(got, columns, weights, n)
				ProjectAll(sums, columns, got, n)
				for i := range m {
					of, want := make([]float64, n), before[i*count:(i+1)*count]
					Combine(of, columns, weights[i*count:(i+1)*count])
					Project(want, columns, of)
					if !slices.Equal(got[i*n:(i+1)*n], of) || !slices.Equal(sums[i*count:(i+1)*count], want) {
						t.Fatalf("column %d of %d, of %d columns of %d rows: other bits", i, m, count, n)
					}
				}
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, rows := range lengths {
		for _, columns := range []int{0, 1, 3, 4, 6, 8, 13} {
			dstStride, srcStride := rows+1, columns+2
			src, dst := normal(r, rows*srcStride), normal(r, columns*dstStride)
			before := append([]float64(nil), dst...)
			Transpose(dst, src, rows, columns, dstStride, srcStride)
			for at, got := range dst {
				want := before[at]
				if i, j := at%dstStride, at/dstStride; i < rows {
					want = src[i*srcStride+j]
				}
				if got != want {
					t.Fatalf("%d×%d: position %d has %v, want %v", rows, columns, at, got, want)
				}
			}
		}
	}
}

func TestColumnsOfOtherLengths(t *testing.T) {
	three, four := make([]float64, 3), make([]float64, 4)
	for name, call := range map[string]func(){
		"AddExp":     func() { AddExp(three, three, three, four, Affine{}) },
		"Raise":      func() { Raise(three, four, Affine{}) },
		"Normalise":  func() { Normalise(three, three, three, four) },
		"Combine":    func() { Combine(three, make([]float64, 7), make([]float64, 2)) },
		"Project":    func() { Project(make([]float64, 2), make([]float64, 7), three) },
		"AddRowGram": func() { AddRowGram(four, 2, three, 2) },
		"Transpose":  func() { Transpose(four, three, 2, 2, 2, 2) },
		"AddGram":    func() { AddGram(make([]float64, 4), 2, [][]float64{three, four}) },
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

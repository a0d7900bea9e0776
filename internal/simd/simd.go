// Package simd has inner loops over columns of numbers: exponentials, products, and rows
// that become columns. On amd64 with AVX2 and FMA they take four values at a time.
//
// Every result has the same bits on every processor: the loops in Go that stand in where
// there is no AVX2 add and round in the same order, each product fused with its sum. Only
// WebAssembly, which cannot fuse them, has other last bits.
package simd

import (
	"fmt"
	"math"
)

// lanes is how many partial sums a product of two columns has: rows 0, 4, 8, … are added
// to the first, rows 1, 5, 9, … to the second.
const lanes = 4

// smallest is the least x of which an exponential is taken; below, it is 0.
const smallest = -708

// inverseFactorials are the coefficients of eʳ from r¹³ down. On |r| ≤ ½ log 2, what
// follows is below 2⁻⁵⁷ of the sum.
var inverseFactorials = [...]float64{
	1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040,
	1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1,
}

const (
	ln2High = 6.93147180369123816490e-01 // the leading 32 bits of log 2
	ln2Low  = 1.90821492927058770002e-10 // the rest
)

// Affine is z → s·z + b.
type Affine struct{ Scale, Shift float64 }

// Raise raises largest, entry by entry, to s·z + b where it is less. It panics where the
// lengths differ.
func Raise(largest, z []float64, of Affine) {
	checkRows(len(largest), len(z))
	for i := raiseWide(largest, z, of); i < len(z); i++ {
		if t := fma(of.Scale, z[i], of.Shift); t > largest[i] {
			largest[i] = t
		}
	}
}

// AddExp sets every x to e^(s·z + b - largest), where s·z + b is at most the entry of
// largest, with an error of less than two units in the last place, or to 0 below e⁻⁷⁰⁸, and
// adds it to the entry of sum. It panics where the lengths differ.
func AddExp(x, z, largest, sum []float64, of Affine) {
	checkRows(len(x), len(z), len(largest), len(sum))
	for i := addExpWide(x, z, largest, sum, of); i < len(x); i++ {
		x[i] = exp(fma(of.Scale, z[i], of.Shift) - largest[i])
		sum[i] += x[i]
	}
}

// checkRows panics where columns are not of one length.
func checkRows(rows int, others ...int) {
	for _, other := range others {
		if other != rows {
			panic(fmt.Sprintf("simd: columns of %d and %d rows", rows, other))
		}
	}
}

// exp returns 2ⁿ eʳ for x = n log 2 + r.
func exp(x float64) float64 {
	if x < smallest {
		return 0
	}
	n := math.RoundToEven(x * math.Log2E)
	r := fma(n, -ln2High, x)
	r = fma(n, -ln2Low, r)
	c := &inverseFactorials
	sum := fma(fma(fma(fma(fma(fma(c[0], r, c[1]), r, c[2]), r, c[3]), r, c[4]), r, c[5]), r, c[6])
	sum = fma(fma(fma(fma(fma(fma(fma(sum, r, c[7]), r, c[8]), r, c[9]), r, c[10]), r, c[11]), r, c[12]), r, c[13])
	return sum * math.Float64frombits(uint64(int64(n)+1023)<<52)
}

// Moments are sums over the rows of a column of probabilities p with the logits z.
type Moments struct {
	Sum    float64 // Σ p
	First  float64 // Σ p z
	Second float64 // Σ p z²
}

// Add adds the moments of other rows.
func (m *Moments) Add(other Moments) {
	m.Sum += other.Sum
	m.First += other.First
	m.Second += other.Second
}

// Normalise multiplies the column p by factor, row by row, adds p∘z to mean, and returns p's
// moments. It panics where the lengths differ.
func Normalise(p, factor, z, mean []float64) Moments {
	checkRows(len(p), len(factor), len(z), len(mean))
	var sums momentLanes
	whole := normaliseWide(&sums, p, factor, z, mean)
	for ; whole+lanes <= len(p); whole += lanes {
		for lane := range lanes {
			i := whole + lane
			p[i] *= factor[i]
			scaled := p[i] * z[i]
			mean[i] += scaled
			sums[0][lane] += p[i]
			sums[1][lane] += scaled
			sums[2][lane] = fma(scaled, z[i], sums[2][lane])
		}
	}
	m := Moments{sums[0].total(), sums[1].total(), sums[2].total()}
	for i := whole; i < len(p); i++ {
		p[i] *= factor[i]
		scaled := p[i] * z[i]
		mean[i] += scaled
		m.Sum += p[i]
		m.First += scaled
		m.Second = fma(scaled, z[i], m.Second)
	}
	return m
}

// partial are the sums of every fourth row.
type partial [lanes]float64

func (p *partial) total() float64 { return (p[0] + p[2]) + (p[1] + p[3]) }

// momentLanes are the partial sums of p, p∘z and p∘z∘z.
type momentLanes [3]partial

// AddGram adds the upper triangle of XᵀX to sums, row-major with the stride, where X is
// given by its columns, all of one length. It panics where the lengths differ.
func AddGram(sums []float64, stride int, x [][]float64) {
	if len(x) == 0 {
		return
	}
	for _, column := range x {
		checkRows(len(x[0]), len(column))
	}
	done := addGramWide(sums, stride, x)
	if done > 0 && done == len(x[0]) {
		return
	}
	for i, a := range x {
		for j, b := range x[i:] {
			sums[i*stride+i+j] = addDot(sums[i*stride+i+j], a, b, done)
		}
	}
}

// AddRowGram adds the upper triangle of RᵀR to sums, row-major with the stride, where rows
// are those of R, row-major. It panics where these are not whole ones.
func AddRowGram(sums []float64, stride int, rows []float64, columns int) {
	const block = 128 // rows, whose columns stay in the cache
	if columns == 0 {
		return
	}
	n := len(rows) / columns
	checkRows(len(rows), n*columns)
	storage, x := make([]float64, block*columns), make([][]float64, columns)
	for first := 0; first < n; first += block {
		height := min(block, n-first)
		Transpose(storage, rows[first*columns:], height, columns, height, columns)
		for j := range x {
			x[j] = storage[j*height : (j+1)*height]
		}
		AddGram(sums, stride, x)
	}
}

// Combine sets every entry of out to Σ_a weights[a]·columns[a], where the columns are as
// long as out and lie one after the other. It panics where the lengths differ.
func Combine(out, columns, weights []float64) {
	checkRows(len(out)*len(weights), len(columns))
	done := combineWide(out, columns, weights)
	clear(out[done:])
	for a, weight := range weights {
		for i, value := range columns[a*len(out)+done : (a+1)*len(out)] {
			out[done+i] = fma(weight, value, out[done+i])
		}
	}
}

// Project adds to every entry of sums the product of a column with the factors, where the
// columns are as long as factors and lie one after the other. It panics where the lengths
// differ.
func Project(sums, columns, factors []float64) {
	rows := len(factors)
	checkRows(rows*len(sums), len(columns))
	done := projectWide(sums, columns, factors)
	if done > 0 && done == rows {
		return
	}
	for a := range sums {
		sums[a] = addDot(sums[a], columns[a*rows:(a+1)*rows], factors, done)
	}
}

// CombineAll sets columns, of rows values each and one after the other, to products as [Combine] does: the
// i-th column of out has the i-th of the weights, of which each column has as many as there are columns. It
// panics where the lengths differ.
func CombineAll(out, columns, weights []float64, rows int) {
	count := len(columns) / rows
	checkRows(len(out)*count, len(weights)*rows)
	i := combinePairs(out, columns, weights, rows)
	for ; i < len(out)/rows; i++ {
		Combine(out[i*rows:(i+1)*rows], columns, weights[i*count:(i+1)*count])
	}
}

// ProjectAll adds the products of columns with factors, both of rows values each and one after the other,
// as [Project] does: the i-th of the sums, of which there are as many as columns, has the i-th of factors.
// It panics where the lengths differ.
func ProjectAll(sums, columns, factors []float64, rows int) {
	count, done := len(columns)/rows, 0
	checkRows(len(sums)*rows, len(factors)*count)
	if len(factors) > rows {
		done = projectTiles(sums, columns, factors, rows)
	}
	for i := range len(factors) / rows {
		of, sums := factors[i*rows:(i+1)*rows], sums[i*count:(i+1)*count]
		switch {
		case done == 0:
			Project(sums, columns, of)
		case done < rows:
			for a := range sums {
				sums[a] = addDot(sums[a], columns[a*rows:(a+1)*rows], of, done)
			}
		}
	}
}

// SumLogs returns Σ counts·log(values), where nil counts each value once, with one
// logarithm for as many factors as a float64 holds. A value that counts 0 times may be any.
func SumLogs(values, counts []float64) float64 {
	const least, most = 0x1p-500, 0x1p500
	var sum float64
	product := 1.0
	for i := 0; i < len(values); {
		if i+4 <= len(values) && (counts == nil || counts[i] == 1 && counts[i+1] == 1 && counts[i+2] == 1 && counts[i+3] == 1) {
			if next := product * ((values[i] * values[i+1]) * (values[i+2] * values[i+3])); next > least && next < most {
				product = next
				i += 4
				continue
			}
		}
		v, count := values[i], 1.0
		if counts != nil {
			count = counts[i]
		}
		i++
		switch next := product * v; {
		case count == 1 && next > least && next < most:
			product = next
		case count == 1:
			sum += math.Log(product) + math.Log(v)
			product = 1
		case count != 0:
			sum += count * math.Log(v)
		}
	}
	return sum + math.Log(product)
}

// Transpose sets dst, of columns rows, to the transpose of src, of rows rows:
//
//	dst[j·dstStride + i] = src[i·srcStride + j]   for i < rows, j < columns.
//
// The two must not overlap. It panics where a slice is too short.
func Transpose(dst, src []float64, rows, columns, dstStride, srcStride int) {
	if rows == 0 || columns == 0 {
		return
	}
	_, _ = dst[(columns-1)*dstStride+rows-1], src[(rows-1)*srcStride+columns-1]
	if transposeWide(dst, src, rows, columns, dstStride, srcStride) {
		return
	}
	for i := range rows {
		for j, value := range src[i*srcStride : i*srcStride+columns] {
			dst[j*dstStride+i] = value
		}
	}
}

// addDot returns the sum and the product of two columns of one length, of which that of the
// first rows is in the sum already where done is above 0.
func addDot(sum float64, a, b []float64, done int) float64 {
	if done == 0 {
		var s0, s1, s2, s3 float64 // which a compiler keeps in registers, unlike an array
		done = len(a) / lanes * lanes
		for k := 0; k < done; k += lanes {
			x, y := a[k:k+lanes], b[k:k+lanes]
			s0, s1, s2, s3 = fma(x[0], y[0], s0), fma(x[1], y[1], s1), fma(x[2], y[2], s2), fma(x[3], y[3], s3)
		}
		sums := partial{s0, s1, s2, s3}
		sum += sums.total()
	}
	for k := done; k < len(a); k++ {
		sum = fma(a[k], b[k], sum)
	}
	return sum
}

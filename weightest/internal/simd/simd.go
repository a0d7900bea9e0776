// Package simd has the inner loops of package weightest: exponentials, and products of
// columns. On amd64 with AVX2 and FMA they take four values at a time.
//
// Every result has the same bits on every processor: the loops in Go that stand in where
// there is no AVX2 add and round in the same order, each product fused with its sum.
package simd

import (
	"fmt"
	"math"
)

// lanes is how many partial sums a product of two columns has: rows 0, 4, 8, … are added
// to the first, rows 1, 5, 9, … to the second.
const lanes = 4

// smallest is the least x of which Exp takes the exponential; below, it is 0.
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

// Exp replaces every x, which is at most 0 or NaN, by eˣ with an error of less than two
// units in the last place, and by 0 below e⁻⁷⁰⁸.
func Exp(x []float64) {
	for i := expWide(x); i < len(x); i++ {
		x[i] = exp(x[i])
	}
}

// AddExp replaces every x by eˣ⁻ˢ, as Exp does, where s, at least x, is the entry of
// shift, and adds it to the entry of sum. It panics where the lengths differ.
func AddExp(x, shift, sum []float64) {
	checkRows(len(x), len(shift), len(sum))
	for i := addExpWide(x, shift, sum); i < len(x); i++ {
		x[i] = exp(x[i] - shift[i])
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
	r := math.FMA(n, -ln2High, x)
	r = math.FMA(n, -ln2Low, r)
	sum := inverseFactorials[0]
	for _, c := range inverseFactorials[1:] {
		sum = math.FMA(sum, r, c)
	}
	return sum * math.Float64frombits(uint64(int64(n)+1023)<<52)
}

// ScaleShift sets every entry t of a column to s·z + b and raises largest, entry by entry,
// to t where that is less. It panics where the lengths differ.
func ScaleShift(t, z, largest []float64, s, b float64) {
	checkRows(len(t), len(z), len(largest))
	for i := scaleShiftWide(t, z, largest, s, b); i < len(t); i++ {
		t[i] = math.FMA(s, z[i], b)
		if t[i] > largest[i] {
			largest[i] = t[i]
		}
	}
}

// Moments are sums over the rows of a column of probabilities p with the logits z.
type Moments struct {
	Sum    float64 // Σ p
	First  float64 // Σ p z
	Second float64 // Σ p z²
}

// Normalise multiplies the column p by factor, row by row, sets scaled to p∘z and adds
// that to mean, and returns p's moments. It panics where the lengths differ.
func Normalise(p, factor, z, scaled, mean []float64) Moments {
	checkRows(len(p), len(factor), len(z), len(scaled), len(mean))
	var sums momentLanes
	whole := normaliseWide(&sums, p, factor, z, scaled, mean)
	for ; whole+lanes <= len(p); whole += lanes {
		for lane := range lanes {
			i := whole + lane
			p[i] *= factor[i]
			scaled[i] = p[i] * z[i]
			mean[i] += scaled[i]
			sums[0][lane] += p[i]
			sums[1][lane] += scaled[i]
			sums[2][lane] = math.FMA(scaled[i], z[i], sums[2][lane])
		}
	}
	m := Moments{sums[0].total(), sums[1].total(), sums[2].total()}
	for i := whole; i < len(p); i++ {
		p[i] *= factor[i]
		scaled[i] = p[i] * z[i]
		mean[i] += scaled[i]
		m.Sum += p[i]
		m.First += scaled[i]
		m.Second = math.FMA(scaled[i], z[i], m.Second)
	}
	return m
}

// partial are the sums of every fourth row.
type partial [lanes]float64

func (p *partial) total() float64 { return (p[0] + p[2]) + (p[1] + p[3]) }

// momentLanes are the partial sums of p, p∘z and p∘z∘z.
type momentLanes [3]partial

// AddGram adds the upper triangle of XᵀY to sums, row-major with the stride, where X and
// Y are given by their columns, equally many, all of one length. It panics where the
// lengths differ.
func AddGram(sums []float64, stride int, x, y [][]float64) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("simd: %d and %d columns", len(x), len(y)))
	}
	for i := range x {
		checkRows(len(x[0]), len(x[i]), len(y[i]))
	}
	var tile [tileHeight][tileWidth]float64
	for i := 0; i < len(x); i += tileHeight {
		for j := i; j < len(y); j += tileWidth {
			dotTile(&tile, x, y, i, j)
			for row := range min(tileHeight, len(x)-i) {
				for column := max(0, i+row-j); column < min(tileWidth, len(y)-j); column++ {
					sums[(i+row)*stride+j+column] += tile[row][column]
				}
			}
		}
	}
}

// Combine sets every entry of out to Σ_a weights[a]·columns[a], where the columns are as
// long as out and lie one after the other. It panics where the lengths differ.
func Combine(out, columns, weights []float64) {
	checkRows(len(out)*len(weights), len(columns))
	for i := combineWide(out, columns, weights); i < len(out); i++ {
		var sum float64
		for a, weight := range weights {
			sum = math.FMA(weight, columns[a*len(out)+i], sum)
		}
		out[i] = sum
	}
}

// Project adds to every entry of sums the product of a column with the factors, where the
// columns are as long as factors and lie one after the other. It panics where the lengths
// differ.
func Project(sums, columns, factors []float64) {
	rows := len(factors)
	checkRows(rows*len(sums), len(columns))
	for a := projectWide(sums, columns, factors); a < len(sums); a++ {
		sums[a] += dot(columns[a*rows:(a+1)*rows], factors)
	}
}

// SumLogs returns Σ counts·log(values), where nil counts each value once, with one
// logarithm for as many factors as a float64 holds. A value that counts 0 times may be any.
func SumLogs(values, counts []float64) float64 {
	const least, most = 0x1p-500, 0x1p500
	var sum float64
	product := 1.0
	for i, v := range values {
		if counts != nil && counts[i] != 1 {
			if counts[i] != 0 {
				sum += counts[i] * math.Log(v)
			}
			continue
		}
		if next := product * v; next > least && next < most {
			product = next
			continue
		}
		sum += math.Log(product) + math.Log(v)
		product = 1
	}
	return sum + math.Log(product)
}

// Multiply sets every entry of out to the product of those of a and b. It panics where the
// lengths differ.
func Multiply(out, a, b []float64) {
	checkRows(len(out), len(a), len(b))
	for i := multiplyWide(out, a, b); i < len(out); i++ {
		out[i] = a[i] * b[i]
	}
}

// Products of tileHeight columns with tileWidth others are summed at the same time.
const tileHeight, tileWidth = 2, 4

// dotTile sets the tile to the products of the columns of x from the i-th and those of y
// from the j-th on; entries beyond the last columns mean nothing.
func dotTile(tile *[tileHeight][tileWidth]float64, x, y [][]float64, i, j int) {
	rows := len(x[i])
	done := dotTileWide(tile, x, y, i, j)
	if done == rows && done > 0 {
		return
	}
	for row := range tile {
		for column := range tile[row] {
			a, b := x[min(i+row, len(x)-1)], y[min(j+column, len(y)-1)]
			if done == 0 {
				tile[row][column] = dot(a, b)
				continue
			}
			for k := done; k < rows; k++ {
				tile[row][column] = math.FMA(a[k], b[k], tile[row][column])
			}
		}
	}
}

// dot returns the product of two columns of one length.
func dot(a, b []float64) float64 {
	var sums partial
	whole := len(a) / lanes * lanes
	for k := 0; k < whole; k += lanes {
		for lane := range sums {
			sums[lane] = math.FMA(a[k+lane], b[k+lane], sums[lane])
		}
	}
	sum := sums.total()
	for k := whole; k < len(a); k++ {
		sum = math.FMA(a[k], b[k], sum)
	}
	return sum
}

package simd

import (
	"math"

	"golang.org/x/sys/cpu"
)

// hasVectors says that the processor and the operating system have AVX2 and FMA.
var hasVectors = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// expTable is what the exponentials read, each number once for every lane: log₂ e, -log 2
// in two parts, the smallest x, the exponent's bias as an integer, and the coefficients.
type expTable [5 + len(inverseFactorials)][lanes]float64

var expNumbers = func() (table expTable) {
	numbers := append([]float64{math.Log2E, -ln2High, -ln2Low, smallest, math.Float64frombits(1023)}, inverseFactorials[:]...)
	for i, number := range numbers {
		for lane := range lanes {
			table[i][lane] = number
		}
	}
	return table
}()

// addExpWide does what AddExp does for the first entries and returns their number.
func addExpWide(x, z, largest, sum []float64, of Affine) int {
	whole := len(x) / lanes * lanes
	if !hasVectors || whole == 0 {
		return 0
	}
	addExpAVX2(&expNumbers, &x[0], &z[0], &largest[0], &sum[0], whole, of)
	return whole
}

// normaliseWide does what Normalise does for the first entries, sets the sums over them,
// and returns their number.
func normaliseWide(sums *momentLanes, p, factor, z, mean []float64) int {
	whole := len(p) / lanes * lanes
	if !hasVectors || whole == 0 {
		return 0
	}
	normaliseAVX2(sums, &p[0], &factor[0], &z[0], &mean[0], whole)
	return whole
}

// raiseWide does what Raise does for the first entries and returns their number.
func raiseWide(largest, z []float64, of Affine) int {
	whole := len(z) / lanes * lanes
	if !hasVectors || whole == 0 {
		return 0
	}
	raiseAVX2(&largest[0], &z[0], whole, of)
	return whole
}

// combineWide does what Combine does for the first entries and returns their number.
func combineWide(out, columns, weights []float64) int {
	whole := len(out) / lanes * lanes
	if !hasVectors || whole == 0 || len(weights) == 0 {
		return 0
	}
	combineAVX2(&out[0], &columns[0], &weights[0], whole, len(out), len(weights))
	return whole
}

// combinePairs does what CombineAll does for the first columns of out and returns their number.
func combinePairs(out, columns, weights []float64, rows int) (done int) {
	whole, count := rows/lanes*lanes, len(columns)/rows
	if !hasVectors || whole == 0 || count == 0 {
		return 0
	}
	for ; (done+2)*rows <= len(out); done += 2 {
		combinePairAVX2(&out[done*rows], &columns[0], &weights[done*count], whole, rows, count)
		for i := whole; i < rows; i++ {
			for of := done; of < done+2; of++ {
				var sum float64
				for a, weight := range weights[of*count : (of+1)*count] {
					sum = math.FMA(weight, columns[a*rows+i], sum)
				}
				out[of*rows+i] = sum
			}
		}
	}
	return done
}

// projectTiles does what ProjectAll does for the first rows and returns their number.
func projectTiles(sums, columns, factors []float64, rows int) int {
	whole := rows / lanes * lanes
	if !hasVectors || whole == 0 {
		return 0
	}
	m, n := len(factors)/rows, len(columns)/rows
	// The last column stands in for those beyond it.
	var left [tileHeight]*float64
	var right [tileWidth]*float64
	for j := 0; j < n; j += tileWidth {
		for b := range right {
			right[b] = &columns[min(j+b, n-1)*rows]
		}
		for i := 0; i < m; i += tileHeight {
			for a := range left {
				left[a] = &factors[min(i+a, m-1)*rows]
			}
			if i+tileHeight <= m && j+tileWidth <= n {
				addTileAVX2(&sums[i*n+j], n, &left, &right, whole)
				continue
			}
			var some [tileHeight][tileWidth]float64
			addTileAVX2(&some[0][0], tileWidth, &left, &right, whole)
			for a := range min(tileHeight, m-i) {
				for b := range min(tileWidth, n-j) {
					sums[(i+a)*n+j+b] += some[a][b]
				}
			}
		}
	}
	return whole
}

// projected is the number of columns that projectAVX2 multiplies at the same time.
const projected = 8

// projectWide does what Project does for the first rows and returns their number.
func projectWide(sums, columns, factors []float64) int {
	rows := len(factors)
	whole := rows / lanes * lanes
	if !hasVectors || whole == 0 {
		return 0
	}
	var products [projected]float64
	for first := 0; first < len(sums); first += projected {
		// The last column stands in for those beyond it.
		var some [projected]*float64
		for i := range some {
			some[i] = &columns[min(first+i, len(sums)-1)*rows]
		}
		projectAVX2(&products, &some, &factors[0], whole)
		for i, product := range products[:min(projected, len(sums)-first)] {
			sums[first+i] += product
		}
	}
	return whole
}

// Products of two columns with four others are summed at the same time.
const tileHeight, tileWidth = 2, 4

// addGramWide does what AddGram does for the first rows and returns their number.
func addGramWide(sums []float64, stride int, x [][]float64) int {
	whole := len(x[0]) / lanes * lanes
	if !hasVectors || whole == 0 {
		return 0
	}
	n := len(x)
	// The last column stands in for those beyond it.
	var left [tileHeight]*float64
	var right [tileWidth]*float64
	for i := 0; i < n; i += tileHeight {
		for a := range left {
			left[a] = &x[min(i+a, n-1)][0]
		}
		for j := i; j < n; j += tileWidth {
			for b := range right {
				right[b] = &x[min(j+b, n-1)][0]
			}
			if j+1 >= i+tileHeight && i+tileHeight <= n && j+tileWidth <= n {
				addTileAVX2(&sums[i*stride+j], stride, &left, &right, whole)
				continue
			}
			var some [tileHeight][tileWidth]float64
			addTileAVX2(&some[0][0], tileWidth, &left, &right, whole)
			for a := range min(tileHeight, n-i) {
				for b := max(0, i+a-j); b < min(tileWidth, n-j); b++ {
					sums[(i+a)*stride+j+b] += some[a][b]
				}
			}
		}
	}
	return whole
}

// transposeWide does what Transpose does, or nothing, and tells which.
func transposeWide(dst, src []float64, rows, columns, dstStride, srcStride int) bool {
	const block = 32 // rows, whose values stay in the fastest cache
	if !hasVectors || rows < lanes || columns < lanes {
		return false
	}
	wholeColumns := columns / lanes * lanes
	for i := 0; i < rows; {
		height := min(block, rows-i) / lanes * lanes
		if height == 0 { // the last rows, again with some of those before
			i, height = rows-lanes, lanes
		}
		transposeAVX2(&dst[i], &src[i*srcStride], height, wholeColumns, dstStride, srcStride)
		if j := columns - lanes; wholeColumns < columns { // the last columns, likewise
			transposeAVX2(&dst[j*dstStride+i], &src[i*srcStride+j], height, lanes, dstStride, srcStride)
		}
		i += height
	}
	return true
}

// The functions below are in the files of assembly; n, rows and columns are
// multiples of lanes, and not 0.

//go:noescape
func addExpAVX2(table *expTable, x, z, largest, sum *float64, n int, of Affine)

//go:noescape
func normaliseAVX2(sums *momentLanes, p, factor, z, mean *float64, n int)

//go:noescape
func raiseAVX2(largest, z *float64, n int, of Affine)

// combineAVX2 reads count columns, each stride values after the one before.
//
//go:noescape
func combineAVX2(out, columns, weights *float64, n, stride, count int)

// combinePairAVX2 sets two columns, stride values apart, by count weights each.
//
//go:noescape
func combinePairAVX2(out, columns, weights *float64, n, stride, count int)

//go:noescape
func projectAVX2(products *[projected]float64, columns *[projected]*float64, factors *float64, n int)

// addTileAVX2 adds the products of columns of x and y to rows of sums that are stride values
// apart.
//
//go:noescape
func addTileAVX2(sums *float64, stride int, x *[tileHeight]*float64, y *[tileWidth]*float64, n int)

//go:noescape
func transposeAVX2(dst, src *float64, rows, columns, dstStride, srcStride int)

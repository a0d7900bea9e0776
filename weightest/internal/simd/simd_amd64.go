package simd

import "math"

// wide tells whether the processor and the operating system have AVX2 and FMA.
var wide = hasAVX2AndFMA()

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

// expWide does what Exp does for the first entries and returns their number.
func expWide(x []float64) int {
	whole := len(x) / lanes * lanes
	if !wide || whole == 0 {
		return 0
	}
	expAVX2(&expNumbers, &x[0], whole)
	return whole
}

// addExpWide does what AddExp does for the first entries and returns their number.
func addExpWide(x, shift, sum []float64) int {
	whole := len(x) / lanes * lanes
	if !wide || whole == 0 {
		return 0
	}
	addExpAVX2(&expNumbers, &x[0], &shift[0], &sum[0], whole)
	return whole
}

// normaliseWide does what Normalise does for the first entries, sets the sums over them,
// and returns their number.
func normaliseWide(sums *momentLanes, p, factor, z, scaled, mean []float64) int {
	whole := len(p) / lanes * lanes
	if !wide || whole == 0 {
		return 0
	}
	normaliseAVX2(sums, &p[0], &factor[0], &z[0], &scaled[0], &mean[0], whole)
	return whole
}

// scaleShiftWide does what ScaleShift does for the first entries and returns their number.
func scaleShiftWide(t, z, largest []float64, s, b float64) int {
	whole := len(t) / lanes * lanes
	if !wide || whole == 0 {
		return 0
	}
	scaleShiftAVX2(&t[0], &z[0], &largest[0], whole, s, b)
	return whole
}

// combineWide does what Combine does for the first entries and returns their number.
func combineWide(out, columns, weights []float64) int {
	whole := len(out) / lanes * lanes
	if !wide || whole == 0 || len(weights) == 0 {
		return 0
	}
	combineAVX2(&out[0], &columns[0], &weights[0], whole, len(out), len(weights))
	return whole
}

// projected is the number of columns that projectAVX2 multiplies at the same time.
const projected = 8

// projectWide does what Project does for all columns, or for none, and returns their number.
func projectWide(sums, columns, factors []float64) int {
	rows := len(factors)
	whole := rows / lanes * lanes
	if !wide || whole == 0 {
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
			column := columns[(first+i)*rows : (first+i+1)*rows]
			for row := whole; row < rows; row++ {
				product = math.FMA(column[row], factors[row], product)
			}
			sums[first+i] += product
		}
	}
	return len(sums)
}

// multiplyWide does what Multiply does for the first entries and returns their number.
func multiplyWide(out, a, b []float64) int {
	whole := len(out) / lanes * lanes
	if !wide || whole == 0 {
		return 0
	}
	multiplyAVX2(&out[0], &a[0], &b[0], whole)
	return whole
}

// dotTileWide does what dotTile does for the first rows and returns their number.
func dotTileWide(tile *[tileHeight][tileWidth]float64, x, y [][]float64, i, j int) int {
	whole := len(x[i]) / lanes * lanes
	if !wide || whole == 0 {
		return 0
	}
	last := len(x) - 1
	dotTileAVX2(tile, &x[i][0], &x[min(i+1, last)][0], &y[j][0], &y[min(j+1, last)][0], &y[min(j+2, last)][0], &y[min(j+3, last)][0], whole)
	return whole
}

// The functions below are in simd_amd64.s; n is a multiple of lanes and not 0.

func hasAVX2AndFMA() bool

//go:noescape
func expAVX2(table *expTable, x *float64, n int)

//go:noescape
func addExpAVX2(table *expTable, x, shift, sum *float64, n int)

//go:noescape
func normaliseAVX2(sums *momentLanes, p, factor, z, scaled, mean *float64, n int)

//go:noescape
func scaleShiftAVX2(t, z, largest *float64, n int, s, b float64)

// combineAVX2 reads count columns, each stride values after the one before.
//
//go:noescape
func combineAVX2(out, columns, weights *float64, n, stride, count int)

//go:noescape
func projectAVX2(products *[projected]float64, columns *[projected]*float64, factors *float64, n int)

//go:noescape
func multiplyAVX2(out, a, b *float64, n int)

//go:noescape
func dotTileAVX2(tile *[tileHeight][tileWidth]float64, x0, x1, y0, y1, y2, y3 *float64, n int)

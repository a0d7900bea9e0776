package normalise

import (
	"math"
	"slices"
)

// StretchAlike changes the target's deviations to the source's times one number, which
// makes the mean variance of the standardised columns the same in both domains. Where a column
// varies more or less in the target than in the source it goes on doing so. Columns that are
// constant in a domain are left as they are.
func StretchAlike(source, target *Statistics) {
	changing := changingColumns(*source, *target)
	stretch := rootMeanSquare(target.Deviation, changing) / rootMeanSquare(source.Deviation, changing)
	for _, j := range changing {
		target.Deviation[j] = divisor(stretch * float64(source.Deviation[j]))
	}
}

// ShareScale changes the deviations of both domains so that all columns of the source are
// divided by the same number, the root of their mean variance, and those of the target by what
// brings them to the source's as before. Columns keep their size beside each other, as
// principal components do of which the last say next to nothing. Columns that are constant in
// a domain are left as they are.
func ShareScale(source, target *Statistics) {
	changing := changingColumns(*source, *target)
	shared := rootMeanSquare(source.Deviation, changing)
	for _, j := range changing {
		own := float64(source.Deviation[j])
		source.Deviation[j] = divisor(shared)
		target.Deviation[j] = divisor(float64(target.Deviation[j]) / own * shared)
	}
}

// changingColumns returns the numbers of the columns that are constant in neither domain.
func changingColumns(source, target Statistics) (columns []int) {
	for j := range source.Deviation {
		_, inSource := slices.BinarySearch(source.Constant, j)
		_, inTarget := slices.BinarySearch(target.Constant, j)
		if !inSource && !inTarget {
			columns = append(columns, j)
		}
	}
	return columns
}

// rootMeanSquare is that of some of the values.
func rootMeanSquare(values []float32, of []int) float64 {
	sum := 0.0
	for _, j := range of {
		sum += float64(values[j]) * float64(values[j])
	}
	return math.Sqrt(sum / float64(len(of)))
}

// divisor returns the float32 next to x by which a value can be divided.
func divisor(x float64) float32 {
	const smallest = 0x1p-126 // of the float32 that have all their digits
	return float32(min(max(x, smallest), math.MaxFloat32))
}

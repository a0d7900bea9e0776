// Package kernel resizes images as Image.resize of the Python imaging library Pillow does, byte
// for byte.
package kernel

import (
	"fmt"
	"math"
)

// Filter is the function that weighs an input by its distance from an output's centre.
type Filter int

const (
	// Bilinear is the triangle of half width 1.
	Bilinear Filter = iota
	// Bicubic is the cubic convolution kernel of half width 2 with a = -1/2.
	Bicubic
)

func (f Filter) at(x float64) float64 {
	x = math.Abs(x)
	switch {
	case f == Bilinear && x < 1:
		return 1 - x
	case f == Bicubic && x < 1:
		return (1.5*x-2.5)*x*x + 1
	case f == Bicubic && x < 2:
		return (((x-5)*x+8)*x - 4) * -0.5
	default:
		return 0
	}
}

// fractionBits of a weight are Pillow's: they leave, in 32, 8 bits for the byte and 2 for overshoot.
const fractionBits = 32 - 8 - 2

// kernel is a filter laid out for one input and output length: the inputs of each
// output, and their weights. Its zero value is empty, see set.
type kernel struct {
	windows []window // of each output
	weights []int32  // in units of 2^-fractionBits

	from, to int
	filter   Filter
	exact    []float64
}

// window is the inputs from first on that an output looks at, as many as it has weights:
// those from start on.
type window struct{ first, start, length int }

// set lays the kernel out anew, unless it already has these lengths and filter. Where
// the output is shorter, the filter widens with it, so that no input is passed over.
// Beyond the ends there is nothing: weights are scaled to sum one. It panics for a filter
// that there is not.
func (k *kernel) set(from, to int, filter Filter) {
	if filter != Bilinear && filter != Bicubic {
		panic(fmt.Sprintf("kernel: no filter %d", filter))
	}
	if k.from == from && k.to == to && k.filter == filter {
		return
	}
	k.from, k.to, k.filter = from, to, filter
	k.windows, k.weights = k.windows[:0], k.weights[:0]
	scale := float64(from) / float64(to)
	width := max(scale, 1) // of the filter's unit
	reach := width
	if filter == Bicubic {
		reach *= 2
	}
	for i := range to {
		centre := (float64(i) + 0.5) * scale
		first := max(int(centre-reach+0.5), 0)
		end := min(int(centre+reach+0.5), from)
		k.exact = k.exact[:0]
		total := 0.0
		for j := first; j < end; j++ {
			weight := filter.at((float64(j) - centre + 0.5) * (1 / width))
			k.exact = append(k.exact, weight)
			total += weight
		}
		k.add(first, total)
	}
}

// add appends the window of the exact weights, in fixed point and without zeros at
// its ends.
func (k *kernel) add(first int, total float64) {
	start := len(k.weights)
	for _, weight := range k.exact {
		fixed := int32(math.Round(weight / total * (1 << fractionBits)))
		if fixed == 0 && len(k.weights) == start {
			first++
			continue
		}
		k.weights = append(k.weights, fixed)
	}
	for len(k.weights) > start && k.weights[len(k.weights)-1] == 0 {
		k.weights = k.weights[:len(k.weights)-1]
	}
	k.windows = append(k.windows, window{first, start, len(k.weights) - start})
}

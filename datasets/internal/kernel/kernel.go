// Package kernel lays out the filters with which images are resized, as Image.resize of
// the Python imaging library Pillow does, byte for byte.
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

// support is the half width of the filter.
func (f Filter) support() float64 {
	if f == Bicubic {
		return 2
	}
	return 1
}

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

// FractionBits of a weight leave, in 32, 8 bits for the byte and 2 for overshoot.
const FractionBits = 32 - 8 - 2

// Kernel is a filter laid out for one input and output length: the inputs of each
// output, and their weights. Its zero value is empty, see [Kernel.Set].
type Kernel struct {
	Windows []Window // of each output
	// Weights are in units of 2^-FractionBits; a negative one is its complement to
	// 2^64, so that a product with two values in the halves of a word adds up.
	Weights []uint64

	from, to int
	filter   Filter
	exact    []float64
}

// Window is the inputs from First on that an output looks at, as many as it has weights:
// those from Start on.
type Window struct{ First, Start, Length int }

// Set lays the kernel out anew, unless it already has these lengths and filter. Where
// the output is shorter, the filter widens with it, so that no input is passed over.
// Beyond the ends there is nothing: weights are scaled to sum one. It panics for a filter
// that there is not.
func (k *Kernel) Set(from, to int, filter Filter) {
	if filter != Bilinear && filter != Bicubic {
		panic(fmt.Sprintf("kernel: no filter %d", filter))
	}
	if k.from == from && k.to == to && k.filter == filter {
		return
	}
	k.from, k.to, k.filter = from, to, filter
	k.Windows, k.Weights = k.Windows[:0], k.Weights[:0]
	scale := float64(from) / float64(to)
	width := max(scale, 1) // of the filter's unit
	reach := filter.support() * width
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
func (k *Kernel) add(first int, total float64) {
	start := len(k.Weights)
	for _, weight := range k.exact {
		fixed := int64(math.Round(weight / total * (1 << FractionBits)))
		if fixed == 0 && len(k.Weights) == start {
			first++
			continue
		}
		k.Weights = append(k.Weights, uint64(fixed))
	}
	for len(k.Weights) > start && k.Weights[len(k.Weights)-1] == 0 {
		k.Weights = k.Weights[:len(k.Weights)-1]
	}
	k.Windows = append(k.Windows, Window{first, start, len(k.Weights) - start})
}

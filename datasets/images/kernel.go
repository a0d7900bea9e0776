package images

import "math"

// kernel is a filter laid out for one input and output length: the inputs of each
// output, and their weights.
type kernel struct {
	from, to int
	filter   Filter
	windows  []window
	// weights are in units of 2^-fractionBits; a negative one is its complement to
	// 2^64, so that a product with two values in the halves of a word adds up.
	weights []uint64
	exact   []float64
}

// window is the inputs from first on that an output looks at, as many as it has
// weights.
type window struct{ first, weights, length int }

// set lays the kernel out anew, unless it already has these lengths and filter.
func (k *kernel) set(from, to int, filter Filter) {
	if k.from == from && k.to == to && k.filter == filter {
		return
	}
	k.from, k.to, k.filter = from, to, filter
	k.windows, k.weights = k.windows[:0], k.weights[:0]
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
func (k *kernel) add(first int, total float64) {
	start := len(k.weights)
	for _, weight := range k.exact {
		fixed := int64(math.Round(weight / total * (1 << fractionBits)))
		if fixed == 0 && len(k.weights) == start {
			first++
			continue
		}
		k.weights = append(k.weights, uint64(fixed))
	}
	for len(k.weights) > start && k.weights[len(k.weights)-1] == 0 {
		k.weights = k.weights[:len(k.weights)-1]
	}
	k.windows = append(k.windows, window{first, start, len(k.weights) - start})
}

package intervals

import (
	"math"

	"iwda/internal/evenly"
)

// domain says which of the two samples a row is in, so that rows of the same number in
// both are resampled independently.
type domain uint64

const (
	sourceDomain domain = iota + 1
	targetDomain
)

// rowKeys hashes the seed, the domain and the numbers of rows to what poissonCounts needs
// for all replicas.
func rowKeys(keys []uint64, seed uint64, of domain, numbers []uint64) {
	start := evenly.Mix(evenly.Mix(seed) + uint64(of))
	for i, number := range numbers {
		keys[i] = evenly.Mix(start + number)
	}
}

// numbers returns those of n rows: 0, 1, …, or of their groups, whose rows count equally often.
func numbers(n int, groups []int) []uint64 {
	numbers := make([]uint64, n)
	for i := range numbers {
		if numbers[i] = uint64(i); groups != nil {
			numbers[i] = uint64(groups[i])
		}
	}
	return numbers
}

// poissonCounts sets how often each row counts in a replica of the bootstrap: numbers
// from the Poisson distribution of mean 1 that depend on the row's key and the replica's
// number alone.
func poissonCounts(counts []int, keys []uint64, replica int) {
	start := evenly.Mix(uint64(replica))
	for i := range counts {
		u := evenly.Mix(keys[i] + start)
		count := int(poissonTable[u>>56])
		if count < 0 {
			count = 0
			for count < len(poissonBounds) && u >= poissonBounds[count] {
				count++
			}
		}
		counts[i] = count
	}
}

var (
	// poissonBounds[c] is 2⁶⁴·P(N ≤ c) for a Poisson number N of mean 1, so that N is
	// the number of bounds that are at most a random u.
	poissonBounds = boundPoisson()
	// poissonTable holds the count of all u that start with the index's eight bits, -1
	// where they have several.
	poissonTable = tabulatePoisson()
)

// boundPoisson subtracts P(N > c) from 1, as float64 has not the digits of P(N ≤ c).
// Of N > 20 nothing is left in 64 bits.
func boundPoisson() (bounds [21]uint64) {
	var probability [len(bounds) + 1]float64
	probability[0] = 1 / math.E
	for c := 1; c < len(probability); c++ {
		probability[c] = probability[c-1] / float64(c)
	}
	var tail float64
	for c := len(bounds) - 1; c >= 0; c-- {
		tail += probability[c+1]
		bounds[c] = -uint64(tail * 0x1p64)
		if bounds[c] == 0 {
			bounds[c] = math.MaxUint64
		}
	}
	return bounds
}

func tabulatePoisson() (table [256]int8) {
	for i := range table {
		first := uint64(i) << 56
		last := first | (1<<56 - 1)
		count := 0
		for first >= poissonBounds[count] {
			count++
		}
		table[i] = int8(count)
		if last >= poissonBounds[count] {
			table[i] = -1
		}
	}
	return table
}

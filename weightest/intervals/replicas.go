package intervals

import (
	"runtime"

	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

// resampledSums returns the sums of so many resamples of a sample, whose rows have these numbers. A row
// counts in each of them a number of times that has the Poisson distribution of mean 1 and is a
// hash of the seed, the domain, the row's number and the replica's. So the order of rows changes
// nothing.
func resampledSums(s *weightest.Sample, count int, seed uint64, sourceRows, targetRows []uint64) []*weightest.Sums {
	all := make([]*weightest.Sums, count)
	for i := range all {
		all[i] = weightest.NewSums(s.Classes())
	}
	source, labels := s.Source()
	addResampled(all, seed, sourceDomain, source, labels, sourceRows)
	addResampled(all, seed, targetDomain, s.Target(), nil, targetRows)
	return all
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

// addResampled adds the rows of a domain, whose labels are nil in the target, to the sums of all replicas.
func addResampled(all []*weightest.Sums, seed uint64, of domain, probabilities []float64, labels []int, numbers []uint64) {
	k, rows := all[0].Classes(), len(numbers)
	workers := runtime.GOMAXPROCS(0)
	panels.Each(workers, func(worker int) {
		replica := worker * len(all) / workers
		mine := all[replica : (worker+1)*len(all)/workers]
		keys, counts := make([]uint64, weightest.BlockRows), make([]int, weightest.BlockRows)
		var block weightest.Block
		var labelled []int
		for from := 0; from < rows; from += weightest.BlockRows {
			to := min(from+weightest.BlockRows, rows)
			if labels != nil {
				labelled = labels[from:to]
			}
			block.Set(probabilities[from*k:to*k], labelled, k)
			rowKeys(keys, seed, of, numbers[from:to])
			for i, sums := range mine {
				poissonCounts(counts[:to-from], keys, replica+i)
				sums.AddBlock(&block, counts[:to-from])
			}
		}
	})
}

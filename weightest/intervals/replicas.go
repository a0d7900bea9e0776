package intervals

import (
	"fmt"
	"io"
	"runtime"

	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

// Replicas are the sums of the bootstrap's resamples of a source and a target sample. A
// row counts in each of them a number of times that has the Poisson distribution of mean
// 1 and is a hash of the seed, the domain, the row's number and the replica's. So rows
// can be added in any order and in any parts, on any number of machines: what is merged
// in the end is the same, bit for bit.
type Replicas struct {
	seed uint64
	sums []*weightest.Sums
}

// NewReplicas returns the sums of so many resamples of no rows. It panics unless
// classes ≥ 1 and count ≥ 1.
func NewReplicas(classes, count int, seed uint64) *Replicas {
	if count < 1 {
		panic(fmt.Sprintf("intervals: a bootstrap of %d replicas", count))
	}
	r := &Replicas{seed: seed, sums: make([]*weightest.Sums, count)}
	for i := range r.sums {
		r.sums[i] = weightest.NewSums(classes)
	}
	return r
}

// Count returns the number of replicas.
func (r *Replicas) Count() int { return len(r.sums) }

// Seed returns the seed of the resamples.
func (r *Replicas) Seed() uint64 { return r.seed }

// Numbers returns first, first+1, …, n of them.
func Numbers(first uint64, n int) []uint64 {
	numbers := make([]uint64, n)
	for i := range numbers {
		numbers[i] = first + uint64(i)
	}
	return numbers
}

// numbersOf returns the numbers of groups, whose rows count equally often.
func numbersOf(groups []int) []uint64 {
	numbers := make([]uint64, len(groups))
	for i, group := range groups {
		numbers[i] = uint64(group)
	}
	return numbers
}

// AddSource adds held-out source rows as Sums.AddSource does. Their n numbers are what tells
// a row from all other source rows of the bootstrap, as its place in a file does. A row that
// is added twice with one number counts twice as often.
func (r *Replicas) AddSource(probabilities []float64, labels []int, numbers []uint64) error {
	if err := weightest.CheckSource(probabilities, labels, r.sums[0].Classes()); err != nil {
		return err
	}
	r.add(sourceDomain, probabilities, labels, numbers)
	return nil
}

// AddTarget adds target rows as Sums.AddTarget does, with numbers as AddSource's.
func (r *Replicas) AddTarget(probabilities []float64, numbers []uint64) error {
	if err := weightest.CheckTarget(probabilities, r.sums[0].Classes()); err != nil {
		return err
	}
	r.add(targetDomain, probabilities, nil, numbers)
	return nil
}

// add adds the rows of a domain, whose labels are nil in the target, to all replicas.
func (r *Replicas) add(of domain, probabilities []float64, labels []int, numbers []uint64) {
	k := r.sums[0].Classes()
	rows := len(probabilities) / k
	if len(numbers) != rows {
		panic(fmt.Sprintf("intervals: %d numbers for %d rows", len(numbers), rows))
	}
	workers := runtime.GOMAXPROCS(0)
	panels.Each(workers, func(worker int) {
		replica := worker * len(r.sums) / workers
		mine := r.sums[replica : (worker+1)*len(r.sums)/workers]
		keys, counts := make([]uint64, weightest.BlockRows), make([]int, weightest.BlockRows)
		var block weightest.Block
		var labelled []int
		for from := 0; from < rows; from += weightest.BlockRows {
			to := min(from+weightest.BlockRows, rows)
			if labels != nil {
				labelled = labels[from:to]
			}
			block.Set(probabilities[from*k:to*k], labelled, k)
			rowKeys(keys, r.seed, of, numbers[from:to])
			for i, sums := range mine {
				poissonCounts(counts[:to-from], keys, replica+i)
				sums.AddBlock(&block, counts[:to-from])
			}
		}
	})
}

// Merge adds the sums of other rows in the same resamples. Replicas of another seed,
// number or number of classes are an error that changes nothing.
func (r *Replicas) Merge(other *Replicas) error {
	if other.seed != r.seed || len(other.sums) != len(r.sums) {
		return fmt.Errorf("intervals: %d replicas of seed %d cannot be added to %d of seed %d",
			len(other.sums), other.seed, len(r.sums), r.seed)
	}
	for i, s := range other.sums {
		if err := r.sums[i].Merge(s); err != nil {
			return err
		}
	}
	return nil
}

// Write writes the sums of all replicas, one after the other, as weightest.Sums does.
func (r *Replicas) Write(w io.Writer) error {
	for _, s := range r.sums {
		if err := s.Write(w); err != nil {
			return err
		}
	}
	return nil
}

// ReadReplicas reads so many replicas of a seed as Write writes them. The error is that of
// weightest.ReadSums. It panics unless classes ≥ 1 and count ≥ 1.
func ReadReplicas(from io.Reader, classes, count int, seed uint64) (*Replicas, error) {
	r := NewReplicas(classes, count, seed)
	for i := range r.sums {
		var err error
		if r.sums[i], err = weightest.ReadSums(from, classes); err != nil {
			return nil, err
		}
	}
	return r, nil
}

package weightest

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// ErrInvalidRow is wrapped by the error that names a row of probabilities that is not
// one, or a label that is not a class.
var ErrInvalidRow = errors.New("weightest: invalid row")

// sumTolerance is how far a row's sum may be from one: what float16 and decimals of
// four digits need.
const sumTolerance = 1e-3

// Sample holds a classifier's probabilities on held-out source rows, which it never
// trained on, with their labels, and on target rows.
type Sample struct {
	classes int
	source  []float64 // row-major n×k
	labels  []int
	target  []float64 // row-major m×k

	sourceGroups, targetGroups []int
}

// SampleOf returns the sample of rows, which it keeps without a copy: those of the source,
// row-major n×k, with their n labels, and of the target, row-major m×k. Those of a network,
// float32, pass through Widen. The errors are those of CheckSource and CheckTarget; SampleOf
// panics where the lengths do not fit.
func SampleOf(classes int, source []float64, labels []int, target []float64) (*Sample, error) {
	if err := cmp.Or(CheckSource(source, labels, classes), checkRows("target", target, classes)); err != nil {
		return nil, err
	}
	return &Sample{classes: classes, source: source, labels: labels, target: target}, nil
}

// Group says which of the sample's rows belong together: n and m numbers, those of one domain apart
// from those of the other. nil stands for rows that are each on their own. It panics where lengths do not
// fit.
func (s *Sample) Group(source, target []int) {
	if source != nil && len(source) != len(s.labels) || target != nil && len(target)*s.classes != len(s.target) {
		panic(fmt.Sprintf("weightest: %d and %d groups for %d source and %d target rows", len(source), len(target), len(s.labels), len(s.target)/s.classes))
	}
	s.sourceGroups, s.targetGroups = source, target
}

// Groups returns what Group was told.
func (s *Sample) Groups() (source, target []int) { return s.sourceGroups, s.targetGroups }

// Classes returns k.
func (s *Sample) Classes() int { return s.classes }

// Source returns the probabilities of the source rows, row-major n×k, and their n
// labels. Both are the sample's own, only to be read.
func (s *Sample) Source() (probabilities []float64, labels []int) { return s.source, s.labels }

// Target returns the probabilities of the target rows, row-major m×k, likewise.
func (s *Sample) Target() []float64 { return s.target }

// Sums returns the sums of the sample.
func (s *Sample) Sums() *Sums { return s.Counted(nil, nil) }

// Counted returns the sums where rows count so often, as in a bootstrap's resample; nil: once each.
func (s *Sample) Counted(source, target []int) *Sums {
	sums := NewSums(s.classes)
	sums.Add(s.source, s.labels, source)
	sums.Add(s.target, nil, target)
	return sums
}

// Problem returns the problem of the sample. Its Rows share the sample's memory. The error
// wraps ErrNoStatistics where a domain has no row.
func (s *Sample) Problem() (Problem, error) {
	p, err := s.Sums().Problem()
	p.Rows = &Rows{Probabilities: s.target}
	return p, err
}

// RequireRows returns an error that wraps ErrNoStatistics where a domain has no row.
func (s *Sample) RequireRows() error { return requireRows(len(s.labels), len(s.target)/s.classes) }

// CheckSource checks source rows: their probabilities, row-major n×k, and their n labels. A
// probability that is negative, above 1 or NaN, a row whose sum is further from one than
// 0.001, and a label outside 0..k-1 are an error that wraps ErrInvalidRow and names the row,
// counted from 0. It panics where the lengths do not fit.
func CheckSource(probabilities []float64, labels []int, classes int) error {
	if len(probabilities) != len(labels)*classes {
		panic(fmt.Sprintf("weightest: %d source probabilities for %d rows of %d classes", len(probabilities), len(labels), classes))
	}
	return cmp.Or(CheckLabels(labels, classes), checkRows("source", probabilities, classes))
}

// CheckLabels returns an error that wraps ErrInvalidRow and names the row, if a label is none
// of 0..classes-1.
func CheckLabels(labels []int, classes int) error {
	for row, label := range labels {
		if label < 0 || label >= classes {
			return fmt.Errorf("%w: source row %d has label %d; there are %d classes", ErrInvalidRow, row, label, classes)
		}
	}
	return nil
}

// CheckProbabilities returns an error that wraps ErrInvalidRow and names the first row of k classes with
// a number that is no probability, even one that was rounded. Rows may sum to anything.
func CheckProbabilities[T float32 | float64](domain string, probabilities []T, k int) error {
	for i, p := range probabilities {
		if !(p >= 0 && p <= 1+sumTolerance) {
			return fmt.Errorf("%w: %s row %d gives class %d the probability %v", ErrInvalidRow, domain, i/k, i%k, p)
		}
	}
	return nil
}

func checkRows(domain string, probabilities []float64, k int) error {
	if k < 1 || len(probabilities)%k != 0 {
		panic(fmt.Sprintf("weightest: %d %s probabilities are no rows of %d classes", len(probabilities), domain, k))
	}
	for row := range len(probabilities) / k {
		values := probabilities[row*k : (row+1)*k]
		var signs uint64
		for _, p := range values {
			signs |= math.Float64bits(p)
		}
		sum := floats.Sum(values)
		if signs>>63 == 0 && math.Abs(sum-1) <= sumTolerance {
			continue
		}
		if err := CheckProbabilities(domain, probabilities[:(row+1)*k], k); err != nil {
			return err
		}
		if !(math.Abs(sum-1) <= sumTolerance) {
			return fmt.Errorf("%w: the probabilities of %s row %d sum to %.6g; they must sum to 1", ErrInvalidRow, domain, row, sum)
		}
	}
	return nil
}

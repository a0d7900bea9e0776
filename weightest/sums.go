package weightest

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Sums are what the estimators in closed form need of any number of rows f_i of k
// probabilities, ŷ_i the one-hot vector of f_i's largest entry (the first of equal
// ones):
//
//	Σ_i f_i e(y_i)ᵀ and Σ_i ŷ_i e(y_i)ᵀ   over held-out source rows with labels y_i,
//	Σ_i f_i and Σ_i ŷ_i                   over target rows.
//
// Training collects its statistics in an Accumulator instead.
type Sums struct {
	classes                int
	softJoint, softTarget  []float64 // row = true class, as in Accumulator
	hardJoint, hardTarget  []int64
	sourceRows, targetRows int
}

// NewSums returns sums of no rows. It panics unless classes ≥ 1.
func NewSums(classes int) *Sums {
	if classes < 1 {
		panic(fmt.Sprintf("weightest: sums of %d classes", classes))
	}
	return &Sums{
		classes:    classes,
		softJoint:  make([]float64, classes*classes),
		softTarget: make([]float64, classes),
		hardJoint:  make([]int64, classes*classes),
		hardTarget: make([]int64, classes),
	}
}

// Classes returns k.
func (s *Sums) Classes() int { return s.classes }

// HardCounts returns the numbers of source rows by label and predicted class, row-major
// k×k, and of target rows by predicted class, length k. Both are the sums' own.
func (s *Sums) HardCounts() (source, target []int64) { return s.hardJoint, s.hardTarget }

// RequireRows returns an error that wraps ErrNoStatistics where a domain has no row.
func (s *Sums) RequireRows() error { return requireRows(s.sourceRows, s.targetRows) }

func requireRows(source, target int) error {
	if source == 0 || target == 0 {
		return fmt.Errorf("%w: %d source rows and %d target rows", ErrNoStatistics, source, target)
	}
	return nil
}

// Add adds the rows of a domain, row-major n×k, whose n labels are nil in the target, each as often as it counts, as
// in a bootstrap's resample; nil: once each. Rows and labels must be those that CheckSource or CheckTarget accepts.
func (s *Sums) Add(probabilities []float64, labels, counts []int) {
	k := s.classes
	soft, hard, total := s.softTarget, s.hardTarget, &s.targetRows
	if labels != nil {
		total = &s.sourceRows
	}
	for i := range len(probabilities) / k {
		count := 1
		if counts != nil {
			count = counts[i]
		}
		if count == 0 {
			continue
		}
		if labels != nil {
			first := labels[i] * k
			soft, hard = s.softJoint[first:first+k], s.hardJoint[first:first+k]
		}
		row := probabilities[i*k : (i+1)*k]
		floats.AddScaled(soft, float64(count), row)
		hard[floats.MaxIdx(row)] += int64(count)
		*total += count
	}
}

// Merge adds the sums of other rows. Sums of another number of classes are an error.
func (s *Sums) Merge(other *Sums) error {
	if other.classes != s.classes {
		return fmt.Errorf("weightest: sums of %d classes cannot be added to sums of %d", other.classes, s.classes)
	}
	floats.Add(s.softJoint, other.softJoint)
	floats.Add(s.softTarget, other.softTarget)
	for i, n := range other.hardJoint {
		s.hardJoint[i] += n
	}
	for i, n := range other.hardTarget {
		s.hardTarget[i] += n
	}
	s.sourceRows += other.sourceRows
	s.targetRows += other.targetRows
	return nil
}

// Problem returns the problem of the sums: the means of soft and of hard predictions,
// D_S the label shares of the source rows. It has no Rows. The error wraps
// ErrNoStatistics where a domain has no row.
func (s *Sums) Problem() (Problem, error) {
	if err := s.RequireRows(); err != nil {
		return Problem{}, err
	}
	k := s.classes
	n, m := float64(s.sourceRows), float64(s.targetRows)
	p := Problem{
		Confusion:          mat.NewDense(k, k, nil),
		TargetPredictions:  make([]float64, k),
		SourceDistribution: make([]float64, k),
		Hard: &HardPredictions{
			Confusion:         mat.NewDense(k, k, nil),
			TargetPredictions: make([]float64, k),
		},
		SourceRows: s.sourceRows,
		TargetRows: s.targetRows,
	}
	for label := range k {
		var rows int64
		for predicted := range k {
			soft, hard := s.softJoint[label*k+predicted], s.hardJoint[label*k+predicted]
			p.Confusion.Set(predicted, label, soft/n)
			p.Hard.Confusion.Set(predicted, label, float64(hard)/n)
			rows += hard
		}
		p.SourceDistribution[label] = float64(rows) / n
		p.TargetPredictions[label] = s.softTarget[label] / m
		p.Hard.TargetPredictions[label] = float64(s.hardTarget[label]) / m
	}
	return p, nil
}

package weightest

import (
	"fmt"
	"math/bits"
	"slices"

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
// Sums are integers: each probability is rounded down to a multiple of 2⁻⁶². So the
// order of the rows does not matter, and the sums of any parts, merged in any order,
// are those of the whole, bit for bit. Training collects its statistics in an
// Accumulator instead.
type Sums struct {
	classes                int
	softJoint, softTarget  []fixedPoint // row = true class, as in Accumulator
	hardJoint, hardTarget  []int64
	sourceRows, targetRows int
}

// fixedPoint is a number that is not negative: (High·2⁶⁴ + Low)·2⁻⁶².
type fixedPoint struct{ High, Low uint64 }

const fixedUnit = 0x1p62

// toFixed returns the value, which must be in [0, 2), as a multiple of 2⁻⁶².
func toFixed(value float64) uint64 { return uint64(int64(value * fixedUnit)) }

// addUnits adds count times a multiple of 2⁻⁶².
func (f *fixedPoint) addUnits(value uint64, count int) {
	high, low := bits.Mul64(value, uint64(count))
	f.sum(fixedPoint{high, low})
}

func (f *fixedPoint) sum(other fixedPoint) {
	var carry uint64
	f.Low, carry = bits.Add64(f.Low, other.Low, 0)
	f.High += other.High + carry
}

// Float64 returns the nearest float64, or one of the two nearest.
func (f fixedPoint) Float64() float64 {
	return (float64(f.High)*0x1p64 + float64(f.Low)) / fixedUnit
}

// NewSums returns sums of no rows. It panics unless classes ≥ 1.
func NewSums(classes int) *Sums {
	if classes < 1 {
		panic(fmt.Sprintf("weightest: sums of %d classes", classes))
	}
	return &Sums{
		classes:    classes,
		softJoint:  make([]fixedPoint, classes*classes),
		softTarget: make([]fixedPoint, classes),
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

// BlockRows is the largest number of rows of a Block: as much as stays in a fast cache.
const BlockRows = 512

// Block is rows as sums add them, in fixed point with their largest entries.
type Block struct {
	values    []uint64 // row-major rows×k, in fixed point
	predicted []int
	labels    []int // nil in the target
}

// Set makes the block that of these rows, BlockRows at most, row-major n×k: of source rows
// with their n labels, or of target rows, whose labels are nil. Rows and labels must be those
// that CheckSource or CheckTarget accepts.
func (b *Block) Set(probabilities []float64, labels []int, k int) {
	b.labels = labels
	b.values = slices.Grow(b.values[:0], len(probabilities))[:len(probabilities)]
	b.predicted = b.predicted[:0]
	for first := 0; first < len(probabilities); first += k {
		row := probabilities[first : first+k]
		for i, p := range row {
			b.values[first+i] = toFixed(p)
		}
		b.predicted = append(b.predicted, floats.MaxIdx(row))
	}
}

// addRows adds the rows of a domain, whose labels are nil in the target, each as often as it counts;
// nil: once each.
func (s *Sums) addRows(probabilities []float64, labels, counts []int) {
	var block Block
	k := s.classes
	rows := len(probabilities) / k
	if counts == nil {
		counts = slices.Repeat([]int{1}, rows)
	}
	for first := 0; first < rows; first += BlockRows {
		last := min(first+BlockRows, rows)
		var some []int
		if labels != nil {
			some = labels[first:last]
		}
		block.Set(probabilities[first*k:last*k], some, k)
		s.AddBlock(&block, counts[first:last])
	}
}

// AddBlock adds the block's rows, each as often as it counts, as in a bootstrap's resample.
func (s *Sums) AddBlock(b *Block, counts []int) {
	k := s.classes
	soft, hard, total := s.softTarget, s.hardTarget, &s.targetRows
	if b.labels != nil {
		total = &s.sourceRows
	}
	for i, predicted := range b.predicted {
		count := counts[i]
		if count == 0 {
			continue
		}
		if b.labels != nil {
			first := b.labels[i] * k
			soft, hard = s.softJoint[first:first+k], s.hardJoint[first:first+k]
		}
		*total += count
		hard[predicted] += int64(count)
		row := b.values[i*k : (i+1)*k]
		soft := soft[:len(row)]
		if count == 1 {
			for j, v := range row {
				soft[j].sum(fixedPoint{0, v})
			}
			continue
		}
		for j, v := range row {
			soft[j].addUnits(v, count)
		}
	}
}

// Merge adds the sums of other rows. Sums of another number of classes are an error.
func (s *Sums) Merge(other *Sums) error {
	if other.classes != s.classes {
		return fmt.Errorf("weightest: sums of %d classes cannot be added to sums of %d", other.classes, s.classes)
	}
	for i, v := range other.softJoint {
		s.softJoint[i].sum(v)
		s.hardJoint[i] += other.hardJoint[i]
	}
	for i, v := range other.softTarget {
		s.softTarget[i].sum(v)
		s.hardTarget[i] += other.hardTarget[i]
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
			p.Confusion.Set(predicted, label, soft.Float64()/n)
			p.Hard.Confusion.Set(predicted, label, float64(hard)/n)
			rows += hard
		}
		p.SourceDistribution[label] = float64(rows) / n
		p.TargetPredictions[label] = s.softTarget[label].Float64() / m
		p.Hard.TargetPredictions[label] = float64(s.hardTarget[label]) / m
	}
	return p, nil
}

package datasets

import (
	"fmt"
	"slices"

	"iwda/internal/convert"

	"gonum.org/v1/gonum/stat"
)

// Labels are the classes of rows, each of which may be unknown. Its zero value is those
// of no rows. Copies share memory, which only [Labels.Add] writes to: rows may be added to
// one of several copies.
type Labels struct {
	classes []int
	unknown []bool // nil where none is
}

// KnownLabels are those of rows whose classes are all known. The slice is kept; the
// caller must not change it afterwards.
func KnownLabels(classes []int) Labels { return Labels{classes: classes} }

// UnknownLabels are those of n rows of which no class is known.
func UnknownLabels(n int) Labels {
	return Labels{make([]int, n), slices.Repeat([]bool{true}, n)}
}

// LabelsOf returns the labels of all rows of a set.
func LabelsOf(set Set) Labels {
	labels := Labels{classes: make([]int, 0, set.Len())}
	for i := range set.Len() {
		labels.Add(set.Label(i))
	}
	return labels
}

// Len is the number of rows.
func (l Labels) Len() int { return len(l.classes) }

// At returns the class of row i, if it is known.
func (l Labels) At(i int) (class int, known bool) {
	if l.unknown != nil && l.unknown[i] {
		return 0, false
	}
	return l.classes[i], true
}

// Classes returns the class of every row, 0 where it is not known. It is only to be read.
func (l Labels) Classes() []int { return l.classes }

// Known is the number of rows whose class is known.
func (l Labels) Known() int {
	known := len(l.classes)
	for _, unknown := range l.unknown {
		if unknown {
			known--
		}
	}
	return known
}

// Add appends the label of one more row.
func (l *Labels) Add(class int, known bool) {
	if l.unknown == nil && !known {
		l.unknown = make([]bool, len(l.classes), cap(l.classes))
	}
	l.classes = append(l.classes, class)
	if l.unknown != nil {
		l.unknown = append(l.unknown, !known)
	}
}

// Subset returns the labels of the given rows, in their order.
func (l Labels) Subset(rows []int) Labels {
	subset := Labels{classes: make([]int, 0, len(rows))}
	for _, row := range rows {
		subset.Add(l.At(row))
	}
	return subset
}

// Counts returns the number of rows known to be of each class, in label order; classes
// is above every label.
func (l Labels) Counts(classes int) []int {
	counts := make([]int, classes)
	for i := range l.classes {
		if class, known := l.At(i); known {
			counts[class]++
		}
	}
	return counts
}

// Shares returns the share of each class among the rows whose class is known; classes is
// above every label. It panics where no class is known.
func (l Labels) Shares(classes int) []float64 {
	known := l.Known()
	if known == 0 {
		panic(fmt.Sprintf("datasets: Shares: none of %d labels is known", l.Len()))
	}
	return convert.Each(l.Counts(classes), func(count int) float64 { return float64(count) / float64(known) })
}

// check returns an error that names the set and the row of a label outside
// [0, classes).
func (l Labels) check(name string, classes int) error {
	for i := range l.classes {
		if class, known := l.At(i); known && (class < 0 || class >= classes) {
			return fmt.Errorf("datasets: %s: row %d: label %d, want 0 to %d", name, i, class, classes-1)
		}
	}
	return nil
}

// Counts returns the number of rows known to be of each class, in label order.
func Counts(set Set) []int { return LabelsOf(set).Counts(len(set.ClassNames())) }

// JSD returns the Jensen-Shannon divergence of two distributions over the same
// classes,
//
//	(KL(p, m) + KL(q, m)) / 2,  m = (p + q) / 2
//
// with natural logarithms: 0 where they are equal, ln 2 where they share no class.
// It panics where the lengths differ.
func JSD(p, q []float64) float64 {
	// Rounding takes the sum below 0 where the two are almost equal.
	return max(0, stat.JensenShannon(p, q))
}

package shifttest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/timing"
	"iwda/weightest/internal/sampletest"
	"iwda/weightest/internal/weighttest"
)

// BenchmarkLabelShiftTest asks of many classes, with twenty held-out rows each, whether
// shares are all that changed in a target on which the classifier is less sure of itself.
func BenchmarkLabelShiftTest(b *testing.B) {
	for _, k := range []int{10, timing.Size(100, 20)} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			r := rand.New(rand.NewPCG(21, uint64(k)))
			source, labels := weighttest.ShiftedLogits(r, 20*k, slices.Repeat([]float64{1 / float64(k)}, k))
			target, _ := weighttest.ShiftedLogits(r, 6000, slices.Repeat([]float64{1 / float64(k)}, k))
			floats.Scale(0.8, target)
			s := sampletest.Of(b)(k, weighttest.Softmax(source, k), labels, weighttest.Softmax(target, k))
			timing.ReportMedian(b, 1, func(int) {
				if l, err := LabelShiftTest(s, LabelShiftSettings{}); err != nil || !l.Tested() {
					b.Fatalf("%+v, %v", l, err)
				}
			})
		})
	}
}

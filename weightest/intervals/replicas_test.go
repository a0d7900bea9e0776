package intervals

import (
	"reflect"
	"slices"
	"testing"

	"iwda/internal/gaussians"
	"iwda/weightest"
	"iwda/weightest/internal/sampletest"
)

// resampledSumsOf are those of a sample whose rows have the numbers 0, 1, ….
func resampledSumsOf(s *weightest.Sample, count int, seed uint64) []*weightest.Sums {
	_, labels := s.Source()
	return resampledSums(s, count, seed, numbers(len(labels), nil), numbers(len(s.Target())/s.Classes(), nil))
}

// A replica's sums are those of its rows, each as often as it counts.
func TestResampledSums(t *testing.T) {
	const classes, n, m, count = 3, 1100, 700, 20
	s := sampletest.Gaussian(t, gaussians.Rising(classes), n, m, 1)
	source, labels := s.Source()
	replicas := resampledSumsOf(s, count, 5)
	for i := range count {
		drawn := func(of domain, rows []float64) (repeated []float64, repeatedLabels []int) {
			keys, counts := make([]uint64, len(rows)/classes), make([]int, len(rows)/classes)
			rowKeys(keys, 5, of, numbers(len(keys), nil))
			poissonCounts(counts, keys, i)
			for row, count := range counts {
				repeated = append(repeated, slices.Repeat(rows[row*classes:(row+1)*classes], count)...)
				if of == sourceDomain {
					repeatedLabels = append(repeatedLabels, slices.Repeat(labels[row:row+1], count)...)
				}
			}
			return repeated, repeatedLabels
		}
		drawnSource, drawnLabels := drawn(sourceDomain, source)
		drawnTarget, _ := drawn(targetDomain, s.Target())
		if direct := sampletest.Of(t)(classes, drawnSource, drawnLabels, drawnTarget).Sums(); !reflect.DeepEqual(direct, replicas[i]) {
			t.Fatalf("replica %d is not that of its counts", i)
		}
	}
	if reflect.DeepEqual(replicas[0], replicas[1]) {
		t.Error("the replicas are not resampled")
	}
}

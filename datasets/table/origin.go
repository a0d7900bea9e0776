package table

import (
	"fmt"
	"math"
	"slices"

	"iwda/internal/convert"
)

// Values are kept as float32, which tells 2²⁴ numbers of one magnitude apart. That is too few for a
// column whose values lie close together and far from 0, such as seconds since 1970. Such a column has
// an origin, a float64 number that is taken off each of its values before these become float32.

const (
	fewestSteps    = 1000    // of float32 that the middle 80% of a column's values span
	mostSampled    = 1024    // values of a column by which that is told
	fewestSampled  = 64      // of them where there are many columns
	allSampled     = 1 << 16 // of all columns
	outsideSampled = 10      // one in so many values is not in the middle on either side
)

// sample is each stride-th number of a column, at most mostSampled of them however many follow.
type sample struct {
	most, stride, passed int
	values               []float64
	codes                codes
}

// newSamples makes one for each of so many columns.
func newSamples(columns int) []sample {
	samples := make([]sample, columns)
	for j := range samples {
		samples[j] = sample{most: min(max(fewestSampled, allSampled/columns), mostSampled), stride: 1}
	}
	return samples
}

// due passes over a number and reports whether it is one of the sample, to be added.
func (s *sample) due() bool {
	s.passed++
	return (s.passed-1)%s.stride == 0
}

func (s *sample) add(number float64) {
	if s.values = append(s.values, number); len(s.values) == s.most {
		s.stride *= 2
		kept := s.values[:0]
		for i := 0; i < s.most; i += 2 {
			kept = append(kept, s.values[i])
		}
		s.values = kept
	}
}

// median sorts the numbers and returns the middle one, 0 of none.
func (s *sample) median() float64 {
	if len(s.values) == 0 {
		return 0
	}
	slices.Sort(s.values)
	return s.values[(len(s.values)-1)/2]
}

// coarse reports whether the numbers, less an origin, span fewer steps of float32 than fewestSteps, and
// whether float32 holds each of them as it is nevertheless. It sorts them.
func (s *sample) coarse(origin float64) (is, exact bool) {
	n := len(s.values)
	if n == 0 {
		return false, true
	}
	slices.Sort(s.values)
	low, high := s.values[n/outsideSampled], s.values[n-1-n/outsideSampled]
	if low == high { // nearly all are the same
		low, high = s.values[0], s.values[n-1]
	}
	largest := float32(max(math.Abs(low-origin), math.Abs(high-origin)))
	step := float64(math.Nextafter32(largest, math.MaxFloat32)) - float64(largest)
	if low == high || high-low >= fewestSteps*step {
		return false, true
	}
	return true, !slices.ContainsFunc(s.values, func(v float64) bool { return float64(float32(v-origin)) != v-origin })
}

// origin is that of the column: the median if float32 does not hold enough of the numbers, else 0.
func (s *sample) origin() float64 {
	if coarse, exact := s.coarse(0); coarse && !exact {
		return s.median()
	}
	return 0
}

// originsOf returns those of sampled columns, nil if all are 0.
func originsOf(samples []sample) []float64 {
	return unlessZero(convert.Each(samples, func(s sample) float64 { return s.origin() }))
}

func unlessZero(origins []float64) []float64 {
	if slices.ContainsFunc(origins, func(origin float64) bool { return origin != 0 }) {
		return origins
	}
	return nil
}

// originOf is that of value j of a row.
func originOf(origins []float64, j int) float64 {
	if j < len(origins) {
		return origins[j]
	}
	return 0
}

// tooCoarse says that a column's values, less the origin, have lost digits that would matter, or had
// lost them in the file, as single says of numbers of 32 bits or fewer; "" if not.
func (t *Table) tooCoarse(s *sample, origin float64, single bool) string {
	if coarse, exact := s.coarse(origin); !coarse || exact && !single {
		return ""
	}
	return fmt.Sprintf("%s: most values lie within %d steps of float32, so that small differences are lost; take the same number off the column in all files, before it becomes float32", t.name, fewestSteps)
}

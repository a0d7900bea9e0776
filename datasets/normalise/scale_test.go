package normalise

import (
	"math"
	"slices"
	"testing"
)

// closeTo compares to a relative 1e-6.
func closeTo(got, want []float32) bool {
	return slices.EqualFunc(got, want, func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-6*math.Abs(float64(b)) })
}

// Variances of 9 and 16 have the mean 12.5, those of 144 and 25 84.5; the last two columns are
// constant in a domain.
func TestStretchAlike(t *testing.T) {
	source := Statistics{Deviation: []float32{3, 4, 1, 100}, Constant: []int{2}}
	target := Statistics{Deviation: []float32{12, 5, 7, 1}, Constant: []int{3}}
	stretchAlike(&source, &target)
	stretch := float32(math.Sqrt(84.5 / 12.5))
	if want := []float32{3 * stretch, 4 * stretch, 7, 1}; !closeTo(target.Deviation, want) {
		t.Errorf("target %v, want %v", target.Deviation, want)
	}
	if !slices.Equal(source.Deviation, []float32{3, 4, 1, 100}) {
		t.Errorf("source %v", source.Deviation)
	}
}

// A source column of deviation 3 keeps three quarters of the size of one of deviation 4, and the
// target's are brought to the same: 12 of the target's are worth 3 of the source's.
func TestShareScale(t *testing.T) {
	source := Statistics{Deviation: []float32{3, 4, 1, 100}, Constant: []int{2}}
	target := Statistics{Deviation: []float32{12, 5, 7, 1}, Constant: []int{3}}
	shareScale(&source, &target)
	shared := float32(math.Sqrt(12.5))
	if want := []float32{shared, shared, 1, 100}; !closeTo(source.Deviation, want) {
		t.Errorf("source %v, want %v", source.Deviation, want)
	}
	if want := []float32{12 * shared / 3, 5 * shared / 4, 7, 1}; !closeTo(target.Deviation, want) {
		t.Errorf("target %v, want %v", target.Deviation, want)
	}
	// What brought the target's columns to the source's still does: with one stretch for all, the
	// target's are divided by one number, too.
	source, target = Statistics{Deviation: []float32{3, 4}}, Statistics{Deviation: []float32{12, 5}}
	stretchAlike(&source, &target)
	shareScale(&source, &target)
	if own := float32(math.Sqrt(84.5)); !closeTo(target.Deviation, []float32{own, own}) {
		t.Errorf("target %v, want %v twice", target.Deviation, own)
	}
}

// Values can be divided by what comes out, and a model file can hold it, whatever there is.
func TestScalesOfExtremeColumns(t *testing.T) {
	for name, pair := range map[string][2]Statistics{
		"extreme":  {{Deviation: []float32{1e-38, 1, 3e38}}, {Deviation: []float32{3e38, 1e-38, 1}}},
		"constant": {{Deviation: []float32{1, 2}, Constant: []int{0}}, {Deviation: []float32{2, 1}, Constant: []int{1}}},
		"none":     {},
	} {
		source, target := pair[0], pair[1]
		stretchAlike(&source, &target)
		shareScale(&source, &target)
		for _, d := range append(slices.Clone(source.Deviation), target.Deviation...) {
			if !(d > 0 && d <= math.MaxFloat32) {
				t.Errorf("%s: %v and %v", name, source.Deviation, target.Deviation)
			}
		}
	}
}

package datasets

import (
	"math"
	"strings"
	"testing"
)

func TestFeaturesThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		values []float32
		labels []int
		want   string
	}{
		{[]float32{1, float32(math.NaN())}, []int{0}, "column 1"},
		{[]float32{1, 2}, []int{1}, "label 1"},
		{[]float32{1, 2, 3}, []int{0, 0}, "no rows"},
		{nil, nil, "no rows"},
	} {
		if _, err := NewFeatures("x", c.values, KnownLabels(c.labels), []string{"a"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

package datasets

import (
	"math"
	"testing"

	"iwda/internal/must"
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
		must.Refuse(NewFeatures("x", c.values, KnownLabels(c.labels), []string{"a"}))(t, c.want)
	}
}

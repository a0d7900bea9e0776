package heading

import (
	"slices"
	"testing"
)

// Columns are found under their names and those of former versions, the present one first.
func TestIndex(t *testing.T) {
	for _, c := range []struct {
		columns []string
		name    string
		want    int
	}{
		{[]string{"id", "predicted_class", "probability"}, PredictedClass, 1},
		{[]string{"id", "class", "confidence"}, PredictedClass, 1},
		{[]string{"id", "class", "confidence"}, Probability, 2},
		{[]string{"class", "predicted_class"}, PredictedClass, 1},
		{[]string{"class", "estimated_target_share"}, TargetShare, 1},
		{[]string{"predicted_class", "label"}, Class, -1},
		{[]string{"class"}, SourceShare, -1},
	} {
		if got := Index(c.columns, c.name); got != c.want {
			t.Errorf("%s in %q: %d, want %d", c.name, c.columns, got, c.want)
		}
	}
	columns := []string{ID, PredictedClass, Probability, Label}
	if got := Former(columns); !slices.Equal(got, []string{"id", "class", "confidence", "label"}) || columns[1] != PredictedClass {
		t.Errorf("%q, of %q", got, columns)
	}
}

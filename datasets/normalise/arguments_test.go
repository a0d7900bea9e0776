package normalise_test

import (
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/internal/must"
)

// A way that there is not would leave rows as they are, without a word.
func TestFitOfWrongArguments(t *testing.T) {
	rows := func(name string, values ...float32) datasets.Set {
		return must.Have(datasets.NewFeatures(name, values, datasets.KnownLabels([]int{0, 0}), []string{"a"}))(t)
	}
	two, one := rows("two", 1, 2, 3, 4), rows("one", 1, 2)
	if _, err := normalise.Fit(normalise.Settings{Way: "zscore"}, two, two); err == nil || !strings.Contains(err.Error(), "matched") {
		t.Errorf("an unknown way: %v", err)
	}
	if _, err := normalise.Fit(normalise.Settings{Way: normalise.Standard}, two, one); err == nil || !strings.Contains(err.Error(), "2 values in two") {
		t.Errorf("domains of other sizes: %v", err)
	}
}

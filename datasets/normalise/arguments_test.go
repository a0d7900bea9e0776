package normalise_test

import (
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
	must.Refuse(normalise.Fit(normalise.Settings{Way: "zscore"}, two, two))(t, "matched")
	must.Refuse(normalise.Fit(normalise.Settings{Way: normalise.Standard}, two, one))(t, "2 values in two")
}

package report

import (
	"bytes"
	"flag"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/config"
	"iwda/experiments/report/sheet"
	"iwda/experiments/store"
	"iwda/internal/testfiles"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares every kind of table in every format with the files in
// testdata/tables, in which the formats follow each other.
func TestGolden(t *testing.T) {
	digits := detailed(digitsResults())
	several := digitsSample()
	several.Methods = []string{"dann", "dann+wc", "dann+wda", "iwdan", "iwdan-o", "dann+wc-o", "cdan", "cdan+wc", "cdan+wda", "iwcdan"}
	for _, test := range []struct {
		kind       string
		experiment config.Config
		results    []store.Result
	}{
		{"accuracy", digitsSample(), digits},
		{"gains", shiftSample(), shiftResults()},
		{"ablation", several, ablationResults()},
		{"ablation-true", several, ablationResults()},
		{"weights", digitsSample(), digits[3:4]},
		{"confusion", digitsSample(), digits[3:4]},
		{"theory", digitsSample(), digits},
	} {
		checkGolden(t, test.kind, Table(test.kind, runsWith(test.results...), test.experiment))
	}
	for _, kind := range Kinds() {
		checkGolden(t, "nothing-"+kind, Table(kind, nil, several))
	}
	checkGolden(t, "without-labels-accuracy", Table("", runsWith(unlabelledResults()...), several))
	checkGolden(t, "shift-accuracy", Table("accuracy", runsWith(shiftResults()...), shiftSample()))

	home := digitsSample()
	home.Dataset.Name, home.Seeds = "officehome", []int64{1}
	home.Tasks = []string{"art-clipart", "art-product", "art-real", "clipart-art", "clipart-product", "clipart-real",
		"product-art", "product-clipart", "product-real", "real-art", "real-clipart", "real-product"}
	var homeResults []store.Result
	for i, task := range home.Tasks {
		homeResults = append(homeResults, resultOf("full", task, "dann", 1, 0.5, 0.25), resultOf("full", task, "iwdan", 1, 0.4+0.02*float64(i), 0.25))
	}
	checkGolden(t, "officehome-accuracy", Table("accuracy", runsWith(homeResults...), home))
	checkGolden(t, "average", Average([]Selection{Select(runsWith(digits...), digitsSample()), Select(runsWith(homeResults...), home)}))

	wide := digitsSample()
	wide.Title, wide.Dataset.Name = "Ziffern 数字", "glyphs"
	wide.Tasks, wide.Variants, wide.Seeds = []string{"数字-glyphs"}, []string{"subsampled"}, []int64{1}
	checkGolden(t, "wide-accuracy", Table("accuracy", runsWith(
		resultOf("subsampled", "数字-glyphs", "source-only", 1, 0.5, 0.5),
		resultOf("subsampled", "数字-glyphs", "dann", 1, 0.61234, 0.5),
		resultOf("subsampled", "数字-glyphs", "iwdan", 1, 1, 1),
	), wide))
}

// unlabelledResults are those of a method on a target without labels.
func unlabelledResults() (results []store.Result) {
	for seed := range int64(3) {
		r := resultOf("full", digitsSample().Tasks[0], "dann", seed+1, 0, 0)
		r.BestAccuracy, r.LastAccuracy = store.Optional[float64]{}, store.Optional[float64]{}
		r.WithoutLabels = &store.WithoutLabels{PredictedShares: []float64{0.25, 0.75}, Certainty: 0.9}
		results = append(results, r)
	}
	return results
}

// ablationResults are those of two seeds of an ablation on both tasks.
func ablationResults() []store.Result {
	var results []store.Result
	for i, method := range []string{"dann", "dann+wc", "dann+wda", "iwdan", "iwdan-o", "dann+wc-o", "cdan", "cdan+wc", "cdan+wda", "iwcdan"} {
		for j, task := range digitsSample().Tasks {
			for seed := range int64(2) {
				best := 0.6 + 0.03*float64(i) + 0.05*float64(j) - 0.021*float64(seed)
				results = append(results, resultOf("subsampled", task, method, seed+1, best, best-0.01*float64(i)))
			}
		}
	}
	return results
}

func checkGolden(t *testing.T, name string, built sheet.Sheet) {
	t.Helper()
	var got bytes.Buffer
	for _, format := range sheet.Formats() {
		got.WriteString("-- " + format + " --\n")
		if err := built.Write(&got, format); err != nil {
			t.Fatalf("%s as %s: %v", name, format, err)
		}
	}
	path := filepath.Join("testdata", "tables", name+".txt")
	if *update {
		testfiles.Write(t, path, got.String())
	}
	want := testfiles.Read(t, path)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s:\n%s", path, diff)
	}
}

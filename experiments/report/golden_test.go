package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// TestGolden compares every kind of table in every format with the files in
// testdata/tables, in which the formats follow each other.
func TestGolden(t *testing.T) {
	digits := detailed(digitsResults())
	several := digitsExperiment()
	several.Methods = []string{"dann", "dann+wc", "dann+wda", "iwdan", "iwdan-o", "dann+wc-o", "cdan", "cdan+wc", "cdan+wda", "iwcdan"}
	for _, test := range []struct {
		kind       string
		experiment config.Config
		results    []store.Result
	}{
		{"accuracy", digitsExperiment(), digits},
		{"gains", shiftExperiment(), shiftResults()},
		{"ablation", several, ablationResults()},
		{"ablation-true", several, ablationResults()},
		{"weights", digitsExperiment(), digits[3:4]},
		{"confusion", digitsExperiment(), digits[3:4]},
		{"theory", digitsExperiment(), digits},
	} {
		checkGolden(t, test.kind, BuildSheet(test.kind, test.results, test.experiment))
	}
	for _, kind := range Kinds() {
		checkGolden(t, "nothing-"+kind, BuildSheet(kind, nil, several))
	}
	checkGolden(t, "shift-accuracy", BuildSheet("accuracy", shiftResults(), shiftExperiment()))

	home := digitsExperiment()
	home.Dataset.Name, home.Seeds = "officehome", []int64{1}
	home.Tasks = []string{"art-clipart", "art-product", "art-real", "clipart-art", "clipart-product", "clipart-real",
		"product-art", "product-clipart", "product-real", "real-art", "real-clipart", "real-product"}
	var homeResults []store.Result
	for i, task := range home.Tasks {
		homeResults = append(homeResults, result("full", task, "dann", 1, 0.5, 0.25), result("full", task, "iwdan", 1, 0.4+0.02*float64(i), 0.25))
	}
	checkGolden(t, "officehome-accuracy", BuildSheet("accuracy", homeResults, home))
	checkGolden(t, "average", AverageTable([]Table{BuildTable(digits, digitsExperiment()), BuildTable(homeResults, home)}).Sheet())

	divergences, err := DivergenceSheet(printedCounts)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "jsd", divergences)
}

// ablationResults are those of two seeds of an ablation on both tasks.
func ablationResults() []store.Result {
	var results []store.Result
	for i, method := range []string{"dann", "dann+wc", "dann+wda", "iwdan", "iwdan-o", "dann+wc-o", "cdan", "cdan+wc", "cdan+wda", "iwcdan"} {
		for j, task := range digitsExperiment().Tasks {
			for seed := range int64(2) {
				best := 0.6 + 0.03*float64(i) + 0.05*float64(j) - 0.021*float64(seed)
				results = append(results, result("subsampled", task, method, seed+1, best, best-0.01*float64(i)))
			}
		}
	}
	return results
}

func checkGolden(t *testing.T, name string, sheet Sheet) {
	t.Helper()
	var got bytes.Buffer
	for _, format := range []string{"md", "tex", "csv", "json"} {
		got.WriteString("-- " + format + " --\n")
		write := map[string]func(*bytes.Buffer) error{
			"md":   func(b *bytes.Buffer) error { return sheet.WriteMarkdown(b) },
			"tex":  func(b *bytes.Buffer) error { return sheet.WriteLaTeX(b) },
			"csv":  func(b *bytes.Buffer) error { return sheet.WriteCSV(b) },
			"json": func(b *bytes.Buffer) error { return sheet.WriteJSON(b) },
		}[format]
		if err := write(&got); err != nil {
			t.Fatalf("%s as %s: %v", name, format, err)
		}
	}
	path := filepath.Join("testdata", "tables", name+".txt")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s:\n%s", path, diff)
	}
}

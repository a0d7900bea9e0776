package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/config"
	"iwda/experiments/store"
)

// shiftExperiment has two variants with class fractions.
func shiftExperiment() config.Config {
	e := digitsExperiment()
	e.Experiment, e.Tasks, e.Seeds = "digits", []string{"mnist-usps"}, []int64{1}
	e.Variants, e.Methods = []string{"source-1", "target-1", "target-2"}, []string{"dann", "iwdan", "cdan", "iwcdan"}
	return e
}

func shiftResults() []store.Result {
	results := detailed([]store.Result{
		result("source-1", "mnist-usps", "dann", 1, 0.80, 0.70),
		result("source-1", "mnist-usps", "iwdan", 1, 0.90, 0.90),
		result("target-1", "mnist-usps", "dann", 1, 0.85, 0.85),
		result("target-1", "mnist-usps", "iwdan", 1, 0.83, 0.83),
		result("target-2", "mnist-usps", "iwdan", 1, 0.83, 0.83), // without its base
		result("target-1", "mnist-usps", "cdan", 1, 0.7, 0.7),
		result("target-1", "mnist-usps", "iwcdan", 1, 0.7, 0.7),
	})
	for i, divergence := range []float64{0.02, 0.02, 0.06, 0.06, 0.01, 0.06, 0.06} {
		results[i].JSD = divergence
	}
	return results
}

func TestGains(t *testing.T) {
	got := Gains(shiftResults(), shiftExperiment())
	want := []Gain{
		{Task: "mnist-usps", Method: "iwdan", Base: "dann", Planned: 3, Points: []GainPoint{
			{Variant: "source-1", JSD: 0.02, Best: 90, Last: 90, BaseBest: 80, BaseLast: 70, WonBest: true, WonLast: true, Seeds: 1},
			{Variant: "target-1", JSD: 0.06, Best: 83, Last: 83, BaseBest: 85, BaseLast: 85, Seeds: 1},
		}},
		{Task: "mnist-usps", Method: "iwcdan", Base: "cdan", Planned: 3, Points: []GainPoint{
			{Variant: "target-1", JSD: 0.06, Best: 70, Last: 70, BaseBest: 70, BaseLast: 70, WonBest: true, WonLast: true, Seeds: 1},
		}},
	}
	if diff := cmp.Diff(want, got, approximately); diff != "" {
		t.Fatal(diff)
	}
	if best, last := got[0].Mean(); math.Abs(best-4) > 1e-9 || math.Abs(last-9) > 1e-9 {
		t.Errorf("mean gains %v, %v, want 4 and 9", best, last)
	}
	var text bytes.Buffer
	if err := GainsSheet(shiftResults(), shiftExperiment()).WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| iwdan  | dann | +4.00 | +9.00 |  50% | +6.55 | -2.55 |        100% |   2/3 |",
		"| iwcdan | cdan | +0.00 | +0.00 | 100% | +2.25 | -2.25 |         94% |   1/3 |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no\n%s in\n%s", want, &text)
		}
	}
	if gains := Gains(digitsResults(), digitsExperiment()); gains != nil {
		t.Errorf("gains without class fractions: %v", gains)
	}
}

func TestDivergenceFigures(t *testing.T) {
	runs := storedRuns(t, t.TempDir(), shiftResults())
	figures, err := Figures(runs, shiftExperiment())
	if err != nil {
		t.Fatal(err)
	}
	paths, err := WriteFigures(figures, t.TempDir(), SVG)
	if err != nil || len(paths) != 2 {
		t.Fatalf("%v, %v", paths, err)
	}
	for i, labels := range [][]string{
		{"iwdan: mean +4.00 (paper +6.55)", "gain over dann (points of accuracy)", "gain over cdan (points of accuracy)", divergenceLabel},
		// iwdan falls from 90 to 83 between 0.02 and 0.06; cdan has a single point.
		{"iwdan: -17.5 points per 0.1", "dann: +12.5 points per 0.1", "cdan", "accuracy on the target's test set (%)"},
	} {
		texts := svgTexts(t, paths[i])
		for _, label := range labels {
			if !strings.Contains(texts, "\n"+label+"\n") {
				t.Errorf("%s: no label %q in%s", paths[i], label, texts)
			}
		}
	}
}

func TestWeightsSheet(t *testing.T) {
	var text bytes.Buffer
	sheet := WeightsSheet(detailed(digitsResults()), digitsExperiment())
	if err := sheet.WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	// Seeds 1, 2 and 3 of dann: the mean weight is 0.02 above the true one.
	for _, want := range []string{
		"## subsampled, usps-mnist\n\n| method               |    0 |",
		"| true weights (paper) | 1.19 |",
		"| dann                 | 1.02 | 1.12 | 1.22 | 1.32 | 1.42 | 1.52 | 1.62 | 1.72 | 1.82 | 1.92 | 2.00 ± 1.00 |   3/3 |",
		"| dann (paper)         | 1.06 | 1.15 |",
		"12 of 36 runs are finished.",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no\n%s in\n%s", want, &text)
		}
	}
	if strings.Contains(text.String(), "full, usps-mnist") {
		t.Errorf("a section without runs:\n%s", &text)
	}
}

func TestConfusionSheet(t *testing.T) {
	all := Confusions(detailed(digitsResults()), digitsExperiment())
	names := ""
	for _, c := range all {
		names += fmt.Sprintf("%s %s %s, %d; ", c.Variant, c.Task, c.Name(), c.Seeds)
	}
	want := "full mnist-usps iwdan, 1; subsampled mnist-usps dann, 2; subsampled mnist-usps iwdan, 2; " +
		"subsampled usps-mnist source-only, 1; subsampled usps-mnist source-only (paper), 0; subsampled usps-mnist dann, 3; " +
		"subsampled usps-mnist dann (paper), 0; subsampled usps-mnist iwdan, 3; subsampled usps-mnist iwdan (paper), 0; "
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if row := all[0].Percent[0]; row[0] != 90 || row[9] != 10 || all[0].Percent[1][2] != 100 {
		t.Errorf("percentages %v, %v", row, all[0].Percent[1])
	}
	var text bytes.Buffer
	if err := ConfusionSheet(detailed(digitsResults()), digitsExperiment()).WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	if want := "## subsampled, usps-mnist, dann (paper): accuracy 86.71, one run\n"; !strings.Contains(text.String(), want) {
		t.Errorf("no %s in\n%s", want, &text)
	}
}

func TestBoundsSheet(t *testing.T) {
	results := detailed(digitsResults())
	results[0].SourceConfusion = nil
	sheet := BoundsSheet(results, digitsExperiment())
	if len(sheet.Sections) != 1 || len(sheet.Sections[0].Rows) != len(results)-1 {
		t.Fatalf("sections %+v", sheet.Sections)
	}
	if notes := strings.Join(sheet.Notes, " "); !strings.Contains(notes, "1 runs of a former version") {
		t.Errorf("notes: %s", notes)
	}
	record := map[string]any{}
	for i, field := range sheet.Records.Fields {
		record[field] = sheet.Records.Rows[0][i]
	}
	for field, want := range map[string]float64{
		"source_error": 0.1, "target_error": 11. / 36, "balanced_error_rate": 0.1, "joint_error": 0.1 + 11./36,
		"joint_error_bound": 0.2, "conditional_error_gap": 0.9, // 1 taken for 2: one in ten on the source, always on the target
	} {
		if got := record[field].(float64); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", field, got, want)
		}
	}
}

func TestAverageAndAblation(t *testing.T) {
	e := digitsExperiment()
	e.Variants = []string{"subsampled"}
	e.Methods = append(e.Methods, "dann+wc", "dann+wc-o", "iwdan-o")
	results := append(digitsResults(), result("subsampled", "mnist-usps", "dann+wc", 1, 0.5, 0.5), result("subsampled", "usps-mnist", "dann+wc", 1, 0.7, 0.7))
	table := BuildTable(results, e)
	ablation := AblationTable(table, config.EstimatedWeights)
	var methods []string
	for _, row := range ablation.Blocks[0].Groups[0].Rows {
		methods = append(methods, row.Method)
	}
	if diff := cmp.Diff([]string{"dann", "dann+wc", "iwdan"}, methods); diff != "" {
		t.Error(diff)
	}
	if row := ablation.Blocks[0].Groups[0].Rows[1]; math.Abs(row.Best.Mean-60) > 1e-9 || row.Paper != 84.2 {
		t.Errorf("dann+wc: %+v", row)
	}

	both := e
	both.Methods = []string{"dann", "iwdan", "dann+wda", "dann+wc", "cdan", "iwcdan", "cdan+wda", "cdan+wc"}
	var beside bytes.Buffer
	if err := AblationTable(BuildTable(results, both), config.EstimatedWeights).Sheet().WriteLaTeX(&beside); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\\begin{tabular}{lclc}", "Method & sDigits & Method & sDigits \\\\\n\\midrule\nDANN & 78.00$^{5/6}$ & CDAN & -- \\\\\nDANN + $\\mathcal{L}_{C}^{\\mathbf{w}}$ & 60.00",
	} {
		if !strings.Contains(beside.String(), want) {
			t.Errorf("no\n%s in\n%s", want, &beside)
		}
	}

	visda := e
	visda.Experiment, visda.Dataset.Name, visda.Tasks, visda.Variants = "visda", "visda", []string{"synthetic-real"}, []string{"full", "subsampled"}
	one := result("full", "synthetic-real", "iwdan", 1, 0.6, 0.5)
	one.Experiment = "visda"
	half := digitsExperiment()
	half.Experiment, half.Dataset.Name = "half", "office31"
	half.Tasks = []string{"amazon-dslr", "dslr-webcam"}
	part := result("full", "amazon-dslr", "dann", 1, 0.5, 0.5)
	part.Experiment = "half"
	average := AverageTable([]Table{table, BuildTable([]store.Result{one}, visda), BuildTable([]store.Result{part}, half)})
	if row := group(t, average, "full", "visda")["iwdan"]; row.Paper != 63.52 || row.Best.Mean != 60 || row.Planned != 3 {
		t.Errorf("visda: %+v", row)
	}
	if row := group(t, average, "subsampled", "digits")["iwdan"]; row.Paper != 92.54 || math.Abs(row.Best.Mean-88.5) > 1e-9 {
		t.Errorf("digits: %+v", row)
	}
	if notes := strings.Join(average.Notes, " "); !strings.Contains(notes, "office31: no average of full") {
		t.Errorf("notes: %s", notes)
	}
	var text bytes.Buffer
	if err := average.Sheet().WriteLaTeX(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Method & Visda & sDigits \\\\", "IWDAN & 60.00$^{1/3}$ & \\textbf{88.50}$_{75\\%}$$^{5/6}$ \\\\"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no\n%s in\n%s", want, &text)
		}
	}
}

// TestLaTeXLayout compares with the layout of the paper's tables.
func TestLaTeXLayout(t *testing.T) {
	layout := func(dataset string, tasks ...string) string {
		e := digitsExperiment()
		e.Dataset.Name, e.Tasks, e.Seeds = dataset, tasks, []int64{1}
		var results []store.Result
		for _, variant := range e.Variants {
			for _, task := range tasks {
				results = append(results, result(variant, task, "dann", 1, 0.5, 0.25), result(variant, task, "iwdan", 1, 0.75, 0.25))
			}
		}
		var text bytes.Buffer
		if err := BuildTable(results, e).Sheet().WriteLaTeX(&text); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	digits := layout("digits", "mnist-usps", "usps-mnist")
	for _, want := range []string{
		"\\begin{tabular}{lcc|c|cc|c}",
		"Method & M $\\rightarrow$ U & U $\\rightarrow$ M & Avg. & sM $\\rightarrow$ U & sU $\\rightarrow$ M & Avg. \\\\\n\\midrule\nNo DA & --",
		"\\midrule\nDANN & 50.00 &",
		"IWDAN & \\textbf{75.00}$_{100\\%}$ &",
		"IWDAN & \\textbf{25.00}$_{100\\%}$ &", // the last epoch, where both are best
		"IWDAN & \\textbf{93.28}$_{100\\%}$ ($-18.28$) &",
	} {
		if !strings.Contains(digits, want) {
			t.Errorf("no\n%s in\n%s", want, digits)
		}
	}
	home := layout("officehome", "art-clipart", "art-product", "art-real", "clipart-art", "clipart-product", "clipart-real",
		"product-art", "product-clipart", "product-real", "real-art", "real-clipart", "real-product")
	for want, times := range map[string]int{
		"\\begin{tabular}{lcccccc|c}": 6, // three views of two variants
		"\\midrule\n\\midrule\nMethod & P $\\rightarrow$ A & P $\\rightarrow$ C & P $\\rightarrow$ R & R $\\rightarrow$ A & R $\\rightarrow$ C & R $\\rightarrow$ P & Avg. \\\\": 3,
	} {
		if got := strings.Count(home, want); got != times {
			t.Errorf("%d times, want %d:\n%s", got, times, want)
		}
	}
}

// LaTeX fails with more floats than it can hold back.
func TestLaTeXFloats(t *testing.T) {
	for tables, want := range map[int]int{1: 0, 18: 0, 19: 1, 37: 2} {
		var text bytes.Buffer
		if err := (Sheet{Tabulars: make([]Tabular, tables)}).WriteLaTeX(&text); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(text.String(), "\n\\clearpage\n"); got != want {
			t.Errorf("%d tables: %d new pages, want %d", tables, got, want)
		}
	}
}

func TestEscapeLaTeX(t *testing.T) {
	if got, want := escapeLaTeX(`50% of a_b & {c} ± Δ \d`), `50\% of a\_b \& \{c\} $\pm$ $\Delta$ \textbackslash{}d`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestKinds: every table can be written in every format, of nothing at all too.
func TestKinds(t *testing.T) {
	for _, kind := range Kinds() {
		for name, results := range map[string][]store.Result{"nothing": nil, "some": detailed(digitsResults())} {
			sheet := BuildSheet(kind, results, digitsExperiment())
			var text bytes.Buffer
			err := errors.Join(sheet.WriteMarkdown(io.Discard), sheet.WriteLaTeX(io.Discard), sheet.WriteCSV(io.Discard), sheet.WriteJSON(&text))
			if err != nil || !json.Valid(text.Bytes()) || sheet.Title == "" {
				t.Errorf("%s of %s: %v\n%s", kind, name, err, &text)
			}
			for _, row := range sheet.Records.Rows {
				if len(row) != len(sheet.Records.Fields) {
					t.Errorf("%s: %d values in %d fields", kind, len(row), len(sheet.Records.Fields))
				}
			}
			for _, section := range sheet.Sections {
				for _, row := range section.Rows {
					if len(row) != len(section.Header) {
						t.Errorf("%s: %d cells below %d heads", kind, len(row), len(section.Header))
					}
				}
			}
		}
	}
	if kind := MainKind(shiftExperiment()); kind != "gains" {
		t.Errorf("the main table of class fractions is %s", kind)
	}
	if kind := MainKind(digitsExperiment()); kind != "accuracy" {
		t.Errorf("the main table of the paper's variants is %s", kind)
	}
}

func TestTrafficColor(t *testing.T) {
	for percent, want := range map[float64][2]uint8{0: {255, 0}, 35: {255, 128}, 70: {255, 255}, 85: {128, 255}, 100: {0, 255}} {
		if got := trafficColor(percent); got.R != want[0] || got.G != want[1] || got.B != 0 || got.A != 255 {
			t.Errorf("%v: %v, want %v", percent, got, want)
		}
	}
}

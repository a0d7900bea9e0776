package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/config"
	"iwda/experiments/report/internal/sample"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
	"iwda/experiments/store"
)

func TestWeights(t *testing.T) {
	var text bytes.Buffer
	built := Build("weights", sample.Runs(sample.Detailed(sample.DigitsResults())...), sample.Digits())
	if err := built.Write(&text, sheet.Markdown); err != nil {
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

// TestWithoutTargetLabels: what labels of the target alone would give is absent from
// every table, and nothing fails.
func TestWithoutTargetLabels(t *testing.T) {
	results := sample.Detailed(sample.DigitsResults())
	for i := range results {
		results[i].TrueWeights, results[i].WeightDistance, results[i].Confusion = nil, store.Optional[float64]{}, nil
	}
	for _, kind := range Kinds() {
		for _, format := range sheet.Formats() {
			if err := Build(kind, sample.Runs(results...), sample.Digits()).Write(io.Discard, format); err != nil {
				t.Errorf("%s as %s: %v", kind, format, err)
			}
		}
	}
	var text bytes.Buffer
	if err := Build("weights", sample.Runs(results...), sample.Digits()).Write(&text, sheet.Markdown); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## full, mnist-usps\n\n| method |", "| iwdan  | 1.02 | 1.12 | 1.22 | 1.32 | 1.42 | 1.52 | 1.62 | 1.72 | 1.82 | 1.92 |        – |   1/3 |"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no\n%s in\n%s", want, &text)
		}
	}
}

func TestTheorems(t *testing.T) {
	results := sample.Detailed(sample.DigitsResults())
	results[0].SourceConfusion = nil
	built := Build("theory", sample.Runs(results...), sample.Digits())
	// The results are of five methods on a task, of which all runs have the same predictions.
	if n := len(built.Records.Rows); n != len(results)-1 || len(built.Sections) != 2 || len(built.Sections[0].Rows) != 5 {
		t.Fatalf("%d rows, sections %+v", n, built.Sections)
	}
	if row := built.Sections[0].Rows[4]; row[2].Text() != "iwdan" || row[3].Text() != "0.100" || row[7].Text() != "3/3" {
		t.Errorf("by method: %+v", row)
	}
	if notes := strings.Join(built.Notes, " "); !strings.Contains(notes, "Of 11 runs, the bound of theorem 3.1 says nothing in 11, that of 3.4 in 11, the floor in 11; in 11 the joint error excludes GLS.") {
		t.Errorf("notes: %s", notes)
	}
	if notes := strings.Join(built.Notes, " "); !strings.Contains(notes, "Left out: "+results[0].ID+": source: theory: the confusion matrix holds no sample.") {
		t.Errorf("notes: %s", notes)
	}
	record := map[string]sheet.Value{}
	for i, field := range built.Records.Fields {
		record[field] = built.Records.Rows[0][i]
	}
	for field, want := range map[string]float64{
		"source_error": 0.1, "target_error": 11. / 36, "balanced_error_rate": 0.1, "joint_error": 0.1 + 11./36,
		"conditional_distance": 0.9, "joint_error_bound": 0.2, "conditional_error_gap": 0.9, // 1 taken for 2: one in ten on the source, always on the target
	} {
		if got := record[field].Number(); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", field, got, want)
		}
	}
}

func TestAverageAndAblation(t *testing.T) {
	e := sample.Digits()
	e.Variants = []string{"subsampled"}
	e.Methods = append(e.Methods, "dann+wc", "dann+wc-o", "iwdan-o")
	results := append(sample.DigitsResults(), sample.Result("subsampled", "mnist-usps", "dann+wc", 1, 0.5, 0.5), sample.Result("subsampled", "usps-mnist", "dann+wc", 1, 0.7, 0.7))
	ablation := ablate(summary.CompareAccuracies(summary.Select(sample.Runs(results...), e)), config.EstimatedWeights)
	var methods []string
	for _, row := range ablation.Blocks[0].Groups[0].Rows {
		methods = append(methods, row.Method)
	}
	if diff := cmp.Diff([]string{"dann", "dann+wc", "iwdan"}, methods); diff != "" {
		t.Error(diff)
	}
	if row := ablation.Blocks[0].Groups[0].Rows[1]; math.Abs(row.Scores[summary.Best].Mean-60) > 1e-9 || row.Paper.Mean != 84.2 {
		t.Errorf("dann+wc: %+v", row)
	}

	both := e
	both.Methods = []string{"dann", "iwdan", "dann+wda", "dann+wc", "cdan", "iwcdan", "cdan+wda", "cdan+wc"}
	var beside bytes.Buffer
	if err := Build("ablation", sample.Runs(results...), both).Write(&beside, sheet.LaTeX); err != nil {
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
	one := sample.Result("full", "synthetic-real", "iwdan", 1, 0.6, 0.5)
	one.Experiment = "visda"
	half := sample.Digits()
	half.Experiment, half.Dataset.Name = "half", "office31"
	half.Tasks = []string{"amazon-dslr", "dslr-webcam"}
	part := sample.Result("full", "amazon-dslr", "dann", 1, 0.5, 0.5)
	part.Experiment = "half"
	experiments := []summary.Selection{
		summary.Select(sample.Runs(results...), e), summary.Select(sample.Runs(one), visda), summary.Select(sample.Runs(part), half),
	}
	average := average(experiments)
	if row := group(t, average, "full", "visda")["iwdan"]; row.Paper.Mean != 63.52 || row.Scores[summary.Best].Mean != 60 || row.Planned != 3 {
		t.Errorf("visda: %+v", row)
	}
	if row := group(t, average, "subsampled", "digits")["iwdan"]; row.Paper.Mean != 92.54 || math.Abs(row.Scores[summary.Best].Mean-88.5) > 1e-9 {
		t.Errorf("digits: %+v", row)
	}
	if notes := strings.Join(average.Notes, " "); !strings.Contains(notes, "office31: no average of full") {
		t.Errorf("notes: %s", notes)
	}
	var text bytes.Buffer
	if err := Average(experiments).Write(&text, sheet.LaTeX); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Method & Visda & sDigits \\\\", "IWDAN & 60.00$^{1/3}$ & \\textbf{88.50}$_{50\\%}$$^{5/6}$ \\\\"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no\n%s in\n%s", want, &text)
		}
	}
}

func group(t *testing.T, a summary.Accuracies, variant, task string) map[string]summary.Row {
	t.Helper()
	for _, b := range a.Blocks {
		for _, g := range b.Groups {
			if b.Variant == variant && g.Task == task {
				rows := map[string]summary.Row{}
				for _, r := range g.Rows {
					rows[r.Method] = r
				}
				return rows
			}
		}
	}
	t.Fatalf("no group %s, %s", variant, task)
	return nil
}

// TestLaTeXLayout compares with the layout of the paper's tables.
func TestLaTeXLayout(t *testing.T) {
	layout := func(dataset string, tasks ...string) string {
		e := sample.Digits()
		e.Dataset.Name, e.Tasks, e.Seeds = dataset, tasks, []int64{1}
		var results []store.Result
		for _, variant := range e.Variants {
			for _, task := range tasks {
				results = append(results, sample.Result(variant, task, "dann", 1, 0.5, 0.25), sample.Result(variant, task, "iwdan", 1, 0.75, 0.25))
			}
		}
		var text bytes.Buffer
		if err := Build("accuracy", sample.Runs(results...), e).Write(&text, sheet.LaTeX); err != nil {
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
		"IWDAN & \\textbf{25.00}$_{0\\%}$ &", // the last epoch, where both are best
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

// Hyphens in the names of domains do not move the arrow between source and target.
func TestLaTeXNamesDomains(t *testing.T) {
	file, err := config.Parse("own.yaml", []byte(`experiment: digits
dataset: {name: files, root: data, domains: {my-photos: {path: a.npz}, sketches: {path: b.npz}}}
tasks: [[my-photos, sketches], [sketches, my-photos]]
variants: [full]
methods: [dann]
seeds: [1]
`))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	results := []store.Result{sample.Result("full", "my-photos-sketches", "dann", 1, 0.5, 0.5), sample.Result("full", "sketches-my-photos", "dann", 1, 0.5, 0.5)}
	if err := Build("accuracy", sample.Runs(results...), file.Config).Write(&text, sheet.LaTeX); err != nil {
		t.Fatal(err)
	}
	if want := `Method & my-photos $\rightarrow$ sketches & sketches $\rightarrow$ my-photos & Avg. \\`; !strings.Contains(text.String(), want) {
		t.Errorf("no\n%s in\n%s", want, &text)
	}
}

// TestKinds: every table can be written in every format, of nothing at all too.
func TestKinds(t *testing.T) {
	for _, kind := range Kinds() {
		for name, results := range map[string][]store.Result{"nothing": nil, "some": sample.Detailed(sample.DigitsResults())} {
			built := Build(kind, sample.Runs(results...), sample.Digits())
			var text bytes.Buffer
			err := errors.Join(built.Write(io.Discard, sheet.Markdown), built.Write(io.Discard, sheet.LaTeX), built.Write(io.Discard, sheet.CSV), built.Write(&text, sheet.JSON))
			if err != nil || !json.Valid(text.Bytes()) || built.Title == "" || kind != "accuracy" && len(built.Sections) == 0 && !strings.Contains(text.String(), "Nothing to show: ") {
				t.Errorf("%s of %s: %v\n%s", kind, name, err, &text)
			}
		}
	}
	if kind := mainKind(summary.Select(nil, sample.Shift())); kind != "gains" {
		t.Errorf("the main table of class fractions is %s", kind)
	}
	if kind := mainKind(summary.Select(nil, sample.Digits())); kind != "accuracy" {
		t.Errorf("the main table of the paper's variants is %s", kind)
	}
}

func TestJSON(t *testing.T) {
	var text bytes.Buffer
	if err := Build("accuracy", sample.Runs(sample.DigitsResults()...), sample.Digits()).Write(&text, sheet.JSON); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Experiment, Title, Unit string
		Notes                   []string
		Rows                    []map[string]any
	}
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Experiment != "digits" || got.Title != "Digits" || got.Unit != "percent" || len(got.Notes) != 2 || len(got.Rows) != 12 {
		t.Errorf("got %d rows:\n%s", len(got.Rows), &text)
	}
	want := map[string]any{
		"variant": "subsampled", "task": "mnist-usps", "method": "iwdan", "seeds": 2., "planned": 3., "pairs": 1.,
		"best": 91., "best_deviation": 1.414214, "best_wins": 100., "best_ties": 0., "last": 90.5, "last_deviation": 0.707107, "last_wins": 100., "last_ties": 0.,
		"paper": 91.77, "paper_wins": 100., "difference": -0.77,
	}
	if diff := cmp.Diff(want, got.Rows[5]); diff != "" {
		t.Error(diff)
	}
	if value, there := got.Rows[3]["best"]; !there || value != nil {
		t.Errorf("accuracy without a run: %v, want null", value)
	}
	text.Reset()
	if err := Build("accuracy", nil, config.Config{}).Write(&text, sheet.JSON); err != nil || !strings.Contains(text.String(), `"rows": []`) {
		t.Errorf("empty table: %v\n%s", err, &text)
	}
}

// The paper's numbers stand beside no run on other data than the published ones, and a note says why.
func TestNoPaperBesideOtherData(t *testing.T) {
	shift, digits := sample.ShiftResults(), sample.DigitsResults()
	for kind, of := range map[string]struct {
		results    []store.Result
		experiment config.Config
	}{"accuracy": {digits, sample.Digits()}, "gains": {shift, sample.Shift()}, "weights": {digits, sample.Digits()}} {
		for _, unpublished := range [][]string{nil, {"mnist: 400 of 60000 images"}} {
			of.results[len(of.results)-1].Unpublished = unpublished
			var text bytes.Buffer
			if err := Build(kind, sample.Runs(of.results...), of.experiment).Write(&text, sheet.Markdown); err != nil {
				t.Fatal(err)
			}
			said := strings.Join(strings.Fields(text.String()), " ") // whatever the lines
			note := strings.Contains(said, "Not beside the paper's numbers, because the data are not the published ones: mnist: 400 of 60000")
			shown := strings.Contains(said, "| paper |") || strings.Contains(said, "(paper)") || strings.Contains(said, "paper: the paper's")
			if other := unpublished != nil; note != other || shown == other && kind != "weights" {
				t.Errorf("%s, of other data %v: note %v, paper %v\n%s", kind, other, note, shown, &text)
			}
		}
	}
}

func TestCSV(t *testing.T) {
	var text bytes.Buffer
	if err := Build("accuracy", sample.Runs(sample.DigitsResults()...), sample.Digits()).Write(&text, sheet.CSV); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 13 {
		t.Fatalf("%d lines, want a header and 12", len(lines))
	}
	for i, want := range map[int]string{
		0: "experiment,variant,task,method,seeds,planned,best,best_deviation,best_wins,best_ties,last,last_deviation,last_wins,last_ties,pairs,paper,paper_wins,difference",
		4: "digits,subsampled,mnist-usps,source-only,0,3,,,,,,,,,0,76.02,,",
		6: "digits,subsampled,mnist-usps,iwdan,2,3,91,1.414214,100,0,90.5,0.707107,100,0,1,91.77,100,-0.77",
	} {
		if diff := cmp.Diff(want, strings.Join(lines[i], ",")); diff != "" {
			t.Error(diff)
		}
	}
}

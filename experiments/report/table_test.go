package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"iwda/experiments/config"
	"iwda/experiments/paper"
	"iwda/experiments/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// approximately ignores the error of the arithmetic and takes NaN for NaN.
var approximately = cmp.Options{cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateNaNs()}

func digitsExperiment() config.Config {
	experiment := config.Config{
		Experiment: "digits", Title: "Digits",
		Tasks:    []string{"mnist-usps", "usps-mnist"},
		Variants: []string{"full", "subsampled"},
		Methods:  []string{"iwdan", "dann", "source-only"},
		Seeds:    []int64{1, 2, 3},
	}
	experiment.Dataset.Name = "digits"
	return experiment
}

func result(variant, task, method string, seed int64, best, last float64) store.Result {
	return store.Result{
		Experiment: "digits", Variant: variant, Task: task, Method: method, Seed: seed,
		BestAccuracy: best, LastAccuracy: last,
	}
}

// digitsResults are 12 of the 36 runs.
func digitsResults() []store.Result {
	return []store.Result{
		result("subsampled", "usps-mnist", "source-only", 2, 0.70, 0.65),
		result("subsampled", "usps-mnist", "dann", 1, 0.80, 0.78),
		result("subsampled", "usps-mnist", "dann", 2, 0.84, 0.80),
		result("subsampled", "usps-mnist", "dann", 3, 0.88, 0.82),
		result("subsampled", "usps-mnist", "iwdan", 1, 0.80, 0.79),       // best: a tie
		result("subsampled", "usps-mnist", "iwdan", 2, 0.83, 0.79999999), // last: a tie in print
		result("subsampled", "usps-mnist", "iwdan", 3, 0.95, 0.70),
		result("subsampled", "mnist-usps", "dann", 1, 0.70, 0.60),
		result("subsampled", "mnist-usps", "dann", 3, 0.74, 0.60),
		result("subsampled", "mnist-usps", "iwdan", 1, 0.90, 0.90),
		result("subsampled", "mnist-usps", "iwdan", 2, 0.92, 0.91),
		result("full", "mnist-usps", "iwdan", 2, 0.9, 0.9),
	}
}

func group(t *testing.T, table Table, variant, task string) map[string]Row {
	t.Helper()
	for _, b := range table.Blocks {
		for _, g := range b.Groups {
			if b.Variant == variant && g.Task == task {
				rows := map[string]Row{}
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

func TestBuildTable(t *testing.T) {
	table := BuildTable(digitsResults(), digitsExperiment())
	nan := math.NaN()
	for _, test := range []struct {
		task string
		want Row
	}{
		{"usps-mnist", Row{Method: "source-only", Seeds: 1, Planned: 3, Paper: 75.32, PaperWins: nan,
			Best: Score{70, nan, nan}, Last: Score{65, nan, nan}}},
		{"usps-mnist", Row{Method: "dann", Seeds: 3, Planned: 3, Paper: 87.46, PaperWins: nan,
			Best: Score{84, 4, nan}, Last: Score{80, 2, nan}}},
		{"usps-mnist", Row{Method: "iwdan", Seeds: 3, Planned: 3, Pairs: 3, Paper: 93.32, PaperWins: 100,
			Best: Score{86, math.Sqrt(63), 200. / 3}, Last: Score{76.333333, 5.507570, 200. / 3}}},
		{"mnist-usps", Row{Method: "source-only", Seeds: 0, Planned: 3, Paper: 76.02, PaperWins: nan,
			Best: Score{nan, nan, nan}, Last: Score{nan, nan, nan}}},
		{"mnist-usps", Row{Method: "dann", Seeds: 2, Planned: 3, Paper: 79.03, PaperWins: nan,
			Best: Score{72, math.Sqrt(8), nan}, Last: Score{60, 0, nan}}},
		{"mnist-usps", Row{Method: "iwdan", Seeds: 2, Planned: 3, Pairs: 1, Paper: 91.77, PaperWins: 100,
			Best: Score{91, math.Sqrt(2), 100}, Last: Score{90.5, math.Sqrt(0.5), 100}}},
		{paper.Average, Row{Method: "source-only", Seeds: 1, Planned: 6, Paper: 75.67, PaperWins: nan,
			Best: Score{nan, nan, nan}, Last: Score{nan, nan, nan}}},
		{paper.Average, Row{Method: "dann", Seeds: 5, Planned: 6, Paper: 83.24, PaperWins: nan,
			Best: Score{78, nan, nan}, Last: Score{70, nan, nan}}},
		{paper.Average, Row{Method: "iwdan", Seeds: 5, Planned: 6, Pairs: 4, Paper: 92.54, PaperWins: 100,
			Best: Score{88.5, nan, 75}, Last: Score{83.4166665, nan, 75}}},
	} {
		got := group(t, table, "subsampled", test.task)[test.want.Method]
		if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-5), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s, %s:\n%s", test.task, test.want.Method, diff)
		}
	}
	if got := group(t, table, "subsampled", paper.Average)["dann"].Difference(); math.Abs(got+5.24) > 1e-9 {
		t.Errorf("difference from the paper: %v, want 78 - 83.24", got)
	}
	var methods []string
	for _, row := range table.Blocks[1].Groups[0].Rows {
		methods = append(methods, row.Method)
	}
	if diff := cmp.Diff([]string{"source-only", "dann", "iwdan"}, methods); diff != "" {
		t.Errorf("order of rows:\n%s", diff)
	}
	wantNotes := []string{"No finished run of full, usps-mnist.", "12 of 36 runs are finished."}
	if diff := cmp.Diff(wantNotes, table.Notes); diff != "" {
		t.Error(diff)
	}
	if n := len(table.Blocks[0].Groups); n != 1 {
		t.Errorf("variant full has %d groups, want one: an average over one of two tasks is none", n)
	}
}

func TestForeignResultsChangeNothing(t *testing.T) {
	want := BuildTable(digitsResults(), digitsExperiment())
	foreign := result("full", "mnist-usps", "dann", 1, 1, 1)
	foreign.Experiment = "glyphs"
	got := BuildTable(append(digitsResults(),
		foreign,
		result("half", "mnist-usps", "dann", 1, 1, 1),
		result("full", "mnist-mnist", "dann", 1, 1, 1),
		result("full", "mnist-usps", "cdan", 1, 1, 1),
		result("full", "mnist-usps", "magic", 1, 1, 1),
		result("full", "mnist-usps", "dann", 4, 1, 1),
		result("full", "mnist-usps", "dann", 2, math.NaN(), 1),
		result("full", "mnist-usps", "iwdan", 2, 1, 1),
	), digitsExperiment())
	if diff := cmp.Diff(want.Blocks, got.Blocks, approximately); diff != "" {
		t.Error(diff)
	}
	wantNote := `Left out: full/mnist-usps/dann/seed-1 (of experiment "glyphs"); half/mnist-usps/dann/seed-1 (not planned); ` +
		"full/mnist-mnist/dann/seed-1 (not planned); full/mnist-usps/cdan/seed-1 (not planned); " +
		"full/mnist-usps/magic/seed-1 (not planned); full/mnist-usps/dann/seed-4 (not planned); " +
		"full/mnist-usps/dann/seed-2 (its accuracy is not a number); full/mnist-usps/iwdan/seed-2 (there twice)."
	if diff := cmp.Diff(append(want.Notes, wantNote), got.Notes); diff != "" {
		t.Error(diff)
	}
}

func TestPaperNotes(t *testing.T) {
	experiment := digitsExperiment()
	experiment.Dataset.Name = "office31"
	experiment.Tasks = []string{"dslr-webcam"}
	experiment.Methods = []string{"iwjan"}
	table := BuildTable([]store.Result{result("subsampled", "dslr-webcam", "iwjan", 1, 1, 1)}, experiment)
	if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, "The paper's row of subsampled, iwjan") {
		t.Errorf("notes: %s", notes)
	}
	if n := len(table.Blocks[0].Groups); n != 1 {
		t.Errorf("%d groups for one task", n)
	}
}

func TestAverageOfSomeTasksStandsAlone(t *testing.T) {
	experiment := digitsExperiment()
	experiment.Dataset.Name = "office31"
	experiment.Tasks = []string{"amazon-dslr", "dslr-webcam"}
	table := BuildTable([]store.Result{
		result("full", "amazon-dslr", "dann", 1, 0.5, 0.5), result("full", "dslr-webcam", "dann", 1, 0.7, 0.7),
	}, experiment)
	row := group(t, table, "full", paper.Average)["dann"]
	if math.Abs(row.Best.Mean-60) > 1e-9 || !math.IsNaN(row.Paper) {
		t.Errorf("average of 2 of 6 tasks: %v beside the paper's %v", row.Best.Mean, row.Paper)
	}
}

func TestMarkdown(t *testing.T) {
	glyphs := digitsExperiment()
	glyphs.Title, glyphs.Dataset.Name = "Ziffern 数字", "glyphs"
	glyphs.Tasks, glyphs.Variants, glyphs.Seeds = []string{"数字-glyphs"}, []string{"subsampled"}, []int64{1}
	for name, table := range map[string]Table{
		"digits": BuildTable(digitsResults(), digitsExperiment()),
		"glyphs": BuildTable([]store.Result{
			result("subsampled", "数字-glyphs", "source-only", 1, 0.5, 0.5),
			result("subsampled", "数字-glyphs", "dann", 1, 0.61234, 0.5),
			result("subsampled", "数字-glyphs", "iwdan", 1, 1, 1),
		}, glyphs),
		"empty": BuildTable(nil, digitsExperiment()),
	} {
		var got bytes.Buffer
		if err := table.Sheet().WriteMarkdown(&got); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".md")
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
}

func TestJSON(t *testing.T) {
	var text bytes.Buffer
	if err := BuildTable(digitsResults(), digitsExperiment()).Sheet().WriteJSON(&text); err != nil {
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
		"best": 91., "best_deviation": 1.414214, "best_wins": 100., "last": 90.5, "last_deviation": 0.707107, "last_wins": 100.,
		"paper": 91.77, "paper_wins": 100., "difference": -0.77,
	}
	if diff := cmp.Diff(want, got.Rows[5]); diff != "" {
		t.Error(diff)
	}
	if value, there := got.Rows[3]["best"]; !there || value != nil {
		t.Errorf("accuracy without a run: %v, want null", value)
	}
	text.Reset()
	if err := BuildTable(nil, config.Config{}).Sheet().WriteJSON(&text); err != nil || !strings.Contains(text.String(), `"rows": []`) {
		t.Errorf("empty table: %v\n%s", err, &text)
	}
}

func TestCSV(t *testing.T) {
	var text bytes.Buffer
	if err := BuildTable(digitsResults(), digitsExperiment()).Sheet().WriteCSV(&text); err != nil {
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
		0: "experiment,variant,task,method,seeds,planned,best,best_deviation,best_wins,last,last_deviation,last_wins,pairs,paper,paper_wins,difference",
		4: "digits,subsampled,mnist-usps,source-only,0,3,,,,,,,0,76.02,,",
		6: "digits,subsampled,mnist-usps,iwdan,2,3,91,1.414214,100,90.5,0.707107,100,1,91.77,100,-0.77",
	} {
		if diff := cmp.Diff(want, strings.Join(lines[i], ",")); diff != "" {
			t.Error(diff)
		}
	}
}

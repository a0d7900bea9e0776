package store

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

const digits = "digits"

// sampleResult is a finished run of two classes.
func sampleResult(method string, seed int64) Result {
	return Result{
		ID:         ID{Variant: "subsampled", Task: "usps-mnist", Method: method, Seed: seed}.String(),
		Experiment: digits, Variant: "subsampled", Task: "usps-mnist", Method: method, Seed: seed,
		ConfigHash: "abc", Versions: map[string]string{"iwda": "1", "go": "2"}, Device: "cpu", Threads: 1,
		BestAccuracy: Measured(0.1 + 0.2), BestEpoch: Measured(3), LastAccuracy: Measured(1. / 3), MeanClassAccuracy: Measured(0.25),
		Confusion: [][]int{{3, 1}, {0, 4}}, Classes: []string{"<0>", "1"},
		Weights: []float64{0.5, 1.5}, TrueWeights: []float64{0.4, 1.6}, WeightDistance: Measured(math.Sqrt2 / 10), JSD: Measured(0.027),
		LabelDistributions: LabelDistributions{Source: []float64{0.5, 0.5}, Target: []float64{0.2, 0.8}},
		Steps:              12, Seconds: 1.5, PeakMemoryBytes: 1 << 40,
	}
}

// begun returns the ready folder of a run.
func begun(t *testing.T, root string, id string) Dir {
	t.Helper()
	dir := NewDir(root, digits, id)
	must.Do(t, dir.Begin())
	return dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	text := testfiles.Read(t, path)
	return string(text)
}

func TestResultRoundTrip(t *testing.T) {
	want := sampleResult("iwdan", 1)
	dir := begun(t, t.TempDir(), want.ID)
	must.Do(t, dir.WriteResult(want))
	if text := read(t, dir.Path(ResultFile)); strings.Contains(text, "source_confusion") || strings.Contains(text, "machine") {
		t.Errorf("keys without a value are written:\n%s", text)
	}
	if _, err := dir.ReadResult(); err != nil { // as of former versions
		t.Error(err)
	}
	want.SourceConfusion, want.Machine = [][]int{{5, 0}, {1, 6}}, "a processor"
	must.Do(t, dir.WriteResult(want))
	first := read(t, dir.Path(ResultFile))
	got := must.Have(dir.ReadResult())(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	must.Do(t, dir.WriteResult(got))
	if second := read(t, dir.Path(ResultFile)); second != first {
		t.Errorf("written twice, the bytes differ:\n%s\n%s", first, second)
	}
	if !strings.HasSuffix(first, "}\n") || !strings.Contains(first, `"<0>"`) {
		t.Errorf("want one line feed at the end and no escapes for HTML:\n%s", first)
	}
}

func TestFinished(t *testing.T) {
	result := sampleResult("iwdan", 1)
	dir := begun(t, t.TempDir(), result.ID)
	if _, finished, err := dir.Finished("abc"); finished || err != nil {
		t.Errorf("without a result: %v, %v", finished, err)
	}
	must.Do(t, dir.WriteResult(result))
	if got, finished, err := dir.Finished("abc"); !finished || err != nil || got.Steps != result.Steps {
		t.Errorf("with a result: %v, %v, %v", got, finished, err)
	}
	if _, finished, err := dir.Finished("abd"); finished || err != nil {
		t.Errorf("with another configuration: %v, %v", finished, err)
	}
	testfiles.Write(t, dir.Path(ResultFile), "{")
	if _, finished, err := dir.Finished("abc"); finished || err == nil {
		t.Errorf("with half a result: %v, %v", finished, err)
	}
}

func TestReadResultErrors(t *testing.T) {
	result := sampleResult("iwdan", 1)
	dir := begun(t, t.TempDir(), result.ID)
	must.Do(t, dir.WriteResult(result))
	good := read(t, dir.Path(ResultFile))
	before, _, _ := strings.Cut(good, `"steps"`)
	stepsLine := 1 + strings.Count(before, "\n")
	for _, test := range []struct{ old, new, want string }{
		{`"seed"`, `"sead"`, `unknown field "sead"`},
		{"  \"steps\": 12,\n", "", `the key "steps" is missing`},
		{`"steps": 12`, `"steps": "12"`, fmt.Sprintf("result.json:%d: json: cannot unmarshal string", stepsLine)},
		{`"seed": 1,`, `"seed": 1`, "result.json:8: invalid character"},
		{"\n}\n", "\n", "the file ends too early"},
		{"\n}\n", "\n}\n{}", "text after the end"},
		{`"seed": 1`, `"seed": 2`, `make "subsampled/usps-mnist/iwdan/seed-2"`},
		{`"experiment": "digits"`, `"experiment": "glyphs"`, "lies in the folder of"},
		{`"experiment": "digits"`, `"experiment": "../digits"`, "lies in the folder of"},
		{`"id": "subsampled/usps-mnist/iwdan/seed-1"`, `"id": "../../../x"`, `id is "../../../x", but`},
		{`"variant": "subsampled"`, `"variant": "../.."`, "but variant, task, method and seed make"},
		{`"best_epoch"`, `"best_epoch": 1, "best_accuracy": 94.2, "best_epoch"`, "best_accuracy is 94.2, not a fraction of 1"},
		{`"mean_class_accuracy": 0.25`, `"mean_class_accuracy": -0.25`, "mean_class_accuracy is -0.25"},
		{"    0.5,\n    1.5\n", "    0.5\n", "weights has 1 values for 2 classes"},
		{"      3,\n      1\n", "      3\n", "confusion[0] has 1 columns for 2 classes"},
		{"      3,\n", "      -3,\n", "confusion[0][0] is -3"},
	} {
		if !strings.Contains(good, test.old) {
			t.Fatalf("%q is not in\n%s", test.old, good)
		}
		testfiles.Write(t, dir.Path(ResultFile), strings.Replace(good, test.old, test.new, 1))
		_, err := dir.ReadResult()
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir.Path(ResultFile)) {
			t.Errorf("%q for %q: got error %v, want the file and %q", test.new, test.old, err, test.want)
		}
	}
}

// What cannot be read is not written.
func TestResultsThatAreRefused(t *testing.T) {
	result := sampleResult("iwdan", 1)
	dir := begun(t, t.TempDir(), result.ID)
	for message, spoil := range map[string]func(*Result){
		"last_accuracy is NaN":                 func(r *Result) { r.LastAccuracy = Measured(math.NaN()) },
		"mean_class_accuracy is 1.5, not a fr": func(r *Result) { r.MeanClassAccuracy = Measured(1.5) },
		`the key "last_accuracy" is missing`:   func(r *Result) { r.LastAccuracy = Optional[float64]{} },
		`the key "best_epoch" is missing`:      func(r *Result) { r.BestEpoch = Optional[int]{} },
		"weights[1] is +Inf":                   func(r *Result) { r.Weights = []float64{1, math.Inf(1)} },
		"make \"subsampled/usps-mnist":         func(r *Result) { r.ID = "full/usps-mnist/iwdan/seed-1" },
		"NaN":                                  func(r *Result) { r.WeightDistance = Measured(math.NaN()) },
		"source_confusion has 1 rows":          func(r *Result) { r.SourceConfusion = [][]int{{5, 0}} },
		"source_confusion[1] has 1 columns":    func(r *Result) { r.SourceConfusion = [][]int{{5, 0}, {1}} },
		"source_confusion[0][1] is -1, not a":  func(r *Result) { r.SourceConfusion = [][]int{{5, -1}, {1, 6}} },
		"some are there and some are missing":  func(r *Result) { r.JSD = Optional[float64]{} },
		"true_weights, weight_distance":        func(r *Result) { r.TrueWeights = nil },
		"without_labels.estimated_shares has 1 values": func(r *Result) {
			r.WithoutLabels = &WithoutLabels{PredictedShares: []float64{0, 1}, EstimatedShares: []float64{1}}
		},
		"without_labels.predicted_shares has 0 values": func(r *Result) { r.WithoutLabels = &WithoutLabels{} },
	} {
		spoilt := result
		spoil(&spoilt)
		must.Fail(t, dir.WriteResult(spoilt), ResultFile, message)
	}
	if got := testfiles.Names(t, dir.String()); len(got) != 0 {
		t.Errorf("files left: %v", got)
	}
}

func TestMetricsRoundTrip(t *testing.T) {
	want := []Metrics{
		{Epoch: 0, Step: 0, Accuracy: Measured(0.1), MeanClassAccuracy: Measured(0.2), ClassificationLoss: math.NaN(), DomainLoss: math.NaN(),
			TotalLoss: math.NaN(), WeightDistance: 1e-300, LearningRate: 0.02, Seconds: 0.5},
		{Epoch: 1, Step: 937, Accuracy: Measured(1. / 3), MeanClassAccuracy: Measured(2. / 3), ClassificationLoss: 1e21, DomainLoss: math.Inf(1),
			TotalLoss: math.Nextafter(1, 2), WeightDistance: 0, LearningRate: 0.01, Seconds: 12},
	}
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	must.Do(t, dir.WriteMetrics(want))
	got := must.Have(dir.ReadMetrics())(t)
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	wantText := "epoch,step,accuracy,mean_class_accuracy,classification_loss,domain_loss,total_loss,weight_distance,learning_rate,seconds\n" +
		"0,0,0.1,0.2,,,,1e-300,0.02,0.5\n" +
		"1,937,0.3333333333333333,0.6666666666666666,1e+21,+Inf,1.0000000000000002,0,0.01,12\n"
	if diff := cmp.Diff(wantText, read(t, dir.Path(MetricsFile))); diff != "" {
		t.Error(diff)
	}
	of04 := strings.Replace(strings.ReplaceAll(wantText, "\n", ",0.5\n"), "seconds,0.5", "seconds,entropy", 1)
	if got, err := MetricsLines.Parse("of 0.4", strings.NewReader(of04)); err != nil || MetricsLines.Format(got) != wantText {
		t.Errorf("of 0.4: %v, %v", got, err)
	}
}

func TestWeightsRoundTrip(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	for _, want := range [][]WeightUpdate{
		nil,
		{
			{Epoch: 1, Step: 10, Weights: []float64{0.25, 1.75}, Distance: 0.5, SmallestSingular: 1e-9, EffectiveSampleSize: 0.75},
			{Epoch: 2, Step: 20, Weights: []float64{0.5, 1.5}, Note: "kept"},
		},
		{
			{Epoch: 1, Step: 10, Weights: []float64{0.25, 1.75}, Distance: 0.5, SmallestSingular: 1e-9, EffectiveSampleSize: 0.75},
			{Epoch: 2, Step: 20, Weights: []float64{0.5, math.NaN()}, Distance: math.NaN(), Note: "singular, \"kept\""},
		},
	} {
		must.Do(t, dir.WriteWeights(want))
		got := must.Have(dir.ReadWeights())(t)
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Error(diff)
		}
	}
	wantHeader := "epoch,step,weight_0,weight_1,distance,smallest_singular,effective_sample_size,note\n"
	if text := read(t, dir.Path(WeightsFile)); !strings.HasPrefix(text, wantHeader) {
		t.Errorf("header of\n%s", text)
	}
}

func TestCSVErrors(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	metrics, weights := "epoch,step,accuracy,mean_class_accuracy,classification_loss,domain_loss,total_loss,weight_distance,learning_rate,seconds",
		"epoch,step,weight_0,distance,smallest_singular,effective_sample_size,note"
	for _, test := range []struct{ name, text, want string }{
		{MetricsFile, "", "metrics.csv: the file is empty"},
		{MetricsFile, "\nx\ny\n", "metrics.csv:2: the header is"},
		{MetricsFile, "step," + metrics, "metrics.csv:1: the header is"},
		{MetricsFile, metrics + "\n1,2,3,4,5,6,7,8,9,10\n1,2,3,4,5,6,x,8,9,y\n", `metrics.csv:3: column 7 is "x", want a number`},
		{MetricsFile, metrics + "\n1.5,2,3,4,5,6,7,8,9,10\n", `metrics.csv:2: column 1 is "1.5", want a whole number`},
		{MetricsFile, metrics + "\n1,2,3\n", "metrics.csv:2:1: wrong number of fields"},
		{WeightsFile, "weight_0\n1\n", "weights.csv:1: the header is"},
		{WeightsFile, weights + "\n1,2,,,,,x\n1,,3,4,5,6,\n", `weights.csv:3: column 2 is "", want a whole number`},
	} {
		testfiles.Write(t, dir.Path(test.name), test.text)
		_, err := dir.ReadMetrics()
		if test.name == WeightsFile {
			_, err = dir.ReadWeights()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got error %v, want %q", test.text, err, test.want)
		}
	}
}

func TestBegin(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	must.Do(t, dir.WriteFailure("no memory\n"))
	if message, failed, err := dir.ReadFailure(); message != "no memory" || !failed || err != nil {
		t.Errorf("got %q, %v, %v", message, failed, err)
	}
	must.Do(t, dir.WriteConfig([]byte("a: 1\n")))
	for _, name := range []string{ResultFile, ModelFile, MetricsFile, CheckpointFile, "." + MetricsFile + ".tmp-1"} {
		testfiles.Write(t, dir.Path(name), "x")
	}
	must.Do(t, dir.Begin())
	if diff := cmp.Diff([]string{CheckpointFile, ConfigFile, MetricsFile}, testfiles.Names(t, dir.String())); diff != "" {
		t.Error(diff)
	}
	if _, failed, err := dir.ReadFailure(); failed || err != nil {
		t.Errorf("got %v, %v", failed, err)
	}
}

func TestDirOf(t *testing.T) {
	want := NewDir("/data/results", "digits", "full/usps-mnist/iwdan/seed-2")
	for _, path := range []string{want.String(), want.String() + "/", "/data/results/x/../digits/full/usps-mnist/iwdan/seed-2"} {
		if got, err := DirOf(path); err != nil || got != want {
			t.Errorf("%s: %v, error %v", path, got, err)
		}
	}
	t.Chdir(t.TempDir())
	relative, err := DirOf(filepath.Join("results", "digits", "full", "usps-mnist", "iwdan", "seed-2"))
	if err != nil || relative.experiment != "digits" || relative.id != want.id || filepath.Base(relative.root) != "results" {
		t.Errorf("%v, error %v", relative, err)
	}
}

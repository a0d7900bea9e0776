package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"iwda/adaptation/adapt"
	"iwda/adaptation/adapt/names"
	"iwda/experiments/engine"
	"iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/printable"
	"iwda/internal/testfiles"
)

// short makes an adaptation a matter of seconds.
var short = []string{"--set", "train.epochs=20", "--set", "network.normalise=none", "--set", "train.batch=32", "--set", "seeds=[1]", "--set", "network.features=16",
	"--set", "discriminator={hidden: 16, random_projection: 16, reversal: {iterations: 200}}", "--device", "cpu"}

// writeDomains writes source.csv, with labels, and target.csv, without, and returns the
// target's classes by the ids of its rows. Three classes lie on a ring in the plane; the
// first, most frequent in the source, is rare in the target.
func writeDomains(t *testing.T) (truth map[string]string) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	truth = map[string]string{}
	row := func(class int) (x, y float64) {
		angle := 2 * math.Pi * float64(class) / 3
		return 2*math.Cos(angle) + 0.8*random.NormFloat64(), 2*math.Sin(angle) + 0.8*random.NormFloat64()
	}
	names := []string{"ant", "bee", "cow"}
	var source, target strings.Builder
	source.WriteString("x,y,label\n")
	target.WriteString("id,x,y\n")
	for i := range 600 {
		class := 0
		if i%4 == 3 {
			class = 1 + i/4%2
		}
		x, y := row(class)
		fmt.Fprintf(&source, "%.4f,%.4f,%s\n", x, y, names[class])
		class = 1 + i%2
		if i%10 == 9 {
			class = 0
		}
		x, y = row(class)
		id := fmt.Sprintf("row-%d", i)
		fmt.Fprintf(&target, "%s,%.4f,%.4f\n", id, x, y)
		truth[id] = names[class]
	}
	testfiles.Write(t, "source.csv", source.String())
	testfiles.Write(t, "target.csv", target.String())
	return truth
}

// readCSV returns the lines of a file by the names of their columns.
func readCSV(t *testing.T, path string) []map[string]string {
	t.Helper()
	records := must.Have(csv.NewReader(strings.NewReader(readFile(t, path))).ReadAll())(t)
	var lines []map[string]string
	for _, record := range records[1:] {
		line := map[string]string{}
		for i, name := range records[0] {
			line[name] = record[i]
		}
		lines = append(lines, line)
	}
	return lines
}

// number returns a column of a line as a number.
func number(t *testing.T, line map[string]string, column string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(line[column], 64)
	if err != nil {
		t.Fatalf("%s: %v", column, err)
	}
	return v
}

// accuracyOf returns the share of predictions that are right.
func accuracyOf(t *testing.T, path string, truth map[string]string) float64 {
	t.Helper()
	lines, right := readCSV(t, path), 0
	if len(lines) != len(truth) {
		t.Errorf("%s: %d predictions of %d rows", path, len(lines), len(truth))
	}
	for i, line := range lines {
		if want := fmt.Sprintf("row-%d", i); line["id"] != want {
			t.Fatalf("%s: row %d has the id %q", path, i, line["id"])
		}
		if line["predicted_class"] == truth[line["id"]] {
			right++
		}
	}
	return float64(right) / float64(len(truth))
}

// Several sources are arguments beside --target, and what is done with a folder knows all of them.
func TestAdaptSeveralSources(t *testing.T) {
	t.Chdir(t.TempDir())
	truth := writeDomains(t)
	lines := strings.SplitAfter(readFile(t, "source.csv"), "\n")
	testfiles.Write(t, "a.csv", strings.Join(lines[:401], ""))
	testfiles.Write(t, "b.csv", lines[0]+strings.Join(lines[401:], ""))
	status, out, text := call(t, "check-data", "a.csv", "b.csv", "--target", "target.csv")
	if status != 0 || !strings.Contains(out, "source: a.csv\nsource2: b.csv\ntarget: target.csv\n") || !strings.Contains(out, "\n  b.csv: 200 rows of 3 classes: \"ant\" 150") {
		t.Errorf("status %d\n%s%s", status, out, text)
	}
	line := append([]string{"adapt", "a.csv", "b.csv", "--target", "target.csv", "-o", "out", "--set", "methods=[source-only@linear]"}, short...)
	if status, out, text = call(t, line...); status != 0 {
		t.Fatalf("status %d\n%s%s", status, out, text)
	}
	for _, part := range []string{"source      600 rows of 2 values, 3 classes; the rarest is \"bee\" with 75 rows\n            a.csv: 400 rows of 3 classes: \"ant\" 300, \"bee\" 50, \"cow\" 50\n", "sources     2, taken as one\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if accuracy := accuracyOf(t, "out/predictions.csv", truth); accuracy < 0.94 {
		t.Errorf("accuracy %v", accuracy)
	}
	for _, line := range []string{"show out", "predict out target.csv -o again.csv --device cpu", "labelshift --run out/runs/adapt/full/source+source2-target/source-only@linear/seed-1", "evaluate out out/to_label.csv", "adapt --source a.csv --source b.csv --target target.csv -o out --device cpu"} {
		if line[:4] == "eval" {
			testfiles.Write(t, "out/to_label.csv", "id,label\nrow-1,cow\nrow-3,cow\n")
		}
		if status, out, text := call(t, strings.Fields(line)...); status != 0 {
			t.Errorf("%s: status %d\n%s%s", line, status, out, text)
		}
	}
	for line, want := range map[string]string{
		"adapt a.csv b.csv target.csv":                      `"target.csv" is one too many: a source and a target; if there are several sources, name the target with --target`,
		"adapt --target target.csv":                         "which domains?",
		"adapt a.csv none.csv --target target.csv -o other": "none.csv: no such file",
	} {
		if status, _, text := call(t, strings.Fields(line)...); status != 2 || !strings.Contains(text, want) {
			t.Errorf("%s: status %d\n%s", line, status, text)
		}
	}
}

func adaptLine(more ...string) []string {
	return append(append([]string{"adapt", "--source", "source.csv", "--target", "target.csv", "-o", "out"}, short...), more...)
}

// choice is why a method predicts, by the outcome in a folder.
func choice(t *testing.T, folder string) string {
	t.Helper()
	decisions := must.Have(adapt.ReadOutcome(folder))(t).Decisions
	return decisions[len(decisions)-1].Because
}

// TestAdapt goes from two files to predictions that are right, although the most frequent
// class of the source is the rarest of the target.
func TestAdapt(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(engine.Variable, "nowhere") // a table takes no libtorch
	truth := writeDomains(t)
	status, out, text := call(t, adaptLine("--probabilities")...)
	if status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, out, text)
	}
	for _, part := range []string{"known       ", "need        no class of 2% or more is lost: yes", "class  source  target  95% interval  predicted         recall      precision\nant     75.0%", "iwrun evaluate out out/to_label.csv\n", "out/report.html ", "out/model "} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
	shown := out
	for _, part := range []string{"source      600 rows of 2 values, 3 classes; the rarest is ", "target      600 rows, without labels", "4/4 runs", "first answer, without correction: source-only@linear predicts "} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	for _, said := range []string{" predict together, corrected ", " for the class shares that each run estimates: the target's columns do not contradict that only the class shares changed"} {
		if !strings.Contains(choice(t, "out"), said) {
			t.Errorf("%q is not in\n%s", said, choice(t, "out"))
		}
	}
	if accuracy := accuracyOf(t, "out/predictions.csv", truth); accuracy < 0.95 {
		t.Errorf("accuracy %v", accuracy)
	}
	for _, line := range readCSV(t, "out/predictions.csv") {
		sum := 0.0
		for _, class := range []string{"ant", "bee", "cow"} {
			sum += number(t, line, "probability_"+class)
		}
		if math.Abs(sum-1) > 1e-3 {
			t.Fatalf("probabilities %v", line)
		}
	}
	for i, want := range []struct{ class, source, target float64 }{{0, 0.75, 0.1}, {1, 0.125, 0.45}, {2, 0.125, 0.45}} {
		line := readCSV(t, "out/classes.csv")[i]
		source, target, weight := number(t, line, "source_share"), number(t, line, "target_share"), number(t, line, "weight")
		if math.Abs(source-want.source) > 0.01 || math.Abs(target-want.target) > 0.1 || math.Abs(weight-target/source) > 1e-3*weight {
			t.Errorf("class %v: %v, want shares %v and %v", want.class, line, want.source, want.target)
		}
		low, high := number(t, line, "target_share_low"), number(t, line, "target_share_high")
		if !(0 < low && low < target && target < high && high < low+0.2) {
			t.Errorf("class %v: the interval of %v is %v to %v", want.class, target, low, high)
		}
	}
	page := readFile(t, "out/report.html")
	for _, part := range []string{
		`<p class="claim">`, "<h2>Class shares</h2>", "full/source-target/source-only@linear/seed-1",
		"Numbers of predictions by true and predicted class", "iwrun evaluate out out/to_label.csv",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("%q is not in the report", part)
		}
	}
	if strings.Contains(page, ">NaN<") {
		t.Error("the report says NaN")
	}
	for _, name := range []string{"model/seed-1/model.json", "model/seed-2/model.safetensors"} {
		if _, err := os.Stat(filepath.Join("out", name)); err != nil {
			t.Error(err)
		}
	}

	if _, err := os.Stat("out/" + names.First); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the first answer is there still: %v", err)
	}

	// Columns are found by their names, in any order and among others.
	var permuted strings.Builder
	lines := strings.Split(strings.TrimSuffix(readFile(t, "target.csv"), "\n"), "\n")
	for i, line := range lines {
		row := strings.Split(line, ",")
		fmt.Fprintf(&permuted, "%s,%s,%s,%d\n", row[2], row[0], row[1], i)
	}
	testfiles.Write(t, "permuted.csv", strings.Replace(permuted.String(), "y,id,x,0", "y,id,x,time", 1))
	if status, _, text := call(t, "predict", "out", "permuted.csv", "-o", "again.csv", "--probabilities", "--device", "cpu"); status != 0 || !samePredictions(t, "again.csv", readFile(t, "out/predictions.csv")) {
		t.Errorf("predictions of permuted columns are others; status %d: %s", status, text)
	}
	testfiles.Write(t, "renamed.csv", "x,z\n1,2\n")
	if status, _, text := call(t, "predict", "out", "renamed.csv", "-o", "again.csv", "--device", "cpu"); status != 2 || !strings.Contains(text, `renamed.csv:1: there is no column "y", but out/model/seed-1 has one; the columns of values are "x", "z"`) {
		t.Errorf("status %d: %s", status, text)
	}

	// The experiment file makes the same runs: all are finished.
	status, out, text = call(t, "-c", "out/experiment.yaml", "-o", "out/runs", "--device", "cpu")
	if status != 0 || !strings.Contains(text, "4 runs were already finished") {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	// Once more, nothing is trained and the same is left.
	before := readFile(t, "out/predictions.csv")
	status, _, text = call(t, adaptLine("--probabilities")...)
	if status != 0 || !strings.Contains(text, "4 runs were already finished") || readFile(t, "out/predictions.csv") != before {
		t.Errorf("status %d\n%s", status, text)
	}
	// What it shows at the end can be shown again, or be read by programs, or not be shown.
	if status, again, text := call(t, "show", "out/"); status != 0 || again != shown || text != "" {
		t.Errorf("status %d: %s\n%s\nbefore\n%s", status, text, again, shown)
	}
	for _, line := range [][]string{{"show", "out", "--json"}, adaptLine("--json", "--probabilities"), adaptLine("--json", "--quiet", "--probabilities")} {
		status, out, text := call(t, line...)
		if status != 0 || out != readFile(t, "out/outcome.json") || slices.Contains(line, "--quiet") && text != "" {
			t.Errorf("%q: status %d: %s\n%s", line, status, text, out)
		}
	}
	if status, out, text := call(t, "adapt", "source.csv", "target.csv", "-o", "out", "-q", "--device", "cpu"); status != 0 || out+text != "" || readFile(t, "out/predictions.csv") != before { // of three classes the probabilities are written anyway
		t.Errorf("by arguments, without --probabilities: status %d: %s%s", status, text, out)
	}

	// What a process leaves that was ended in its second run, before anything was concluded: the command goes
	// on. The assignments are in the experiment file now.
	dir := store.NewDir("out/runs", "adapt", "full/source-target/source-only@forest/seed-1")
	for _, path := range []string{"out/predictions.csv", "out/classes.csv", "out/report.html", dir.Path(store.ResultFile), dir.Path(store.ModelFile)} {
		testfiles.Remove(t, path)
	}
	must.Do(t, os.RemoveAll(filepath.Join("out", "model")))
	status, _, text = call(t, "adapt", "--source", "source.csv", "--target", "target.csv", "-o", "out", "--device", "cpu")
	if status != 0 || !strings.Contains(text, "3 runs were already finished") || readFile(t, "out/predictions.csv") != before {
		t.Errorf("interrupted: status %d\n%s", status, text)
	}

	// That only class shares differ can be said of runs that are there: none is made again.
	status, _, text = call(t, adaptLine("--label-shift")...)
	if status != 0 || !strings.Contains(text, "4 runs were already finished") || !strings.Contains(readFile(t, "out/outcome.json"), `"correction": 1,`) || !strings.Contains(choice(t, "out"), "you said that only the class shares differ") {
		t.Errorf("told: status %d\n%s\n%s", status, text, choice(t, "out"))
	}

	// The table of a target without labels says what is used here.
	for _, rule := range []string{"target-risk", "im"} {
		set := []string{"--set", "selection.label_shift=false", "--set", "selection.rule=" + rule, "--set", "selection.tolerance=0.3", "--set", "selection.choose=run"}
		status, _, text = call(t, adaptLine(set...)...)
		used := regexp.MustCompile(`full/source-target/(\S+) is used:`).FindStringSubmatch(choice(t, "out"))
		if status != 0 || used == nil {
			t.Fatalf("%s: status %d: %s", rule, status, text)
		}
		_, table, _ := call(t, "table", "-c", "out/experiment.yaml", "-o", "out/runs", "--format", "csv")
		if want := "," + rule + "," + used[1] + ","; !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
}

// samePredictions reports whether a file of predictions has these lines, but for the last digits of
// probabilities: libtorch rounds sums otherwise in batches of other sizes, on some processors.
func samePredictions(t *testing.T, path, want string) bool {
	t.Helper()
	cells := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' })
	}
	given, wanted := cells(readFile(t, path)), cells(want)
	return slices.EqualFunc(given, wanted, func(a, b string) bool {
		x, err := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return a == b || err == nil && strings.Contains(a, ".") && math.Abs(x-y) < 1e-5
	})
}

// The seeds of the chosen method predict together, as model/ does for other rows and in other
// programs; another choice needs no other runs, and leaves nothing of the former one.
// A folder may begin with a dash, which no program that is started takes for a flag. Before workers hold rows, those that
// were looked at are collected.
func TestAdaptIntoAFolderWithADash(t *testing.T) {
	t.Chdir(t.TempDir())
	truth := writeDomains(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	succeed(t, adaptLine("-o", "./-dash", "--set", "methods=[source-only@linear]")...)
	runtime.ReadMemStats(&after)
	if after.NumForcedGC == before.NumForcedGC {
		t.Error("nothing was let go of")
	}
	if accuracy := accuracyOf(t, "./-dash/predictions.csv", truth); accuracy < 0.85 {
		t.Errorf("accuracy %v", accuracy)
	}
}

func TestAdaptWithSeveralSeeds(t *testing.T) {
	t.Chdir(t.TempDir())
	truth := writeDomains(t)
	line := adaptLine("--set", "methods=[source-only]", "--set", "selection.alike=[]", "--set", "seeds=[1,4]", "--probabilities")
	status, _, text := call(t, line...)
	if status != 0 || !strings.Contains(choice(t, "out"), "The 2 seeds of full/source-target/source-only are used together") {
		t.Fatalf("status %d: %s", status, text)
	}
	if accuracy := accuracyOf(t, "out/predictions.csv", truth); accuracy < 0.85 {
		t.Errorf("accuracy %v", accuracy)
	}
	if page := readFile(t, "out/report.html"); !strings.Contains(page, "The 2 seeds of full/source-target/source-only are used together") {
		t.Error("the report does not say what was chosen")
	}
	together := readFile(t, "out/predictions.csv")
	predicts := func(model, want string) {
		t.Helper()
		if status, _, text := call(t, "predict", model, "target.csv", "-o", "again.csv", "--probabilities", "--device", "cpu"); status != 0 || !samePredictions(t, "again.csv", want) {
			t.Errorf("%s predicts otherwise; status %d: %s", model, status, text)
		}
	}
	for _, model := range []string{"out", "out/model", "out/runs/adapt/full/source-target/source-only"} {
		predicts(model, together)
	}
	if status, out, text := call(t, "export", "out", "--onnx", "out.onnx", "-o", "copy"); status != 0 || out != "out.onnx\ncopy\n" {
		t.Errorf("status %d: %s", status, text)
	}
	if file := readFile(t, "out.onnx"); !strings.Contains(file, "member2.classifier.weight") || strings.Contains(file, "member3.") {
		t.Error("out.onnx is not of two models")
	}
	predicts("copy", together)
	// The shares of several runs are the mean of theirs.
	shares := map[string]float64{}
	for _, seed := range []string{"seed-1", "seed-4"} {
		about := must.Have(model.ReadMetadata(filepath.Join("out/model", seed)))(t)
		for i, class := range about.Classes {
			shares[class] += about.Shares.Target[i] / 2
		}
	}
	for _, class := range readCSV(t, "out/classes.csv") {
		share := number(t, class, "target_share")
		if math.Abs(share-shares[class["class"]]) > 1e-6 || number(t, class, "target_share_low") > share || number(t, class, "target_share_high") < share {
			t.Errorf("%v, want the share %v", class, shares[class["class"]])
		}
	}

	status, _, text = call(t, append(line, "--set", "selection.choose=run")...)
	if status != 0 || !strings.Contains(text, "2 runs were already finished") || !strings.Contains(choice(t, "out"), " is used: its target-risk is") || readFile(t, "out/predictions.csv") == together {
		t.Errorf("status %d: %s", status, text)
	}
	predicts("out", readFile(t, "out/predictions.csv"))
	if left, err := filepath.Glob("out/model/*"); err != nil || len(left) != 2 {
		t.Errorf("the model's folder holds %q", left)
	}
	if status, _, text := call(t, append(line, "--set", "selection.choose=method")...); status != 0 || readFile(t, "out/predictions.csv") != together {
		t.Errorf("other predictions than before; status %d: %s", status, text)
	}
}

// Interrupted, it says how many runs remain, and the command that goes on; show does so too.
func TestAdaptInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	line := adaptLine("--set", "methods=[source-only]", "--set", "train.epochs=100000", "-j", "1")
	status, said := interruptAdapt(t, line)
	want := "Stopped: 0 of 1 runs are finished.\nTo continue: " + printable.Command(append([]string{"iwrun"}, line...)...) + "\n"
	if status != 130 || !strings.HasSuffix(said, want) {
		t.Errorf("status %d\n%s", status, said)
	}
	if status, _, text := call(t, "show", "out"); status != 2 || !strings.Contains(text, "out: iwrun adapt is not finished; give the same command again") {
		t.Errorf("status %d: %s", status, text)
	}
}

// interruptAdapt interrupts a command line while it trains source-only, and returns its exit status and
// what it said.
func interruptAdapt(t *testing.T, line []string) (status int, said string) {
	t.Helper()
	return signalled(t, syscall.SIGINT, store.NewDir("out/runs", "adapt", "full/source-target/source-only/seed-1"), line...)
}

// What is finished gives predictions where other runs fail, and the page tells why they did;
// where all fail there is nothing to choose.
func TestAdaptWithFailedRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	_, experiment, _ := call(t, adaptLine("--dry-run", "--set", "methods=[source-only@linear, source-only, mcc]")...)
	testfiles.MakeFolder(t, "out")
	const diverges = "    train: {restarts: 0, optimizer: {lr: 1.0e+30}}\n"
	overridden := func(when string) string {
		return strings.Replace(experiment, "overrides:\n", "overrides:\n  - when: {method: "+when+"}\n"+diverges, 1)
	}
	testfiles.Write(t, "out/experiment.yaml", overridden("mcc"))
	line := []string{"adapt", "--source", "source.csv", "--target", "target.csv", "--device", "cpu", "-o"}
	status, out, text := call(t, append(line, "out")...)
	if status != 1 || !strings.Contains(out, "predictions.csv") || !strings.Contains(text, "1 failed") ||
		!strings.Contains(out, "warning     full/source-target/mcc/seed-1 failed and is left out") || strings.Contains(text, "seed-1: full/") {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	if lines := readCSV(t, "out/predictions.csv"); len(lines) != 600 {
		t.Errorf("%d predictions", len(lines))
	}
	if page := readFile(t, "out/report.html"); !strings.Contains(page, "full/source-target/mcc/seed-1 failed and is left out") {
		t.Error("the report does not say which run failed")
	}
	testfiles.Write(t, "none/experiment.yaml", strings.Replace(overridden("'*'"), "methods: [source-only@linear, ", "methods: [", 1))
	status, out, text = call(t, append(line, "none")...)
	if _, err := os.Stat("none/predictions.csv"); status != 1 || out != "" || !os.IsNotExist(err) {
		t.Errorf("status %d, %v\n%s\n%s", status, err, out, text)
	}
}

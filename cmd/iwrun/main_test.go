package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/engine"
	"iwda/experiments/engine/serve"
	"iwda/experiments/schedule"
	"iwda/experiments/store"
	"iwda/internal/input"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// asProgram makes the test program iwrun itself. It is iwrun-torch too.
const asProgram = "IWRUN_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == strconv.Itoa(engine.Protocol) { // as iwrun-torch, which this process and those that it starts find here
		injectFault()
		gone := func() { os.Exit(schedule.StoppedStatus) }
		os.Exit(serve.Run(os.Args[1:], serve.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Gone: gone}))
	}
	this, err := os.Executable()
	if err = errors.Join(err, os.Setenv(engine.Variable, this)); err != nil {
		panic(err)
	}
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// tiny is an experiment of two runs that take a second each.
const tiny = `experiment: tiny
dataset: {name: glyphs, train_per_class: 8, test_per_class: 4}
tasks: [clean-warped]
variants: [subsampled]
methods: [source-only, iwdan]
seeds: [1]
train: {epochs: 1, batch: 8, eval_batch: 20}
`

// inFolder makes an empty folder with tiny.yaml the working directory.
func inFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	testfiles.Write(t, "tiny.yaml", tiny)
}

// call runs a command line and returns its exit status and outputs.
func call(t *testing.T, arguments ...string) (status int, out, err string) {
	t.Helper()
	t.Setenv(asProgram, "yes") // for workers
	var outText, errText strings.Builder
	status = run(arguments, streams{in: strings.NewReader(""), out: &outText, err: &errText})
	return status, outText.String(), errText.String()
}

// succeed runs a command that must end well.
func succeed(t *testing.T, arguments ...string) {
	t.Helper()
	if status, out, said := call(t, arguments...); status != 0 {
		t.Fatalf("%q: status %d\n%s%s", arguments, status, out, said)
	}
}

func TestWrongConfiguration(t *testing.T) {
	digits := strings.NewReplacer("glyphs, train_per_class: 8, test_per_class: 4", "digits, root: nowhere", "clean-warped", "usps-mnist")
	for name, test := range map[string]struct {
		text      string
		arguments []string
		want      []string
	}{
		"misspelt key":        {strings.Replace(tiny, "epochs", "epoch", 1), nil, []string{"tiny.yaml:7:9: ", `"epoch"`, "epochs"}},
		"unknown task":        {strings.Replace(tiny, "warped", "wraped", 1), nil, []string{"tiny.yaml:3:9: ", "clean-wraped", "clean-warped"}},
		"negative epochs":     {strings.Replace(tiny, "epochs: 1", "epochs: -1", 1), nil, []string{"tiny.yaml:7:17: ", "epochs", "-1"}},
		"missing data":        {digits.Replace(tiny), nil, []string{"tiny.yaml:2:31: ", "dataset.root", `"nowhere"`, "IWDA_DATA"}},
		"misspelt assignment": {tiny, []string{"--set", "train.epoch=1"}, []string{"--set train.epoch=1", "epochs"}},
		"glob without a run":  {tiny, []string{"--only", "*/*/iwdam/*"}, []string{"--only */*/iwdam/*: fits no run", "--dry-run"}},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t)
			testfiles.Write(t, "tiny.yaml", test.text)
			expectWrong(t, append([]string{"-c", "tiny.yaml"}, test.arguments...), append(test.want, "!Usage"))
		})
	}
}

func TestWrongUsage(t *testing.T) {
	for line, want := range map[string][]string{
		"run":                                    {"-c FILE", "Usage"},
		"-c missing.yaml":                        {"missing.yaml", "!Usage"},
		"-c tiny.yaml --job 2":                   {"--job;", "--jobs?", "Usage"},
		"-c tiny.yaml -j two":                    {`"two"`, "Usage"},
		"-c tiny.yaml -j -1":                     {"-j -1", "Usage"},
		"-c tiny.yaml --threads 0":               {"--threads 0", "Usage"},
		"-c tiny.yaml --device cuda:99":          {"--device cuda:99", "Usage"},
		"-c tiny.yaml --device cpu,cpu":          {"cpu is named twice", "Usage"},
		"-c tiny.yaml --retries -1":              {"--retries -1", "Usage"},
		"-c tiny.yaml --checkpoint-every often":  {"often", "checkpoint-every", "Usage"},
		"-c tiny.yaml table":                     {`"table" is a command`, "first: iwrun table", "Usage"},
		"--dry-run data list":                    {`"data" is a command`, "first: iwrun data", "Usage"},
		"-c tiny.yaml figures":                   {`"figures"`, "figure?", "Usage"},
		"table -c tiny.yaml --format xls":        {"xls", "iwrun table", "Usage"},
		"table -c tiny.yaml --kind weight":       {"--kind weight", "weights", "average", "Usage"},
		"table -c tiny.yaml -c tiny.yaml":        {"one experiment at a time", "Usage"},
		"table --kind average":                   {"-c FILE", "Usage"},
		"data":                                   {"list or check", "iwrun data list", "Usage"},
		"table -c tiny.yaml --set train.epoch=1": {"train.epoch=1", "epochs", "!Usage"},
		"figure":                                 {"-c FILE", "Usage"},
		"status":                                 {"-c FILE", "Usage"},
		"slurm -c tiny.yaml --cpus 0":            {"--cpus 0", "iwrun slurm", "Usage"},
		"slurm -c tiny.yaml --time 1:00#":        {"--time", `"1:00#"`, "Usage"},
		"slurm -c tiny.yaml --sbatch qos=a":      {`"qos=a"`, "--name=value", "Usage"},
		"slurm -c tiny.yaml --retries -1":        {"--retries -1", "Usage"},
		"predict":                                {"model's folder", "iwrun predict MODEL", "Usage"},
		"predict a b":                            {"-o FILE", "Usage"},
		"predict a b -o c.txt":                   {"c.txt", ".csv files", "Usage"},
		"predict a b -o c.csv --batch 0":         {"--batch 0", "Usage"},
		"predict a b -o c.csv --threads 0":       {"--threads 0", "Usage"},
		"predict a b -o c.csv --share uniform":   {"--share;", "--shares?", "Usage"},
		"export a":                               {"--onnx FILE", "-o FOLDER", "Usage"},
		"export a --onnx c.csv":                  {"--onnx c.csv", "end with .onnx", "Usage"},
		"export a b --onnx c":                    {"one model", "Usage"},
		"export a --onnx c --shares estimate":    {"--shares estimate", "iwrun predict", "Usage"},
		"export a -o c --shares uniform":         {"--shares is for --onnx", "Usage"},
	} {
		t.Run(line, func(t *testing.T) {
			inFolder(t)
			expectWrong(t, strings.Fields(line), want)
		})
	}
}

// expectWrong expects exit status 2, a message once, with the parts but without those
// after an exclamation mark, and nothing written.
func expectWrong(t *testing.T, arguments, parts []string) {
	t.Helper()
	status, out, err := call(t, arguments...)
	if status != 2 || out != "" {
		t.Errorf("status %d, stdout %q", status, out)
	}
	for _, part := range parts {
		absent, negative := strings.CutPrefix(part, "!")
		if negative == strings.Contains(err, absent) {
			t.Errorf("%q in\n%s", part, err)
		}
	}
	first, rest, _ := strings.Cut(err, "\n")
	if strings.Contains(rest, first) {
		t.Errorf("said twice:\n%s", err)
	}
	entries, readErr := os.ReadDir(".")
	if readErr != nil || len(entries) != 1 {
		t.Errorf("written: %v, %v", entries, readErr)
	}
}

func TestDryRun(t *testing.T) {
	inFolder(t)
	status, out, err := call(t, "-c", "tiny.yaml", "--set", "methods=[dann, iwdan, iwdan-o]", "--set", "seeds=[1,2]", "--only", "*/*/iwdan*/seed-2", "--dry-run")
	want := "subsampled/clean-warped/iwdan/seed-2\nsubsampled/clean-warped/iwdan-o/seed-2\n"
	if status != 0 || out != want || hours.ReplaceAllString(err, "about HOURS hours") != neverAligned("2 runs", "subsampled/clean-warped/iwdan/seed-2, subsampled/clean-warped/iwdan-o/seed-2")+"2 runs of 1 epoch\n2 runs: about HOURS hours one after the other on cpu, by steps measured now\n" {
		t.Errorf("status %d, stdout %q, stderr %q", status, out, err)
	}
	if _, err := os.Stat("results"); !os.IsNotExist(err) {
		t.Errorf("results: %v", err)
	}
}

// A dry run says which learners refuse the classes, and adapt plans none of these.
func TestDryRunOfManyClasses(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "x,label\n"
	for i := range 3 * 2049 {
		text += fmt.Sprintf("%d,c%d\n", i, i%2049)
	}
	testfiles.Write(t, "many.csv", text)
	testfiles.Write(t, "t.csv", "x\n"+strings.Repeat("1\n2\n", 9))
	testfiles.Write(t, "many.yaml", "experiment: many\ndataset: {name: files, domains: {s: {path: many.csv}, t: {path: t.csv}}}\ntasks: [s-t]\nvariants: [full]\nmethods: [source-only@forest, source-only@linear]\nseeds: [1, 2]\noverrides:\n  - {when: {method: \"*@forest\"}, network: {name: forest}}\n  - {when: {method: \"*@linear\"}, network: {name: linear}}\n")
	refused := "source-only@forest cannot be made of s-t: 2049 classes, more than the 2048 for which trees are grown"
	if status, _, said := call(t, "run", "-c", "many.yaml", "--dry-run"); status != 0 || strings.Count(said, "warning: ") != 1 || !strings.Contains(said, refused) {
		t.Errorf("status %d\n%s", status, said)
	}
	status, out, said := call(t, "adapt", "many.csv", "t.csv", "--dry-run")
	if status != 0 || !strings.Contains(said, "Only the linear classifier predicts: there are 2049 classes") || !strings.Contains(out, "\nmethods: [source-only@linear]\n") || !strings.Contains(out, "alike: [source-only@linear]}") {
		t.Errorf("status %d\n%s\n%s", status, out, said)
	}
	if status, _, said := call(t, "adapt", "many.csv", "t.csv", "--dry-run", "--set", "methods=[source-only@forest]", "--set", "selection.alike=[source-only@forest]"); status != 2 || !strings.Contains(said, "source-only@forest cannot be made of source-target: 2049 classes") {
		t.Errorf("status %d\n%s", status, said)
	}
}

// hours are a time that --dry-run measured.
var hours = regexp.MustCompile(`about [0-9.e-]+ hours`)

// neverAligned is what stderr begins with if so many runs of tiny.yaml are too short.
func neverAligned(count, ids string) string {
	return fmt.Sprintf("warning: In %s the domains are never aligned, as train.domain_from_epoch is after the last epoch: %s.\n", count, ids)
}

func tinyDir(method string) store.Dir {
	return store.NewDir("results", "tiny", store.ID{Variant: "subsampled", Task: "clean-warped", Method: method, Seed: 1}.String())
}

// TestExperiment goes from a file to table and figure.
func TestExperiment(t *testing.T) {
	inFolder(t)
	if status, out, err := call(t, "table", "-c", "tiny.yaml"); status != 1 || out != "" || !strings.Contains(err, "no run is finished") {
		t.Errorf("before: status %d, %q, %q", status, out, err)
	}

	status, table, err := call(t, "-c", "tiny.yaml", "-j", "2")
	if status != 0 || !strings.Contains(table, "| iwdan ") || !strings.Contains(table, "1/1") {
		t.Fatalf("status %d, stdout\n%s\nstderr\n%s", status, table, err)
	}
	for _, part := range []string{"finished subsampled/clean-warped/source-only/seed-1: accuracy best ", "2/2 runs"} {
		if !strings.Contains(err, part) {
			t.Errorf("%q is not in\n%s", part, err)
		}
	}
	result, readErr := tinyDir("iwdan").ReadResult()
	if readErr != nil || result.Device != "cpu" || result.Threads != 1 {
		t.Errorf("%v, %+v", readErr, result)
	}

	status, again, err := call(t, "-c", "tiny.yaml")
	if status != 0 || err != neverAligned("1 run", "subsampled/clean-warped/iwdan/seed-1")+"2 runs were already finished\n" {
		t.Errorf("again: status %d, stderr %q", status, err)
	}
	if diff := cmp.Diff(table, again); diff != "" {
		t.Error(diff)
	}
	status, out, err := call(t, "table", "-c", "tiny.yaml")
	if diff := cmp.Diff(table, out); status != 0 || err != "" || diff != "" {
		t.Errorf("table: status %d, stderr %q\n%s", status, err, diff)
	}
	status, out, _ = call(t, "table", "-c", "tiny.yaml", "--format", "csv")
	if status != 0 || !strings.HasPrefix(out, "experiment,variant,") || strings.Count(out, "\n") != 3 {
		t.Errorf("csv: status %d\n%s", status, out)
	}
	status, out, err = call(t, "table", "-c", "tiny.yaml", "--set", "methods=[iwdan]", "--set", "train.epochs=2")
	if status != 1 || out != "" || !strings.Contains(err, "no run is finished") || !strings.Contains(err, "1 with another") {
		t.Errorf("another configuration: status %d, %q, %q", status, out, err)
	}

	status, out, err = call(t, "figure", "-c", "tiny.yaml")
	paths := strings.Fields(out)
	if status != 0 || len(paths) != 1 { // curves
		t.Fatalf("figure: status %d, %q, %q", status, out, err)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 || filepath.Dir(path) != filepath.Join("results", "tiny", "figures") {
			t.Errorf("%s: %v", path, err)
		}
	}
	for kind, want := range map[string]string{
		"weights": "| true weights |", "confusion": "| class |", "theory": "theorems", "average": "| glyphs |",
	} {
		if status, out, err := call(t, "table", "-c", "tiny.yaml", "--kind", kind); status != 0 || !strings.Contains(out, want) {
			t.Errorf("table --kind %s: status %d, stderr %q, stdout\n%s", kind, status, err, out)
		}
	}
}

// TestMixedTable: a table leaves out what another configuration gave, and says so, and which settings
// are not those of the file.
func TestMixedTable(t *testing.T) {
	inFolder(t)
	succeed(t, "-c", "tiny.yaml", "--only", "*/*/iwdan/*")
	status, out, err := call(t, "-c", "tiny.yaml", "--only", "*/*/source-only/*", "--set", "train.batch=10")
	if status != 0 || !strings.Contains(out, "another configuration:\n  subsampled/clean-warped/iwdan/seed-1") || !strings.Contains(out, "0/1") ||
		!strings.Contains(out, "- Settings of tiny.yaml replaced by train.batch=10.\n") {
		t.Errorf("status %d, stdout\n%s\nstderr\n%s", status, out, err)
	}
}

// TestFailure: a run that fails is named with its log, and the other one is finished.
func TestFailure(t *testing.T) {
	inFolder(t)
	testfiles.Write(t, "tiny.yaml", tiny+"overrides: [{when: {method: iwdan}, train: {optimizer: {lr: 1.0e+30}}}]\n")
	status, out, err := call(t, "-c", "tiny.yaml")
	log := tinyDir("iwdan").Path(store.LogFile)
	if status != 1 || !strings.Contains(out, "source-only") || !strings.Contains(err, "1 finished, 0 finished before, 1 failed, 0 left") ||
		!strings.Contains(err, "failed: subsampled/clean-warped/iwdan/seed-1: ") || !strings.Contains(err, "log: "+log) {
		t.Errorf("status %d, stdout\n%s\nstderr\n%s", status, out, err)
	}
	if message, failed, err := tinyDir("iwdan").ReadFailure(); !failed || err != nil || !strings.Contains(message, "epoch 1") {
		t.Errorf("error.txt: %q, %v", message, err)
	}
}

// TestInterrupt: a signal to stop, and the loss of the terminal, leave checkpoints.
func TestInterrupt(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) { interrupt(t, signal) })
	}
}

// TestInterruptedAnywhere: the exit status is that of the help, whatever was interrupted.
func TestInterruptedAnywhere(t *testing.T) {
	var said strings.Builder
	app := newApp(streams{err: &said})
	if status := conclude(app, []string{"data"}, input.Wrong(fmt.Errorf("photos: %w", context.Canceled))); status != 130 || said.String() != app.Name+": interrupted\n" {
		t.Errorf("status %d, %q", status, &said)
	}
}

// TestNohup: who starts iwrun with nohup loses nothing with the terminal.
func TestNohup(t *testing.T) {
	inFolder(t)
	command := exec.Command("sh", "-c", `trap "" HUP; exec "$0" "$@"`, os.Args[0], "-c", "tiny.yaml", "-j", "1", "--set", "train.epochs=100000")
	command.Env = append(os.Environ(), asProgram+"=yes")
	said := &strings.Builder{}
	command.Stderr = said
	must.Do(t, command.Start())
	waitFor(t, func() bool { _, err := os.Stat(tinyDir("source-only").Path(store.MetricsFile)); return err == nil })
	command.Process.Signal(syscall.SIGHUP)
	metrics, _ := tinyDir("source-only").ReadMetrics()
	waitFor(t, func() bool { // it goes on
		later, err := tinyDir("source-only").ReadMetrics()
		return err == nil && len(later) > len(metrics)
	})
	command.Process.Signal(syscall.SIGINT)
	command.Wait()
	if strings.Count(said.String(), "stopping") != 1 {
		t.Errorf("stderr\n%s", said)
	}
}

// signalled sends a process of that command line a signal once a worker has evaluated the run after an
// epoch, so that it has something to write, and returns the exit status and what it said.
func signalled(t *testing.T, signal syscall.Signal, run store.Dir, line ...string) (status int, said string) {
	t.Helper()
	command := exec.Command(os.Args[0], line...)
	command.Env = append(os.Environ(), asProgram+"=yes")
	var text strings.Builder
	command.Stderr = &text
	must.Do(t, command.Start())
	waitFor(t, func() bool {
		metrics, err := run.ReadMetrics()
		return err == nil && len(metrics) > 1
	})
	command.Process.Signal(signal)
	command.Wait()
	return command.ProcessState.ExitCode(), text.String()
}

func interrupt(t *testing.T, signal syscall.Signal) {
	inFolder(t)
	status, text := signalled(t, signal, tinyDir("source-only"), "-c", "tiny.yaml", "-j", "1", "--set", "train.epochs=100000")
	if status != 130 {
		t.Errorf("status %d", status)
	}
	for _, part := range []string{"stopping", "left: subsampled/clean-warped/source-only/seed-1\nleft: subsampled/clean-warped/iwdan/seed-1\n", "0 failed, 2 left", "To continue: iwrun -c tiny.yaml -j 1 --set train.epochs=100000\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if metrics, err := tinyDir("source-only").ReadMetrics(); err != nil || len(metrics) == 0 {
		t.Errorf("metrics: %v, %v", metrics, err)
	}
	if !tinyDir("source-only").Worked() {
		t.Error("no checkpoint was written")
	}
	if _, err := os.Stat(tinyDir("iwdan").String()); !os.IsNotExist(err) {
		t.Errorf("the next run began: %v", err)
	}
}

// worker starts a worker as a person would, from the run's folder.
func worker(t *testing.T, arguments ...string) (status int, out, err string) {
	t.Helper()
	words, findErr := new(engine.Process).Command("the test", append([]string{"worker"}, arguments...)...)
	if findErr != nil {
		t.Fatal(findErr)
	}
	var outText, errText strings.Builder
	command := exec.Command(words[0], words[1:]...)
	command.Stdout, command.Stderr = &outText, &errText
	if _, err := command.StdinPipe(); err != nil { // whose end would end it
		t.Fatal(err)
	}
	command.Run()
	return command.ProcessState.ExitCode(), outText.String(), errText.String()
}

// TestWorkerByHand: a worker makes the run of a folder and says what happens to it.
func TestWorkerByHand(t *testing.T) {
	inFolder(t)
	succeed(t, "-c", "tiny.yaml", "--only", "*/*/iwdan/*")
	dir := tinyDir("iwdan")
	first := must.Have(dir.ReadResult())(t)
	for _, name := range []string{store.ResultFile, store.CheckpointFile} { // with the latter it would have nothing to do
		testfiles.Remove(t, dir.Path(name))
	}
	status, out, text := worker(t, `{"Device": "cpu", "Threads": 1, "Checkpoints": 300000000000}`, dir.String())
	if status != 0 || !strings.Contains(out, `{"event":"progress"`) || strings.Contains(out, `{"event":"failed"`) {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	second, err := dir.ReadResult()
	if err != nil || second.LastAccuracy != first.LastAccuracy || second.ConfigHash != first.ConfigHash {
		t.Errorf("%v, %+v", err, second)
	}

	elsewhere := t.TempDir()
	text = readFile(t, dir.Path(store.ConfigFile))
	testfiles.Write(t, filepath.Join(elsewhere, store.ConfigFile), text)
	status, out, text = worker(t, `{"Device": "cpu"}`, elsewhere)
	if status != 1 || !strings.Contains(out, `{"event":"failed"`) || !strings.Contains(text, "must end in "+filepath.Join("/tiny", "subsampled")) {
		t.Errorf("elsewhere: status %d\n%s\n%s", status, out, text)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text := testfiles.Read(t, path)
	return string(text)
}

// waitFor returns once the condition holds. It is for what another process does.
func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for range 6000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}

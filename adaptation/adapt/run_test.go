package adapt

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/labels"
	"iwda/experiments/engine"
	"iwda/experiments/engine/serve"
	"iwda/experiments/fit"
	"iwda/experiments/schedule"
	"iwda/experiments/store"
	"iwda/experiments/train"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
)

// bothDomains writes a source with labels and a target without, two classes in the plane in other
// shares, and returns their paths.
func bothDomains(t *testing.T) (source, target string) {
	t.Helper()
	random, folder := rand.New(rand.NewPCG(1, 2)), t.TempDir()
	write := func(name string, first, second int, labelled bool) string {
		var text strings.Builder
		text.WriteString("x,y")
		if labelled {
			text.WriteString(",label")
		}
		text.WriteString("\n")
		for i := range first + second {
			class := 0
			if i >= first {
				class = 1
			}
			fmt.Fprintf(&text, "%.4f,%.4f", 4*float64(class)+random.NormFloat64(), random.NormFloat64())
			if labelled {
				text.WriteString("," + []string{"cat", "dog"}[class])
			}
			text.WriteString("\n")
		}
		path := filepath.Join(folder, name)
		testfiles.Write(t, path, text.String())
		return path
	}
	return write("source.csv", 120, 40, true), write("target.csv", 30, 90, false)
}

// small are settings with which a run takes a second.
var small = []string{"methods=[source-only, iwdan]", "seeds=[1, 2]", "train.epochs=8", "network.features=8"}

// A folder that is moved while its runs are trained is not made anew.
func TestFolderThatIsMoved(t *testing.T) {
	source, target := bothDomains(t)
	folder := filepath.Join(t.TempDir(), "out")
	o := Options{Folder: folder, Set: small, Train: func(context.Context, Training) ([]schedule.Failure, error) {
		return nil, os.Rename(folder, folder+" elsewhere")
	}}
	must.Refuse(runHere(context.Background(), source, target, o))(t, folder+" was moved, deleted or replaced")
	if _, err := os.Stat(folder); err == nil {
		t.Error("the folder was made anew")
	}
}

// A Go program goes from two files to predictions, without a word on its own, and outcome.json
// says what it returned and what the other files hold.
func TestRun(t *testing.T) {
	source, target := bothDomains(t)
	folder := filepath.Join(t.TempDir(), "out")
	o := Options{Folder: folder, Set: small}
	outcome := must.Have(runHere(context.Background(), source, target, o))(t)
	text := func(name string) []byte {
		content := testfiles.Read(t, filepath.Join(folder, name))
		return content
	}
	var read Outcome
	must.Do(t, json.Unmarshal(text(names.Outcome), &read))
	if diff := cmp.Diff(*outcome, read); diff != "" {
		t.Error(diff)
	}
	if len(outcome.Runs) != 4 || len(outcome.Failed) > 0 || outcome.Source.Rows != 160 || outcome.Target.Labelled != 0 || outcome.Source.Columns != 2 {
		t.Errorf("%+v", outcome)
	}
	if len(outcome.Used) != 2 || !strings.Contains(outcome.Used[0], "/"+outcome.Method+"/") || !slices.Equal(outcome.Seeds, []int64{1, 2}) {
		t.Errorf("used %v of %s", outcome.Used, outcome.Method)
	}
	if len(outcome.Cases) != 3 || len(outcome.Needs) != 2 || outcome.Reliable == "" || outcome.Headline != outcome.Known().Headline() {
		t.Errorf("%q, cases %+v, needs %+v", outcome.Headline, outcome.Cases, outcome.Needs)
	}
	if h := outcome.HeldOut; h.Networks != 2 || h.Rows != 32 || h.Accuracy < 0.8 || h.Accuracy > 1 {
		t.Errorf("on held-out rows %+v", h)
	}
	for _, name := range outcome.Files {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
	if len(outcome.Seconds) != 3 || outcome.Versions["iwda"] == "" || outcome.Versions["libtorch"] == "" {
		t.Errorf("%v, %v", outcome.Seconds, outcome.Versions)
	}
	records, err := csv.NewReader(bytes.NewReader(text(names.Classes))).ReadAll()
	if err != nil || len(records) != 3 {
		t.Fatal(records, err)
	}
	for i, class := range outcome.Classes {
		for column, want := range map[int]float64{1: class.SourceShare, 2: class.TargetShare, 3: class.TargetInterval.Low, 5: class.Weight, 7: class.WeightInterval.High} {
			if got, err := strconv.ParseFloat(records[i+1][column], 64); err != nil || math.Abs(got-want) > 1e-6 {
				t.Errorf("%s, column %d: %v, outcome.json has %v", class.Class, column, got, want)
			}
		}
	}
	if dogs := outcome.Classes[1]; math.Abs(dogs.TargetShare-0.75) > 0.1 || math.Abs(dogs.PredictedShare-0.75) > 0.1 {
		t.Errorf("%+v", dogs)
	}
	// Once more, nothing is trained, and the same comes out.
	before := text(names.Predictions)
	o.Set = nil
	o.Train = func(_ context.Context, of Training) ([]schedule.Failure, error) {
		for _, run := range of.Runs {
			if _, finished := run.Finished(of.Results); !finished {
				t.Errorf("%s is not finished", run.ID)
			}
		}
		return []schedule.Failure{{Run: of.Runs[0], Reason: "it is left out\nfor a reason"}}, nil
	}
	again := must.Have(runHere(context.Background(), source, target, o))(t)
	if len(again.Runs) != 3 || len(again.Failed) != 1 || !slices.ContainsFunc(again.Warnings, func(w string) bool { return strings.HasSuffix(w, "failed and is left out: it is left out.") }) {
		t.Errorf("with a run that failed: %+v", again)
	}
	if again.Decisions[0].Because != "set in experiment.yaml" || outcome.Decisions[0].Because == again.Decisions[0].Because {
		t.Errorf("%+v, before %+v", again.Decisions, outcome.Decisions)
	}
	o.Train, o.Overwrite = nil, true // of runs of the same settings there is nothing to begin anew
	result := filepath.Join(names.Runs, "adapt", filepath.FromSlash(outcome.Runs[0].Run), store.ResultFile)
	trained := text(result)
	if again, err = runHere(context.Background(), source, target, o); err != nil || !bytes.Equal(text(names.Predictions), before) {
		t.Errorf("other predictions: %+v, %v", again, err)
	}
	if !bytes.Equal(text(result), trained) {
		t.Errorf("%s: trained again", result)
	}
}

// A target that has other rows after the training than before it is an error.
func TestTargetChanges(t *testing.T) {
	for lines, want := range map[int]string{130: "has 129 rows now and had 120", 100: "has 99 rows now and had 120"} {
		source, target := bothDomains(t)
		o := Options{Folder: filepath.Join(t.TempDir(), "out"), Set: []string{"methods=[source-only@linear]", "seeds=[1]"}}
		o.Train = func(ctx context.Context, of Training) ([]schedule.Failure, error) {
			failed, err := o.trainHere(ctx, of)
			text, _ := os.ReadFile(target)
			rows := strings.SplitAfter(string(text), "\n")[:100]
			for len(rows) < lines {
				rows = append(rows, "1,2\n")
			}
			testfiles.Write(t, target, strings.Join(rows, ""))
			return failed, err
		}
		if _, err := runHere(context.Background(), source, target, o); err == nil || !strings.Contains(err.Error(), target+": "+want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A cancelled context ends it with the context's error, and what goes wrong before training
// leaves nothing.
func TestRunEnds(t *testing.T) {
	source, target := bothDomains(t)
	folder := filepath.Join(t.TempDir(), "out")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := runHere(cancelled, source, target, Options{Folder: folder, Set: small}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	fails := func(_ context.Context, of Training) (failed []schedule.Failure, err error) {
		for _, run := range of.Runs {
			failed = append(failed, schedule.Failure{Run: run, Reason: "no"})
		}
		return failed, nil
	}
	if _, err := runHere(context.Background(), source, target, Options{Folder: folder, Set: small, Train: fails}); !errors.Is(err, ErrNothingTrained) {
		t.Errorf("every run failed: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other")
	for want, o := range map[string]Options{
		"unknown rule":     {Folder: other, Set: []string{"selection.rule=guess"}},
		"is read":          {Folder: source},
		"train.validation": {Folder: other, Set: []string{"train.validation=0"}},
	} {
		if _, err := runHere(context.Background(), source, target, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		} else if want == "is read" && !errors.Is(err, wholefile.ErrSame) {
			t.Errorf("%v", err)
		}
	}
	// Files that somebody else has written stay.
	own := t.TempDir()
	for _, name := range []string{names.Classes, names.Report, names.Outcome} {
		path := writeFile(t, own, name, "{}\n")
		_, err := runHere(context.Background(), source, target, Options{Folder: own, Set: small, Overwrite: true, Train: fails})
		if text, _ := os.ReadFile(path); err == nil || !strings.Contains(err.Error(), path+" would be overwritten") || string(text) != "{}\n" {
			t.Errorf("%s, %v", text, err)
		}
		must.Do(t, os.Remove(path))
	}
	if left, err := os.ReadDir(own); len(left) > 0 || err != nil {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// iwrunTorch is this binary; see TestMain.
var iwrunTorch = &engine.Process{Log: os.Stderr}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == strconv.Itoa(engine.Protocol) { // as iwrun-torch, which this process finds here
		os.Exit(serve.Run(os.Args[1:], serve.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Gone: func() { os.Exit(schedule.StoppedStatus) }}))
	}
	this, err := os.Executable()
	if err = errors.Join(err, os.Setenv(engine.Variable, this)); err != nil {
		panic(err)
	}
	status := m.Run()
	iwrunTorch.Close()
	os.Exit(status)
}

// runHere makes a plan and runs it, in this process unless the options say otherwise.
func runHere(ctx context.Context, source, target string, o Options) (*Outcome, error) {
	if o.Torch = iwrunTorch; o.Train == nil {
		o.Train = o.trainHere
	}
	p, err := NewPlan([]string{source}, target, o)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx)
}

// evaluateHere is [Evaluate].
func evaluateHere(ctx context.Context, of, labelFile string, o EvaluateOptions) (*labels.Evaluation, error) {
	o.Torch = iwrunTorch
	return Evaluate(ctx, of, labelFile, o)
}

// trainHere makes the runs in this process.
func (o Options) trainHere(ctx context.Context, of Training) (failed []schedule.Failure, err error) {
	for i, run := range of.Runs {
		if _, finished := run.Finished(of.Results); finished || i >= of.Sure && !of.Needed(run) {
			continue
		}
		dir := run.Dir(of.Results)
		if other, err := run.Conflict(dir); o.Overwrite && (err != nil || len(other) > 0) {
			if err := dir.Clear(); err != nil {
				return nil, err
			}
		}
		err := errors.Join(dir.Begin(), run.WriteConfig(dir))
		switch {
		case err != nil:
		case run.Config.WithoutSteps():
			_, err = fit.Run(ctx, run.Config, dir, fit.Options{Threads: o.Threads})
		default:
			_, err = train.Run(ctx, run.Config, dir, train.Options{Threads: o.Threads})
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			failed = append(failed, schedule.Failure{Run: run, Reason: err.Error()})
		default:
			of.Finished(run)
		}
	}
	return failed, nil
}

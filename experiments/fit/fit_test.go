package fit

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/measure"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// written is an experiment on two tables of three classes and four columns. The third one has moved in the target, whose
// first class is rare; labelled says whether its rows have labels.
func written(t *testing.T, network string, labelled bool, set ...string) config.Resolved {
	t.Helper()
	root, random := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"source", "target"} {
		counts := map[string][]int{"source": {60, 60, 60}, "target": {10, 60, 130}}[name]
		text := "a,b,c,d,label,who\n"
		for class, n := range counts {
			for i := range n {
				row := make([]float64, 4)
				for j := range row {
					row[j] = random.NormFloat64()
				}
				row[class] += 2.5
				label := "abc"[class : class+1]
				if name == "target" {
					row[2] += 1
					if !labelled {
						label = ""
					}
				}
				text += fmt.Sprintf("%.4f,%.4f,%.4f,%.4f,%s,%d\n", row[0], row[1], row[2], row[3], label, i/3)
			}
		}
		testfiles.Write(t, filepath.Join(root, name+".csv"), text)
	}
	file, err := config.Parse("fit.yaml", []byte(strings.ReplaceAll(`experiment: fit
dataset:
  name: files
  domains: {source: {path: ROOT/source.csv, ignore: [who]}, target: {path: ROOT/target.csv, ignore: [who]}}
tasks: [source-target]
variants: [full]
methods: [source-only]
seeds: [1]
train: {epochs: 1, batch: 8}
`, "ROOT", root)))
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, file.Set(append([]string{"network={name: " + network + ", normalise: source}"}, set...)))
	return must.Have(file.Resolve(file.Config.Tasks[0], "full", "source-only", 1))(t)
}

func made(t *testing.T, run config.Resolved, threads int) (store.Dir, store.Result) {
	t.Helper()
	dir := plan.Of(run).Dir(t.TempDir())
	must.Do(t, dir.Begin())
	result := must.Have(Run(t.Context(), run, dir, Options{Threads: threads}))(t)
	return dir, result
}

// Several sources are one to a run without steps: its classes, shares and held-out rows are those of all together.
func TestSourcesAreOne(t *testing.T) {
	run := written(t, "linear", true, "train.validation=0.1")
	source := run.Dataset.Domains[0].Path
	text := testfiles.Read(t, source)
	lines := strings.SplitAfter(string(text), "\n")
	testfiles.Write(t, source, strings.Join(lines[:122], "")) // one row of the third class is left to the other source
	testfiles.Write(t, filepath.Join(filepath.Dir(source), "other.csv"), lines[0]+strings.Join(lines[121:], ""))
	all := written(t, "linear", true, "train.validation=0.1", "dataset.domains.other={path: "+filepath.Join(filepath.Dir(source), "other.csv")+", ignore: [who]}",
		"dataset.domains.source.path="+source, "dataset.domains.target.path="+run.Dataset.Domains[1].Path, "tasks=[other+source-target]")
	_, result := made(t, all, 1)
	if shares := result.LabelDistributions.Source; result.Sources != nil || len(shares) != 3 || math.Abs(shares[0]-60./181) > 1e-9 {
		t.Errorf("%+v, shares %v", result.Sources, shares)
	}
}

var networks = []string{"linear", "perceptron", "forest", "boosting"}

// A run leaves a model that says what the run said, whatever holds it, and a line of metrics.
func TestRunIsAModel(t *testing.T) {
	for _, network := range networks {
		run := written(t, network, true, "train.validation=0.1")
		dir, result := made(t, run, 1)
		m, err := model.Trust{}.Open(dir.String())
		if err != nil {
			t.Fatalf("%s: %v", network, err)
		}
		alone := filepath.Join(t.TempDir(), "model")
		must.Do(t, model.Save(alone, m))
		m = must.Have(model.Trust{}.Open(alone))(t)
		data := must.Have(domains.Open(run, false))(t)
		counts := measure.NewConfusion(3)
		must.Do(t, counts.Take(measure.Batch{Logits: m.Logits(false)(valuesOf(data.Test)), Labels: datasets.LabelsOf(data.Test)}))
		if !slices.EqualFunc(counts, result.Confusion, slices.Equal[[]int]) || result.LastAccuracy.Value < 0.6 || string(m.Architecture.Name) != network {
			t.Errorf("%s: the model of %s confuses %v, the run %v", network, m.Architecture.Name, counts, result.Confusion)
		}
		if lines, err := dir.ReadMetrics(); err != nil || len(lines) != 1 || lines[0].Step != 0 || lines[0].Accuracy != result.LastAccuracy || !lines[0].ValidationLoss.Measured {
			t.Errorf("%s: %+v, %v", network, lines, err)
		}
		// Target rows are judged by classifiers of a part of the source, as its own rows are; the column that moved is named.
		outputs, err := dir.ReadOutputs()
		if err != nil || len(outputs.TargetCrossed) != len(outputs.Target) || slices.Equal(outputs.TargetCrossed, outputs.Target) || len(outputs.HeldOutLabels) != 180 {
			t.Errorf("%s: %d crossed logits of %d; %v", network, len(outputs.TargetCrossed), len(outputs.Target), err)
		}
		if known := result.WithoutLabels; known.Columns == nil || known.Columns.Odd != "c" || known.LikelyShares == nil || m.Calibration == nil || m.Calibration.Form != "ts" {
			t.Errorf("%s: %+v, %+v", network, known, m.Calibration)
		}
		if finished, is := plan.Of(run).Finished(strings.TrimSuffix(dir.String(), filepath.FromSlash("/fit/"+result.ID))); !is || finished.ConfigHash != run.Hash() {
			t.Errorf("%s: it does not count as finished", network)
		}
	}
}

// A run gives the same bits again, and with any number of threads; unlabelled rows of the target change nothing but what is
// measured by their labels.
func TestSameBits(t *testing.T) {
	for _, network := range networks {
		file := func(dir store.Dir, name string) []byte {
			content := testfiles.Read(t, dir.Path(name))
			return content
		}
		run := written(t, network, true, "train.validation=0.1")
		first, one := made(t, run, 1)
		second, three := made(t, run, 3)
		one.Seconds, three.Seconds = 0, 0
		if diff := cmp.Diff(one, three); diff != "" {
			t.Errorf("%s: the result by three threads, + of them:\n%s", network, diff)
		}
		for _, name := range []string{store.ModelFile, model.WeightsFile, store.OutputsFile} {
			if !bytes.Equal(file(first, name), file(second, name)) {
				t.Errorf("%s: %s differs", network, name)
			}
		}
		blind, result := made(t, written(t, network, false, "train.validation=0.1"), 1)
		if !bytes.Equal(file(first, model.WeightsFile), file(blind, model.WeightsFile)) || result.LastAccuracy.Measured || result.Confusion != nil {
			t.Errorf("%s: without target labels: %+v", network, result)
		}
	}
}

// Rows of a group are on one side of a fold, and what is kept says which group each is of.
func TestGroupsOfARun(t *testing.T) {
	for _, network := range networks {
		run := written(t, network, false, "train.validation=0.1")
		for i := range run.Dataset.Domains {
			run.Dataset.Domains[i].Ignore, run.Dataset.Domains[i].Group = nil, "who"
		}
		dir, _ := made(t, run, 1)
		outputs, err := dir.ReadOutputs()
		if err != nil || len(outputs.HeldOutGroups) != len(outputs.HeldOutLabels) || len(outputs.TargetGroups) != 200 || slices.Max(outputs.HeldOutGroups) != 19 {
			t.Errorf("%s: groups %v, %v; %v", network, outputs.HeldOutGroups, outputs.TargetGroups, err)
		}
	}
}

// The test of columns counts groups of the source, too: rows of a group are alike, and both domains the same.
func TestColumnsOfGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	rejected, draws := 0, 30
	for range draws {
		run := written(t, "linear", false, "train.validation=0.1")
		for i, domain := range run.Dataset.Domains {
			text := "a,b,label,who\n"
			groups, rows := 20, 10
			if domain.Domain == "target" {
				groups, rows = 100, 3
			}
			for who := range groups {
				alike := random.NormFloat64()
				for row := range rows {
					class := row % 3
					text += fmt.Sprintf("%.4f,%.4f,%s,%d\n", alike+random.NormFloat64(), 2*float64(class)+random.NormFloat64(), "abc"[class:class+1], who)
				}
			}
			testfiles.Write(t, domain.Path, text)
			run.Dataset.Domains[i].Ignore, run.Dataset.Domains[i].Group = nil, "who"
		}
		if _, result := made(t, run, 1); result.WithoutLabels.Columns.P < 0.05 {
			rejected++
		}
	}
	if rejected > draws/6 { // 8 where those of the source count each on its own
		t.Errorf("columns that are alike are rejected in %d of %d draws", rejected, draws)
	}
}

// Without held-out rows nothing is known that takes them.
func TestWithoutValidation(t *testing.T) {
	dir, result := made(t, written(t, "linear", true), 1)
	if _, err := dir.ReadOutputs(); err == nil || result.WithoutLabels != nil || result.CorrectedAccuracy.Measured {
		t.Errorf("%+v, %v", result.WithoutLabels, err)
	}
	about, err := model.ReadMetadata(dir.String())
	if err != nil || about.Calibration != nil || about.Shares.Target != nil {
		t.Errorf("%+v, %v", about, err)
	}
}

// What cannot be learnt from is an error before anything is written.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		domain, row, want string
	}{
		"one row of a class": {"source", "1,2,3,4,eel,1\n", `one row of class "eel"; with train.validation it takes two`},
		"a large value":      {"target", "1e30,2,3,4,a,1\n", `column "a": a value is`},
	} {
		run := written(t, "linear", false, "train.validation=0.1")
		path := filepath.Join(filepath.Dir(run.Dataset.Domains[0].Path), c.domain+".csv")
		text := testfiles.Read(t, path)
		testfiles.Write(t, path, string(append(text, c.row...)))
		dir := plan.Of(run).Dir(t.TempDir())
		must.Do(t, dir.Begin())
		if _, err := Run(t.Context(), run, dir, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

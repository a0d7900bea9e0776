package labelshift

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// writeRun writes what a finished run leaves of three classes and returns it.
func writeRun(t *testing.T) (store.Dir, store.Outputs) {
	t.Helper()
	dir := store.NewDir(t.TempDir(), "animals", "full/a-b/dann/seed-1")
	must.Do(t, dir.Begin())
	random := rand.New(rand.NewPCG(3, 4))
	o := store.Outputs{Classes: 3}
	rows := func(n int, shares []float64) (logits []float32, labels []int) {
		for row := range n {
			class := 0
			for place := (float64(row) + 0.5) / float64(n); place > shares[class]; class++ {
				place -= shares[class]
			}
			for j := range 3 {
				logit := random.NormFloat64()
				if j == class {
					logit += 3
				}
				logits = append(logits, float32(logit))
			}
			labels = append(labels, class)
		}
		return logits, labels
	}
	o.HeldOut, o.HeldOutLabels = rows(300, []float64{1. / 3, 1. / 3, 1. / 3})
	o.Target, o.TargetLabels = rows(400, []float64{0.1, 0.3, 0.6})
	must.Do(t, dir.WriteOutputs(o))
	writeResult(t, dir, "cat", "dog", "owl")
	return dir, o
}

func writeResult(t *testing.T, dir store.Dir, classes ...string) {
	t.Helper()
	ones := slices.Repeat([]float64{1}, len(classes))
	must.Do(t, dir.WriteResult(store.Result{
		ID: "full/a-b/dann/seed-1", Experiment: "animals", Variant: "full", Task: "a-b", Method: "dann", Seed: 1,
		Classes: classes, Weights: ones, LabelDistributions: store.LabelDistributions{Source: ones},
	}))
}

func TestReadRun(t *testing.T) {
	dir, outputs := writeRun(t)
	source, target := must.Both(ReadRun(dir.String()))(t)
	a := analyse(t, source, target, Default())
	for class, want := range []float64{0.1, 0.3, 0.6} {
		if interval := a.Uncertainty.Shares.Joint[class]; !(interval.Low < want && want < interval.High && interval.High-interval.Low < 0.2) {
			t.Errorf("the share of %s lies in %v, true is %v", a.Classes[class], interval, want)
		}
	}
	if a.SourceRows != 300 || a.TargetRows != 400 || a.Classes[2] != "owl" || !strings.HasSuffix(a.Target, "(target rows)") {
		t.Errorf("%+v", a)
	}
	// The target's labels have no part in it.
	slices.Reverse(outputs.TargetLabels)
	must.Do(t, dir.WriteOutputs(outputs))
	source, target = must.Both(ReadRun(dir.String()))(t)
	again, err := Analyse(source, target, Default())
	if err != nil || !slices.Equal(again.Estimate.Weights, a.Estimate.Weights) {
		t.Errorf("with other target labels %v, before %v, error %v", again.Estimate.Weights, a.Estimate.Weights, err)
	}
}

func TestReadRunErrors(t *testing.T) {
	dir, _ := writeRun(t)
	writeResult(t, dir, "cat", "dog")
	if _, _, err := ReadRun(dir.String()); err == nil || !strings.Contains(err.Error(), "logits of 3 classes, and result.json names 2") {
		t.Errorf("error %v", err)
	}
	testfiles.Remove(t, dir.Path(store.OutputsFile))
	if _, _, err := ReadRun(dir.String()); err == nil || !strings.Contains(err.Error(), "set train.validation") {
		t.Errorf("error %v", err)
	}
	if _, _, err := ReadRun(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a finished run: it has no result.json") {
		t.Errorf("no run: error %v", err)
	}
}

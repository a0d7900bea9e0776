package store

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/selection"
)

func TestEvidenceIsReadAgain(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	want := []Evidence{
		{Epoch: 0, Evidence: selection.Evidence{Losses: []float64{1. / 3, 2}, Errors: []float64{0, 0.1}, Shares: []float64{0.25, 0.75}}},
		{Epoch: 1, Step: 7, Evidence: selection.Evidence{Losses: []float64{0.1, 1e-300}, Errors: []float64{2. / 3, 1}, Shares: []float64{0.5, 0.5}, Estimated: []float64{0, 1}}},
	}
	if err := dir.WriteEvidence(want); err != nil {
		t.Fatal(err)
	}
	if text := read(t, dir.Path(EvidenceFile)); !strings.HasPrefix(text, "epoch,step,loss_0,loss_1,error_0,error_1,share_0,share_1,estimated_0,estimated_1\n0,0,") {
		t.Errorf("evidence.csv is\n%s", text)
	}
	if got, err := dir.ReadEvidence(); err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for text, message := range map[string]string{
		"epoch,step,loss_0\n": "evidence.csv:1: the header is",
		"epoch\n":             "evidence.csv:1: the header is",
		"epoch,step,loss_0,error_0,share_0,estimated_0\n1,2,x,1,1,": "evidence.csv:2: column 3 is \"x\", want a number",
	} {
		write(t, dir.Path(EvidenceFile), text)
		if _, err := dir.ReadEvidence(); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: error %v, want %q", text, err, message)
		}
	}
}

// Criteria are columns by their names, and what was not measured is an empty cell.
func TestCriteriaOfMetrics(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	want := []Metrics{
		{Epoch: 0, Criteria: map[string]float64{"im": 0.5}},
		{Epoch: 1},
		{Epoch: 2, Criteria: map[string]float64{"source-accuracy-macro": 1. / 3, "im": -2}},
	}
	if err := dir.WriteMetrics(want); err != nil {
		t.Fatal(err)
	}
	if text := read(t, dir.Path(MetricsFile)); !strings.Contains(text, "seconds,source_accuracy_macro,im\n") {
		t.Errorf("metrics.csv is\n%s", text)
	}
	if got, err := dir.ReadMetrics(); err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestOutputsAreReadAgain(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	if _, err := dir.ReadOutputs(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "train.validation") {
		t.Errorf("none: %v", err)
	}
	want := Outputs{
		Classes: 3, HeldOut: []float32{1, 2, 3, -4, 5, math.Pi}, HeldOutLabels: []int{2, 0},
		Target: []float32{7, 8, 1e-9}, TargetLabels: []int{-1},
	}
	if err := dir.WriteOutputs(want); err != nil {
		t.Fatal(err)
	}
	if got, err := dir.ReadOutputs(); err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	whole, err := os.ReadFile(dir.Path(OutputsFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(o *Outputs){
		"a label that is no class":  func(o *Outputs) { o.HeldOutLabels = []int{2, 3} },
		"a held-out row of none":    func(o *Outputs) { o.HeldOutLabels = []int{2, -1} },
		"too few labels":            func(o *Outputs) { o.TargetLabels = nil },
		"more classes in one":       func(o *Outputs) { o.HeldOut, o.HeldOutLabels = nil, nil; o.Classes = 0 },
		"a file that ends too soon": nil,
	} {
		damaged := want
		if damage == nil {
			write(t, dir.Path(OutputsFile), string(whole[:len(whole)-3]))
		} else if damage(&damaged); damaged.Classes == 0 {
			write(t, dir.Path(OutputsFile), strings.Replace(string(whole), "[2,3]", "[3,2]", 1))
		} else if err := dir.WriteOutputs(damaged); err != nil {
			t.Fatal(err)
		}
		if got, err := dir.ReadOutputs(); err == nil || !strings.Contains(err.Error(), OutputsFile) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

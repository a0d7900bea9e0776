package domains

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/input"
	"iwda/internal/testfiles"
)

// Weights that have changed since are not taken for those of a finished run, whose hash knows no more than the
// file's name; without the file finished runs stay.
func TestCheckSameWeights(t *testing.T) {
	weights, results := filepath.Join(t.TempDir(), "resnet50.pth"), t.TempDir()
	testfiles.Write(t, weights, "former")
	file, err := config.Parse("f.yaml", []byte("experiment: e\ndataset: {name: office31}\ntasks: [amazon-dslr]\nvariants: [full]\nmethods: [dann]\nseeds: [1]\nnetwork: {pretrained: '"+weights+"'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := plan.Runs(file)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := input.SHA256(weights)
	if err != nil {
		t.Fatal(err)
	}
	id, dir := runs[0].ID, runs[0].Dir(results)
	if err := dir.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := dir.WriteResult(store.Result{
		ID: id.String(), Experiment: "e", Variant: id.Variant, Task: id.Task, Method: id.Method, Seed: id.Seed,
		ConfigHash: runs[0].Config.Hash(), WeightsSHA256: sum,
	}); err != nil {
		t.Fatal(err)
	}
	if err := CheckSameWeights(runs, results, false); err != nil {
		t.Error(err)
	}
	testfiles.Write(t, weights, "other")
	if err, want := CheckSameWeights(runs, results, false), "was trained from another file than "+weights; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	if err := os.Remove(weights); err != nil {
		t.Fatal(err)
	}
	if err := CheckSameWeights(runs, results, false); err != nil {
		t.Error(err)
	}
	testfiles.Write(t, weights, "other")
	if err := CheckSameWeights(runs, results, true); err != nil {
		t.Error(err)
	}
	if _, finished := runs[0].Finished(results); finished {
		t.Error("the run was not removed")
	}
}

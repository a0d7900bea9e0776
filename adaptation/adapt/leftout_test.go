package adapt

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"iwda/experiments/store"
)

// A run whose held-out rows allow no calibration is left out by name, and the others predict.
func TestRunWithoutCalibrationIsLeftOut(t *testing.T) {
	source, target := bothDomains(t)
	folder := filepath.Join(t.TempDir(), "out")
	o := Options{Folder: folder, Set: []string{"methods=[source-only@linear, source-only]", "seeds=[1]"}}
	if _, err := runHere(context.Background(), source, target, o); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan([]string{source}, target, o)
	if err != nil {
		t.Fatal(err)
	}
	spoil(t, p.Runs[1].Dir(p.results()))
	outcome, err := runHere(context.Background(), source, target, o)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Method != "source-only@linear" || len(outcome.Runs) != 1 {
		t.Errorf("%s predicts, of %d runs", outcome.Method, len(outcome.Runs))
	}
	if warnings := strings.Join(outcome.Warnings, " "); !strings.Contains(warnings, p.Runs[1].ID.String()) || !strings.Contains(warnings, "this run is left out") {
		t.Errorf("warnings %q", warnings)
	}
}

// spoil puts what is no number among the logits of a run's held-out rows.
func spoil(t *testing.T, dir store.Dir) {
	t.Helper()
	o, err := dir.ReadOutputs()
	if err != nil {
		t.Fatal(err)
	}
	o.HeldOut[0] = float32(math.NaN())
	if err := dir.WriteOutputs(o); err != nil {
		t.Fatal(err)
	}
}

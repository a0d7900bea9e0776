package adapt

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
)

// A run whose held-out rows allow no calibration is left out by name, and the others predict.
func TestRunWithoutCalibrationIsLeftOut(t *testing.T) {
	source, target := bothDomains(t)
	folder := filepath.Join(t.TempDir(), "out")
	o := Options{Folder: folder, Set: []string{"methods=[source-only@linear, source-only]", "seeds=[1]"}}
	must.Have(runHere(context.Background(), source, target, o))(t)
	p := must.Have(NewPlan([]string{source}, target, o))(t)
	spoil(t, p.Runs[1].Dir(p.results()))
	outcome := must.Have(runHere(context.Background(), source, target, o))(t)
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
	o := must.Have(dir.ReadOutputs())(t)
	o.HeldOut[0] = float32(math.NaN())
	must.Do(t, dir.WriteOutputs(o))
}

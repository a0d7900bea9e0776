package adapt

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/weightest"
)

// Methods are compared by the mean over their seeds, and those of the chosen run's method are
// offered together where they are several.
func TestMethods(t *testing.T) {
	judged := func(run string, value float64) Judgement { return Judgement{Run: "full/a-b/" + run, Value: value} }
	o := Outcome{
		Choice: Choice{Rule: "iwv-y", Best: 2, Shared: Shared{Test: weightest.LabelShift{}}, Judged: []Judgement{
			judged("source-only/seed-1", 0.5), judged("iwdan/seed-1", 1), judged("iwdan/seed-2", 0.25), judged("iwdan/seed-3", 0.25),
		}},
		Together: "out/runs/adapt/full/a-b/iwdan",
	}
	want := []Method{{"source-only", 1, 0.5}, {"iwdan", 3, 0.5}}
	if diff := cmp.Diff(want, o.Methods()); diff != "" {
		t.Error(diff)
	}
	if why := strings.Join(o.Why(), "\n"); !strings.Contains(why, "The 3 seeds of iwdan predict together") || !strings.Contains(why, "iwrun predict out/runs/adapt/full/a-b/iwdan;") {
		t.Errorf("why: %s", why)
	}
	o.Best = 0
	if why := strings.Join(o.Why(), "\n"); strings.Contains(why, "predict together") {
		t.Errorf("one seed alone: %s", why)
	}
	o.Judged[1].Value = math.NaN()
	if m := o.Methods(); !math.IsNaN(m[1].Value) || slices.ContainsFunc(m[:1], func(m Method) bool { return math.IsNaN(m.Value) }) {
		t.Errorf("of a run that could not be judged: %+v", m)
	}
}

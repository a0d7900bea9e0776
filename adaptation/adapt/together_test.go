package adapt

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/adaptation/judge"
)

func judged(run string, value float64) judge.Judgement {
	return judge.Judgement{Run: "full/a-b/" + run, Value: value}
}

// All seeds of the best run's method predict, or it alone.
func TestWhatIsChosen(t *testing.T) {
	o := conclusion{Choice: judge.Choice{Rule: "iwv-y", Judged: []judge.Judgement{judged("source-only/seed-1", 0.5), judged("iwdan/seed-1", 1.25), judged("iwdan/seed-2", 0.25), judged("iwdan/seed-3", 0.75)}}}
	o.Methods = []judge.Method{{Name: "source-only", Runs: []int{0}, Value: 0.5}, {Name: "iwdan", Runs: []int{1, 2, 3}, Value: 0.75}}
	for _, c := range []struct {
		used int
		all  bool
		want string
	}{
		{2, false, "full/a-b/iwdan/seed-2 is used: its iwv-y is 0.2500, the best of 4 runs."},
		{0, false, "full/a-b/source-only/seed-1 is used: its iwv-y is 0.5000, the best of 4 runs."},
		{0, true, "full/a-b/source-only/seed-1 is used: its iwv-y is 0.5000, the best of 4 runs."},
		{2, true, "The 3 seeds of full/a-b/iwdan are used together: seed-2 has the best iwv-y of 4 runs, 0.2500; the mean over the seeds is 0.7500."},
	} {
		o.Best, o.Used, o.AllSeeds = c.used, c.used, c.all
		if got := o.used(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Runs of several methods together are named, and why they predict and how they are corrected.
func TestMethodsTogetherAreSaid(t *testing.T) {
	o := conclusion{Choice: judge.Choice{
		Judged:   []judge.Judgement{judged("source-only@linear/seed-1", 0.5), judged("mcc/seed-1", 0.7), judged("mcc/seed-2", 0.6)},
		Together: []int{0, 1, 2}, Correction: judge.Halfway, Because: "nothing speaks against it",
		Methods: []judge.Method{{Name: "source-only@linear", Runs: []int{0}}, {Name: "mcc", Runs: []int{1, 2}}},
	}}
	if want := "source-only@linear and mcc predict together, corrected halfway for the class shares that each run estimates: nothing speaks against it."; o.used() != want {
		t.Errorf("%q, want %q", o.used(), want)
	}
}

// Why a method is used that is as good as the best run's is said.
func TestPreferredIsSaid(t *testing.T) {
	o := conclusion{Choice: judge.Choice{
		Rule: "target-risk", Best: 1, Used: 4,
		Judged:  []judge.Judgement{judged("source-only/seed-1", 1.3), judged("iwdan/seed-1", 0.9), judged("iwdan/seed-2", 1), judged("iwcdan/seed-1", 2), judged("iwcdan/seed-2", 1.05), judged("iwjan/seed-1", math.NaN())},
		Methods: []judge.Method{{Name: "source-only", Runs: []int{0}}, {Name: "iwdan", Runs: []int{1, 2}}, {Name: "iwcdan", Runs: []int{3, 4}}, {Name: "iwjan"}},
	}}
	const rest = ": the target-risk of seed-2 is 1.0500. The best of 6 runs, 0.9000 of full/a-b/iwdan/seed-1, is no better within selection.tolerance, and among equally good methods the one listed last is used."
	for all, want := range map[bool]string{false: "full/a-b/iwcdan/seed-2 is used" + rest, true: "The 2 seeds of full/a-b/iwcdan are used together" + rest} {
		if o.AllSeeds = all; o.used() != want {
			t.Errorf("%q, want %q", o.used(), want)
		}
	}
}

// Shares and bounds of several runs are means, bounds only where each run has some.
func TestMeanShares(t *testing.T) {
	share := func(target, low, high float64) ClassOutcome {
		return ClassOutcome{
			Class: "cat", SourceShare: 0.5, TargetShare: target, TargetInterval: &TargetInterval{low, high},
			Weight: 2 * target, WeightInterval: &WeightInterval{2 * low, 2 * high},
		}
	}
	first, second := []ClassOutcome{share(0.4375, 0.25, 0.75)}, []ClassOutcome{share(0.5625, 0.375, 0.875)}
	got := meanShares([][]ClassOutcome{first, second})
	if diff := cmp.Diff([]ClassOutcome{share(0.5, 0.3125, 0.8125)}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]ClassOutcome{share(0.4375, 0.25, 0.75)}, first); diff != "" {
		t.Errorf("the first run's changed: %s", diff)
	}
	second = slices.Clone(second)
	second[0].TargetInterval = nil
	for _, each := range [][][]ClassOutcome{{first, second}, {second, first}} {
		if got := meanShares(each); got[0].TargetInterval != nil || got[0].TargetShare != 0.5 {
			t.Errorf("one run has no intervals: %+v", got)
		}
	}
}

// Runs that contradict each other leave open more than any of them says.
func TestMeanSharesOfRunsApart(t *testing.T) {
	var each [][]ClassOutcome
	for _, target := range []float64{0.976, 0.012, 0.007} {
		each = append(each, []ClassOutcome{{SourceShare: 0.4, TargetShare: target, TargetInterval: &TargetInterval{max(0, target-0.02), min(1, target+0.02)}}})
	}
	got := meanShares(each)[0]
	if got.TargetInterval.Low > 0 || got.TargetInterval.High < 0.98 || got.WeightInterval.High != got.TargetInterval.High/0.4 {
		t.Errorf("%v, weight %v", *got.TargetInterval, *got.WeightInterval)
	}
	// As far apart as their intervals say: these stay.
	each = nil
	for _, target := range []float64{0.29, 0.3, 0.31} {
		each = append(each, []ClassOutcome{{SourceShare: 0.4, TargetShare: target, TargetInterval: &TargetInterval{target - 0.02, target + 0.02}}})
	}
	if got := meanShares(each)[0].TargetInterval; math.Abs(got.Low-0.28) > 1e-12 || math.Abs(got.High-0.32) > 1e-12 {
		t.Errorf("%v", *got)
	}
}

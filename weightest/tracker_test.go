package weightest

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

// fixed is an estimator that always says the same.
type fixed struct {
	Estimator
	weights []float64
	warning string
	err     error
}

func (f fixed) Estimate(Problem) (Estimate, error) {
	return Estimate{Weights: f.weights, Warning: f.warning}, f.err
}

// filled returns statistics of a perfect classifier: C = diag(0.75, 0.25), mu = (0.5, 0.5).
func filled(t *testing.T) *Accumulator {
	t.Helper()
	a := NewAccumulator(2)
	must.Do(t, a.Add([]float32{1, 0, 1, 0, 1, 0, 0, 1}, []int{0, 0, 0, 1}, []float32{1, 0, 0, 1}))
	return a
}

var filledSource = []float64{0.75, 0.25}

func newTracker(t *testing.T, settings TrackerSettings) *Tracker {
	t.Helper()
	return must.Have(NewTracker(2, settings))(t)
}

func update(t *testing.T, tracker *Tracker, statistics *Accumulator) Update {
	t.Helper()
	record := must.Have(tracker.Update(statistics, filledSource))(t)
	if statistics.sums.SourceRows != 0 {
		t.Error("the update left the statistics as they were")
	}
	return record
}

// The true weights of filled are 2/3 and 2.
func TestTrackerRecord(t *testing.T) {
	tracker := newTracker(t, TrackerSettings{})
	record := update(t, tracker, filled(t))
	if d := weighttest.LargestDifference(record.Weights, []float64{2.0 / 3, 2}); d > 1e-14 {
		t.Errorf("weights %v", record.Weights)
	}
	if math.Abs(record.SmallestSingularValue-0.25) > 1e-15 {
		t.Errorf("smallest singular value %v, want 0.25", record.SmallestSingularValue)
	}
	if want := 1 / (0.75*4/9 + 0.25*4); math.Abs(record.EffectiveSampleSize-want) > 1e-14 {
		t.Errorf("effective sample size %v, want %v", record.EffectiveSampleSize, want)
	}
	if !record.Changed || record.Note != "" {
		t.Errorf("changed %v, note %q", record.Changed, record.Note)
	}
	record.Weights[0] = 7
	if tracker.Weights()[0] == 7 {
		t.Error("the record shares the tracker's weights")
	}
}

func TestTrackerEMA(t *testing.T) {
	estimate := []float64{0.2, 3.4}
	for _, ema := range []float64{0, 0.25, 0.5, 0.9} {
		tracker := newTracker(t, TrackerSettings{EMA: ema, Estimator: fixed{weights: estimate}})
		if w := tracker.Weights(); !slices.Equal(w, []float64{1, 1}) {
			t.Fatalf("the weights start at %v", w)
		}
		for n := 1; n <= 5; n++ {
			record := update(t, tracker, filled(t))
			share := math.Pow(ema, float64(n)) // of the initial ones
			for j, e := range estimate {
				if want := share + (1-share)*e; math.Abs(record.Weights[j]-want) > 1e-15*10 {
					t.Errorf("EMA %v, update %d: weight %d is %v, want %v", ema, n, j, record.Weights[j], want)
				}
			}
		}
	}
}

func TestTrackerWarmup(t *testing.T) {
	tracker := newTracker(t, TrackerSettings{Warmup: 2})
	for n := 1; n <= 2; n++ {
		record := update(t, tracker, filled(t))
		if record.Changed || !slices.Equal(record.Weights, []float64{1, 1}) || !strings.Contains(record.Note, "warm-up") {
			t.Errorf("update %d of the warm-up: %+v", n, record)
		}
	}
	if record := update(t, tracker, filled(t)); !record.Changed || record.Weights[1] < 1.9 {
		t.Errorf("after the warm-up: %+v", record)
	}
}

func TestTrackerKeepsWeights(t *testing.T) {
	for name, settings := range map[string]TrackerSettings{
		"smallest singular value": {MinSingularValue: 0.26},
	} {
		record := update(t, newTracker(t, settings), filled(t))
		if record.Changed || !slices.Equal(record.Weights, []float64{1, 1}) ||
			!strings.Contains(record.Note, name) || !strings.Contains(record.Note, "former weights stay") {
			t.Errorf("%s: %+v", name, record)
		}
	}
	if record := update(t, newTracker(t, TrackerSettings{MinSingularValue: 0.24}), filled(t)); !record.Changed {
		t.Errorf("a smallest singular value above the limit: %+v", record)
	}
	warned := update(t, newTracker(t, TrackerSettings{Estimator: fixed{weights: []float64{1, 1}, warning: "careful"}}), filled(t))
	if !warned.Changed || warned.Note != "careful" {
		t.Errorf("a warning: %+v", warned)
	}
}

func TestTrackerErrors(t *testing.T) {
	failure := errors.New("failure")
	for name, test := range map[string]struct {
		estimator  Estimator
		statistics *Accumulator
		source     []float64
		want       error
	}{
		"no rows":       {nil, NewAccumulator(2), filledSource, ErrNoStatistics},
		"estimator":     {fixed{err: failure}, filled(t), filledSource, failure},
		"no source":     {nil, filled(t), []float64{0, 0}, ErrInfeasible},
		"wrong source":  {nil, filled(t), []float64{math.NaN(), 1}, ErrInvalidProblem},
		"short weights": {fixed{weights: []float64{1}}, filled(t), filledSource, nil},
		"NaN weights":   {fixed{weights: []float64{1, math.NaN()}}, filled(t), filledSource, nil},
	} {
		tracker := newTracker(t, TrackerSettings{Estimator: test.estimator})
		rows := test.statistics.sums.SourceRows
		_, err := tracker.Update(test.statistics, test.source)
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
		if test.statistics.sums.SourceRows != rows || !reflect.DeepEqual(tracker.State(), TrackerState{[]float64{1, 1}, 0}) {
			t.Errorf("%s: the error left a trace", name)
		}
	}
	for name, settings := range map[string]TrackerSettings{
		"EMA 1":              {EMA: 1},
		"EMA -0.1":           {EMA: -0.1},
		"EMA NaN":            {EMA: math.NaN()},
		"warm-up":            {Warmup: -1},
		"min singular value": {MinSingularValue: -1},
	} {
		if _, err := NewTracker(2, settings); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTrackerRestore(t *testing.T) {
	settings := TrackerSettings{EMA: 0.5, Warmup: 1}
	whole, first := newTracker(t, settings), newTracker(t, settings)
	for range 2 {
		update(t, whole, filled(t))
		update(t, first, filled(t))
	}
	state := first.State()
	update(t, first, filled(t)) // must not reach the saved state
	second := newTracker(t, settings)
	must.Do(t, second.Restore(state))
	if a, b := update(t, whole, filled(t)), update(t, second, filled(t)); !reflect.DeepEqual(a, b) {
		t.Errorf("after a restore %+v, without %+v", b, a)
	}
	before := second.State()
	for name, wrong := range map[string]TrackerState{
		"classes":  {Weights: []float64{1}},
		"NaN":      {Weights: []float64{1, math.NaN()}},
		"negative": {Weights: []float64{1, -1}},
		"updates":  {Weights: []float64{1, 1}, Updates: -1},
	} {
		if err := second.Restore(wrong); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if !reflect.DeepEqual(before, second.State()) {
		t.Error("a failed Restore changed the tracker")
	}
}

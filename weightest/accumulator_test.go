package weightest

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/weightest/internal/weighttest"
)

// softmaxBatch draws rows of probabilities and labels.
func softmaxBatch(r *rand.Rand, rows, k int) ([]float32, []int) {
	probabilities := make([]float32, rows*k)
	labels := make([]int, rows)
	for row := range rows {
		for i, v := range weighttest.Distribution(r, k) {
			probabilities[row*k+i] = float32(v)
		}
		labels[row] = r.IntN(k)
	}
	return probabilities, labels
}

func TestAccumulatorEqualsLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const k = 7
	a := NewAccumulator(k)
	var confusion [k][k]float64
	var mu [k]float64
	var sourceRows, targetRows int
	for _, sizes := range [][2]int{{5, 9}, {0, 3}, {11, 0}, {1, 1}} {
		source, labels := softmaxBatch(r, sizes[0], k)
		target, _ := softmaxBatch(r, sizes[1], k)
		must.Do(t, a.Add(source, labels, target))
		for row, label := range labels {
			for i := range k {
				confusion[i][label] += float64(source[row*k+i])
			}
		}
		for row := range sizes[1] {
			for i := range k {
				mu[i] += float64(target[row*k+i])
			}
		}
		sourceRows += sizes[0]
		targetRows += sizes[1]
	}
	if a.sums.SourceRows != sourceRows || a.sums.TargetRows != targetRows {
		t.Errorf("%d and %d rows, want %d and %d", a.sums.SourceRows, a.sums.TargetRows, sourceRows, targetRows)
	}
	c, predictions := a.Confusion(), a.TargetPredictions()
	for i := range k {
		for j := range k {
			if want := confusion[i][j] / float64(sourceRows); math.Abs(c.At(i, j)-want) > 1e-15 {
				t.Errorf("C[%d][%d] = %v, want %v", i, j, c.At(i, j), want)
			}
		}
		if want := mu[i] / float64(targetRows); math.Abs(predictions[i]-want) > 1e-15 {
			t.Errorf("mu[%d] = %v, want %v", i, predictions[i], want)
		}
	}
}

// Rows are predicted, columns true classes: one image of class 2 that is predicted as
// class 0 belongs to row 0, column 2.
func TestAccumulatorOrientation(t *testing.T) {
	a := NewAccumulator(3)
	must.Do(t, a.Add([]float32{1, 0, 0}, []int{2}, nil))
	c := a.Confusion()
	if c.At(0, 2) != 1 || c.At(2, 0) != 0 {
		t.Errorf("C[0][2] = %v, C[2][0] = %v, want 1 and 0", c.At(0, 2), c.At(2, 0))
	}
}

func TestAccumulatorEmptyAndReset(t *testing.T) {
	a := NewAccumulator(2)
	if c := a.Confusion(); c.At(0, 0) != 0 {
		t.Errorf("an empty accumulator has C[0][0] = %v", c.At(0, 0))
	}
	if mu := a.TargetPredictions(); mu[0] != 0 || mu[1] != 0 {
		t.Errorf("an empty accumulator has mu = %v", mu)
	}
	must.Do(t, a.Add([]float32{1, 0}, []int{0}, []float32{0, 1}))
	a.Reset()
	if !reflect.DeepEqual(a.State(), NewAccumulator(2).State()) {
		t.Errorf("after Reset: %+v", a.State())
	}
}

func TestAccumulatorRestore(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	const k = 5
	whole, first, second := NewAccumulator(k), NewAccumulator(k), NewAccumulator(k)
	add := func(source []float32, labels []int, target []float32, accumulators ...*Accumulator) {
		for _, a := range accumulators {
			must.Do(t, a.Add(source, labels, target))
		}
	}
	source, labels := softmaxBatch(r, 8, k)
	target, _ := softmaxBatch(r, 6, k)
	add(source, labels, target, whole, first)
	state := first.State()
	add(source, labels, target, first) // must not reach the saved state
	must.Do(t, second.Restore(state))
	source, labels = softmaxBatch(r, 3, k)
	add(source, labels, target, whole, second)
	if !reflect.DeepEqual(whole.State(), second.State()) {
		t.Error("an accumulator that was saved and restored differs from one that was not")
	}

	before := second.State()
	for name, wrong := range map[string]AccumulatorState{
		"classes": NewAccumulator(k + 1).State(),
		"sums":    {Classes: k, Joint: make([]float64, k), Target: make([]float64, k)},
		"target":  {Classes: k, Joint: make([]float64, k*k)},
		"rows":    {Classes: k, Joint: make([]float64, k*k), Target: make([]float64, k), SourceRows: -1},
	} {
		if err := second.Restore(wrong); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if !reflect.DeepEqual(before, second.State()) {
		t.Error("a failed Restore changed the accumulator")
	}
}

func TestAccumulatorRejectsLabels(t *testing.T) {
	for _, label := range []int{-1, 2} {
		a := NewAccumulator(2)
		err := a.Add([]float32{1, 0, 1, 0}, []int{0, label}, []float32{1, 0})
		if err == nil || !strings.Contains(err.Error(), "row 1") {
			t.Errorf("label %d: error %v, want one that names row 1", label, err)
		}
		if !reflect.DeepEqual(a.State(), NewAccumulator(2).State()) {
			t.Errorf("label %d: rows were added", label)
		}
	}
}

func TestPanics(t *testing.T) {
	tracker := must.Have(NewTracker(2, TrackerSettings{}))(t)
	for name, f := range map[string]func(){
		"NewAccumulator":      func() { NewAccumulator(0) },
		"Add source":          func() { _ = NewAccumulator(2).Add([]float32{1}, []int{0}, nil) },
		"Add target":          func() { _ = NewAccumulator(2).Add(nil, nil, []float32{1}) },
		"NewTracker":          func() { _, _ = NewTracker(0, TrackerSettings{}) },
		"Update":              func() { _, _ = tracker.Update(NewAccumulator(3), []float64{0.5, 0.5}) },
		"Update source":       func() { _, _ = tracker.Update(NewAccumulator(2), []float64{1}) },
		"Oracle":              func() { _, _ = Oracle([]float64{1}, []float64{0.5, 0.5}) },
		"Distance":            func() { Distance([]float64{1}, []float64{1, 2}) },
		"EffectiveSampleSize": func() { EffectiveSampleSize([]float64{1}, []float64{0.5, 0.5}) },
	} {
		func() {
			defer func() {
				if message, ok := recover().(string); !ok || !strings.HasPrefix(message, "weightest: ") {
					t.Errorf("%s: did not panic with a message of this package", name)
				}
			}()
			f()
		}()
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	a := NewAccumulator(345)
	source, labels := softmaxBatch(rand.New(rand.NewPCG(3, 3)), 36, 345)
	allocations := testing.AllocsPerRun(10, func() {
		must.Do(t, a.Add(source, labels, source))
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

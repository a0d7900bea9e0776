package train

import (
	"errors"
	"math"
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/experiments/measure"
	"iwda/internal/must"
	"iwda/nets"
	"iwda/torch"
)

// fixed is a network that says of an image what its first value is.
type fixed struct{ classes int }

func (f fixed) Forward(x torch.Tensor, _ bool) (features, logits torch.Tensor) {
	rows := x.Shape()[0]
	logits = torch.Full(0, torch.Float32, torch.CPU, rows, f.classes)
	values := torch.ToSlice[float32](logits)
	for i, v := range torch.ToSlice[float32](x.Reshape(rows, -1).Narrow(1, 0, 1)) {
		values[i*f.classes+int(math.Round(float64(v+1)/2*255))] = 1
	}
	return x, torch.FromSlice(values, rows, f.classes)
}
func (fixed) FeatureSize() int  { return 1 }
func (fixed) State() nets.State { return nil }

// sevenRows reads seven rows, of which the labels of some are not known.
func sevenRows(t *testing.T, unknown ...int) rowReader {
	t.Helper()
	var labels datasets.Labels
	for row, class := range []int{0, 1, 2, 2, 1, 1, 2} {
		labels.Add(class, !slices.Contains(unknown, row))
	}
	predictions := []byte{0, 1, 2, 1, 1, 0, 2}
	set := must.Have(datasets.NewImages("test", []int{1, 1, 1}, []string{"a", "b", "c"}, predictions, labels))(t)
	return inMemory{set}
}

// Rows without a label are neither right nor wrong; where no row has one, there is no
// accuracy.
func TestConfusion(t *testing.T) {
	for name, test := range map[string]struct {
		rows      rowReader
		counts    measure.Confusion
		measured  bool
		all, mean float64
	}{
		"all labels":  {sevenRows(t), measure.Confusion{{1, 0, 0}, {1, 2, 0}, {0, 1, 2}}, true, 5.0 / 7, (1 + 2.0/3 + 2.0/3) / 3},
		"some labels": {sevenRows(t, 0, 4, 6), measure.Confusion{{0, 0, 0}, {1, 1, 0}, {0, 1, 1}}, true, 0.5, 0.5},
		"none known":  {sevenRows(t, 0, 1, 2, 3, 4, 5, 6), measure.NewConfusion(3), false, 0, 0},
	} {
		for _, batch := range []int{1, 3, 7, 100} {
			counts := measure.NewConfusion(3)
			must.Do(t, (evaluator{logitsOf(fixed{3}), batch, torch.CPU}).evaluate(t.Context(), test.rows, counts))
			if !slices.EqualFunc(counts, test.counts, slices.Equal[[]int]) {
				t.Errorf("%s, batches of %d: confusion %v, want %v", name, batch, counts, test.counts)
			}
			all, mean := counts.Accuracy(), counts.MeanClassAccuracy()
			if all.Measured != test.measured || mean.Measured != test.measured || math.Abs(all.Value-test.all) > 1e-15 || math.Abs(mean.Value-test.mean) > 1e-15 {
				t.Errorf("%s, batches of %d: accuracy %+v, mean over classes %+v", name, batch, all, mean)
			}
		}
	}
}

// listing is a taker that keeps all it is given.
type listing struct {
	logits  []float32
	classes []int // -1 where unknown
	err     error // after the first batch
}

func (l *listing) Take(o measure.Batch) error {
	l.logits = append(l.logits, o.Logits...)
	for row := range o.Labels.Len() {
		class, known := o.Labels.At(row)
		if !known {
			class = -1
		}
		l.classes = append(l.classes, class)
	}
	return l.err
}

// Every taker is given every row once, in order, with logits and label.
func TestTakersAreGivenTheRowsInOrder(t *testing.T) {
	rows := sevenRows(t, 6)
	everyThree := evaluator{logitsOf(fixed{3}), 3, torch.CPU}
	first, second := &listing{}, &listing{}
	must.Do(t, everyThree.evaluate(t.Context(), rows, first, second))
	want := []int{0, 1, 2, 2, 1, 1, -1}
	for _, l := range []*listing{first, second} {
		if !slices.Equal(l.classes, want) {
			t.Errorf("classes %v, want %v", l.classes, want)
		}
		for i, predicted := range []int{0, 1, 2, 1, 1, 0, 2} {
			if l.logits[3*i+predicted] != 1 {
				t.Errorf("row %d: logits %v", i, l.logits[3*i:3*i+3])
			}
		}
	}
	failing := &listing{err: errors.New("no space")}
	after := &listing{}
	if err := everyThree.evaluate(t.Context(), rows, failing, after); !errors.Is(err, failing.err) || len(failing.classes) != 3 || len(after.classes) != 0 {
		t.Errorf("error %v after %d rows", err, len(failing.classes))
	}
}

package boosting

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"iwda/internal/evenly"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/learners"
)

func random() *rand.PCG { return rand.NewPCG(1, 2) }

// grown is a model with what those of parts of its rows say of the others.
type grown struct {
	Model
	learners.Crossed
}

func fit(t *testing.T, rows learners.Rows, others []float32, s Settings) grown {
	t.Helper()
	fitted := must.Have(s.Fit(t.Context(), rows, others, max(1, s.threads), random()))(t)
	m := fitted.Model.(Model)
	must.Have(m.Check(rows.Columns()))(t)
	return grown{m, fitted.Crossed}
}

// alone are settings without folds.
func alone(rounds int) Settings {
	s := Usual()
	s.Rounds, s.Folds = rounds, 0
	return s
}

// loss is the mean cross-entropy of logits (n×k).
func loss(logits []float64, labels []int, k int) (sum float64) {
	for i, y := range labels {
		sum += crossEntropy(logits[i*k:(i+1)*k], y)
	}
	return sum / float64(len(labels))
}

// drawn are rows of numbers, some of them missing, and of a word in three columns, in k classes.
func drawn(n, k int, seed uint64) learners.Rows {
	random := rand.New(rand.NewPCG(seed, 7))
	rows := learners.Rows{Classes: k, Words: [][]int{{2, 3, 4}}}
	for range n {
		a, b, level := random.NormFloat64(), random.NormFloat64(), random.IntN(4)
		row := []float32{float32(a), float32(b), 0, 0, 0}
		if level < 3 {
			row[2+level] = 1
		}
		y := int(math.Abs(a*b*2)) + level%2
		if random.IntN(5) == 0 {
			row[0] = float32(math.NaN())
		}
		rows.Values, rows.Labels = append(rows.Values, row...), append(rows.Labels, y%k)
	}
	return rows
}

// Small tables are learnt as well as by scikit-learn's HistGradientBoostingClassifier with as many
// rounds, leaves and rows a leaf: its log-loss is stored beside them.
func TestAsGoodAsScikitLearn(t *testing.T) {
	text := testfiles.Read(t, filepath.Join("testdata", "sklearn.json"))
	var want map[string]float64
	if err := json.Unmarshal(text, &want); err != nil || len(want) != 4 {
		t.Fatal(want, err)
	}
	for name, theirs := range want {
		learnt, held := halves(t, name)
		logits := fit(t, learnt, nil, alone(100)).Model.Logits(held.Values, held.Columns(), 1)
		if ours := loss(logits, held.Labels, held.Classes); ours > 1.01*theirs || ours < 0.5*theirs {
			t.Errorf("%s: log-loss %.4f, scikit-learn's is %.4f", name, ours, theirs)
		}
	}
}

// halves are the even and the odd rows of a table.
func halves(t *testing.T, name string) (even, odd learners.Rows) {
	t.Helper()
	text := testfiles.Read(t, filepath.Join("testdata", name+".csv"))
	both := []*learners.Rows{&even, &odd}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		cells, of := strings.Split(line, ","), both[i%2]
		for _, cell := range cells[:len(cells)-1] {
			v := must.Have(strconv.ParseFloat(cell, 32))(t)
			of.Values = append(of.Values, float32(v))
		}
		y := must.Have(strconv.Atoi(cells[len(cells)-1]))(t)
		of.Labels = append(of.Labels, y)
		even.Classes = max(even.Classes, y+1)
	}
	odd.Classes = even.Classes
	return even, odd
}

// Threads change no bit, of two classes or more, of folds or none.
func TestSameBitsAtAnyThreads(t *testing.T) {
	for _, k := range []int{2, 3} {
		for _, folds := range []int{0, 3} {
			rows, s := drawn(1500, k, 3), Usual()
			others := drawn(50, k, 4).Values
			s.Rounds, s.Folds = 12, folds
			one := fit(t, rows, others, s)
			s.threads = 8
			eight := fit(t, rows, others, s)
			if !slices.Equal(one.Nodes, eight.Nodes) || !slices.Equal(one.Crossed.Logits, eight.Crossed.Logits) {
				t.Errorf("%d classes, %d folds: other trees or logits with 8 threads", k, folds)
			}
			if !slices.Equal(one.Model.Logits(rows.Values, 5, 1), eight.Model.Logits(rows.Values, 5, 8)) {
				t.Errorf("%d classes, %d folds: other logits with 8 threads", k, folds)
			}
			for fold := range one.Crossed.Others {
				if !slices.Equal(one.Crossed.Others[fold], eight.Crossed.Others[fold]) {
					t.Errorf("%d classes, fold %d: other logits of other rows with 8 threads", k, fold)
				}
			}
		}
	}
}

// What the trees say while they grow is what the model says: values are in the same bins as they are on
// the same side of thresholds, missing ones and words too.
func TestModelSaysWhatWasLearnt(t *testing.T) {
	for _, k := range []int{2, 4} {
		rows := drawn(900, k, 5)
		s := Usual()
		s.Rounds, s.Patience = 8, 8
		fitted := fit(t, rows, rows.Values, s)
		fold := learners.Folds(rows, s.Folds)
		for i := range rows.Labels {
			crossed, other := fitted.Crossed.Logits[i*k:(i+1)*k], fitted.Crossed.Others[fold[i]][i*k:(i+1)*k]
			for y := range crossed {
				if math.Abs(crossed[y]-other[y]) > 1e-5 {
					t.Fatalf("row %d, class %d: %v while growing, %v by the model", i, y, crossed[y], other[y])
				}
			}
		}
	}
}

// Missing values go where they gain: here whether a value is missing is all that there is to know.
func TestMissingValuesAreLearntFrom(t *testing.T) {
	random := rand.New(random())
	rows := learners.Rows{Classes: 2}
	for i := range 400 {
		v, y := float32(random.NormFloat64()), i%2
		if y == 1 {
			v = float32(math.NaN())
		}
		rows.Values, rows.Labels = append(rows.Values, v), append(rows.Labels, y)
	}
	logits := fit(t, rows, nil, alone(30)).Model.Logits([]float32{float32(math.NaN()), -100, 0, 100}, 1, 1)
	if logits[1] < 2 || logits[3] > -2 || logits[5] > -2 || logits[7] > -2 {
		t.Errorf("logits of a missing value and of three others: %v", logits)
	}
	// Without one among the rows learnt from, it goes where most rows go.
	for i := range rows.Values {
		rows.Values[i] = float32(i)
		rows.Labels[i] = map[bool]int{true: 1}[i >= 300]
	}
	logits = fit(t, rows, nil, alone(30)).Model.Logits([]float32{float32(math.NaN()), 0}, 1, 1)
	if logits[1] != logits[3] {
		t.Errorf("a missing value has the logit %v, most rows %v", logits[1], logits[3])
	}
}

// A set of levels is one split: a tree of two leaves tells them apart, where levels apart would need
// many trees. Levels of few rows, and none of the levels, go with the rest.
func TestWordsAreSplitIntoSets(t *testing.T) {
	const levels = 12
	columns := make([]int, levels)
	for level := range columns {
		columns[level] = level
	}
	rows := learners.Rows{Classes: 2, Words: [][]int{columns}}
	inSet := func(level int) int { return map[bool]int{true: 1}[level%3 == 0] }
	for i := range 1200 {
		row, level := make([]float32, levels), i%(levels-1) // the last one never comes
		row[level] = 1
		rows.Values, rows.Labels = append(rows.Values, row...), append(rows.Labels, inSet(level))
	}
	s := alone(1)
	s.Leaves, s.Rate, s.L2 = 2, 1, 0
	fitted := fit(t, rows, nil, s)
	if ours := loss(fitted.Model.Logits(rows.Values, levels, 1), rows.Labels, 2); ours > 0.2 {
		t.Errorf("one split leaves the loss %v\n%v", ours, fitted.Nodes)
	}
	unknown, last := make([]float32, levels), make([]float32, levels)
	last[levels-1] = 1
	if said := fitted.Model.Logits(slices.Concat(unknown, last), levels, 1); said[1] != said[3] || said[1] > 0 {
		t.Errorf("a row without a level has the logit %v, one with a level that never came %v", said[1], said[3])
	}
	rows.Words = nil
	if apart := loss(fit(t, rows, nil, s).Model.Logits(rows.Values, levels, 1), rows.Labels, 2); apart < 0.4 {
		t.Errorf("columns apart have the loss %v after one split", apart)
	}
}

// Labels that are noise are not learnt: folds stop the rounds, and held-out rows have the loss of the
// class shares, even if rows of a group are the same. Rows in groups of their own would be known.
func TestRoundsStopWhereNothingIsLearnt(t *testing.T) {
	random := rand.New(random())
	rows := learners.Rows{Classes: 2}
	for group := range 100 {
		a, b, y := float32(random.NormFloat64()), float32(random.NormFloat64()), random.IntN(2)
		for range 6 {
			rows.Values, rows.Labels, rows.Groups = append(rows.Values, a, b), append(rows.Labels, y), append(rows.Groups, group)
		}
	}
	s := Usual()
	s.LeastRows = 3
	together := fit(t, rows, nil, s)
	if of := loss(together.Crossed.Logits, evenly.Pick(rows.Labels, together.Crossed.Rows), 2); of > 0.75 || together.Trees > 10 {
		t.Errorf("%d rounds, loss of held-out rows %v", together.Trees, of)
	}
	rows.Groups = nil
	if apart := fit(t, rows, nil, s); loss(apart.Crossed.Logits, evenly.Pick(rows.Labels, apart.Crossed.Rows), 2) > 0.3 || apart.Trees < 50 {
		t.Errorf("without groups: %d rounds, loss %v", apart.Trees, loss(apart.Crossed.Logits, evenly.Pick(rows.Labels, apart.Crossed.Rows), 2))
	}
}

func TestErrors(t *testing.T) {
	rows := drawn(100, 2, 8)
	for want, change := range map[string]func(*learners.Rows, *Settings){
		"row 3, column 1: the value is +Inf; make it finite, or NaN": func(r *learners.Rows, _ *Settings) { r.Values[16] = float32(math.Inf(1)) },
		"2049 classes, more than the 2048":                           func(r *learners.Rows, _ *Settings) { r.Classes = 2049 },
		"all 100 rows are of one group, so none can":                 func(r *learners.Rows, _ *Settings) { r.Groups = make([]int, 100) },
	} {
		changed, s := rows, Usual()
		changed.Values = slices.Clone(rows.Values)
		change(&changed, &s)
		must.Refuse(s.Fit(t.Context(), changed, nil, 1, random()))(t, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Usual().Fit(ctx, rows, nil, 1, random()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A model of rows that cannot be told apart, or of a class that no row has.
func TestLittleToLearnFrom(t *testing.T) {
	rows := learners.Rows{Values: make([]float32, 40), Labels: make([]int, 40), Classes: 3}
	for i := range 10 {
		rows.Labels[i] = 1
	}
	fitted := fit(t, rows, []float32{1}, Usual())
	p := fitted.Model.Logits([]float32{0}, 1, 1)
	if p[0] < p[1] || p[1] < p[2] || math.IsInf(p[2], 0) || len(fitted.Crossed.InTurn(3)) != 3 {
		t.Errorf("logits %v, %+v", p, fitted.Crossed)
	}
}

// Bins of few values end between any two of them; of many they have equal shares of the rows.
func TestBorders(t *testing.T) {
	if got := borders([]float32{-3, -1, -1, 0, 4}, 10); !slices.Equal(got, []float32{-2, -0.5, 2}) {
		t.Errorf("few values: %v", got)
	}
	var many []float32
	for i := range 1000 {
		many = append(many, float32(i*i))
	}
	got := borders(many, 9)
	if len(got) != 9 {
		t.Fatalf("many values: %v", got)
	}
	for i, border := range got {
		if below := math.Sqrt(float64(border)); math.Abs(below-100*float64(i+1)) > 1 {
			t.Errorf("border %d is above %v values, want %d", i, below, 100*(i+1))
		}
	}
}

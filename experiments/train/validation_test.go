package train

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/domains"
	"iwda/experiments/measure"
	savedmodel "iwda/experiments/model"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/torch"
)

// heldOutOf opens the data of a run and returns them with the rows of its source that are
// held out.
func heldOutOf(t *testing.T, labels datasets.Labels) []int {
	t.Helper()
	run := ownRun(t, "iwdan", nil, "train.validation=0.3", "network.normalise=standard")
	_, held := must.Both(domains.HoldOut("source", labels, nil, nil, []string{"cat", "cow", "dog"}, run))(t)
	return held
}

// Rows that are held out are in neither training nor statistics nor normalisation:
// whatever they are, the network has the same bits, and their accuracy alone changes.
func TestHeldOutRowsAreNotTrainedOn(t *testing.T) {
	set := []string{"train.validation=0.3", "network.normalise=standard", "train.epochs=12"}
	run := ownRun(t, "iwcdan", nil, set...)
	dir, result := train(t, run)
	var labels datasets.Labels
	for row := range 150 {
		labels.Add(row%3, true)
	}
	held := heldOutOf(t, labels)
	if counts := labels.Subset(held).Counts(3); !slices.Equal(counts, []int{15, 15, 15}) {
		t.Fatalf("%v rows of each class are held out", counts)
	}

	other := ownRun(t, "iwcdan", nil, set...)
	path := filepath.Join(other.Dataset.Root, "source.csv")
	text := testfiles.Read(t, path)
	lines := strings.Split(string(text), "\n")
	for _, row := range held {
		values, label, _ := strings.Cut(lines[1+row], ",")
		_, label, _ = strings.Cut(label, ",")
		lines[1+row] = "1000,-" + strings.TrimPrefix(values, "-") + "," + label
	}
	testfiles.Write(t, path, strings.Join(lines, "\n"))
	otherDir, otherResult := train(t, other)
	sameTraining(t, "other rows held out", outcomeOf(t, dir), outcomeOf(t, otherDir))
	a, b := result.WithoutLabels.Validation, otherResult.WithoutLabels.Validation
	if a.Rows != 45 || a.Accuracy < 0.9 || b.Accuracy > 0.6 || a.Loss >= b.Loss {
		t.Errorf("on held-out rows: %+v, on others %+v", a, b)
	}

	metrics := metricsOf(t, dir)
	if last := metrics[len(metrics)-1]; last.ValidationAccuracy.Value != a.Accuracy || last.ValidationLoss.Value != a.Loss || !last.Certainty.Measured {
		t.Errorf("the last evaluation is %+v, the result %+v", last, a)
	}
	// The mean cross-entropy of an untrained network is about that of guessing.
	if first := metrics[0].ValidationLoss.Value; math.Abs(first-math.Log(3)) > 0.5 {
		t.Errorf("the loss of the untrained network is %v", first)
	}
}

// Each domain is normalised with its own training rows' statistics, which go into the
// model, and an interrupted run comes to the same bits.
func TestNormalisedRun(t *testing.T) {
	for way, settings := range map[string][]string{
		"standard": {"network.normalise=standard"},
		"matched":  {"network.normalise=matched"},
		"clipped":  {"network.normalise=matched", "network.clip=2"},
		"source":   {"network.normalise=source", "network.clip=2"},
	} {
		run := ownRun(t, "iwdan", trueLabel, append(settings, "train.validation=0.2")...)
		if way == "clipped" {
			file := filepath.Join(run.Dataset.Root, "target.csv")
			rows := testfiles.Read(t, file)
			testfiles.Write(t, file, string(append(rows, "1e9,-1e12,dog\n"...)))
		}
		dir, result := train(t, run)
		pieces, n := finishInPieces(t, run, 23, Options{Threads: 1})
		if diff := outcomeOf(t, dir).diff(outcomeOf(t, pieces)); diff != "" || n < 2 {
			t.Errorf("%s: in %d pieces: %s", way, n, diff)
		}
		d := opened(t, run)
		defer d.close()
		m := must.Have(savedmodel.Trust{}.Open(dir.String()))(t)
		raw := must.Have(domains.Load(run))(t)
		defer raw.Close()
		row, want := make([]float32, 2), make([]float32, 2)
		for i := range raw.Target.Len() {
			raw.Target.CopyRow(row, i)
			m.Normalise(row)
			d.onTest.(inMemory).set.CopyRow(want, i)
			if !slices.Equal(row, want) {
				t.Fatalf("%s: row %d of the target is %v to the model, %v in the run", way, i, row, want)
			}
		}
		if s := m.Normalisation.Target; way == "clipped" && (s.Low == nil || s.Deviation[1] > 10 || result.LastAccuracy.Value < 0.9) {
			t.Errorf("one wild row: %+v, accuracy %v", *s, result.LastAccuracy.Value)
		}
		if source := d.onSource.(inMemory).set; way == "matched" || way == "clipped" {
			// Equal shares in the source, three in five dogs in the target: with the means of their
			// own, the classes of both would lie apart.
			for class, mean := range classMeans(source, 3) {
				for j, v := range classMeans(d.onTest.(inMemory).set, 3)[class] {
					if math.Abs(v-mean[j]) > 0.1 {
						t.Errorf("class %d, column %d: mean %v in the target, %v in the source", class, j, v, mean[j])
					}
				}
			}
		}
		for name, rows := range map[string]rowReader{"source": d.onSource, "target": d.onTest} {
			set := rows.(inMemory).set
			if s := normalise.StatisticsOf(set); way == "standard" && (math.Abs(float64(s.Mean[0])) > 1e-5 || math.Abs(float64(s.Deviation[1])-1) > 1e-5) {
				t.Errorf("%s: mean %v, deviation %v", name, s.Mean, s.Deviation)
			}
			if s := normalise.StatisticsOf(set); way == "shared" && (math.Abs(float64(s.Mean[0])) > 1e-4 || math.Abs(math.Hypot(float64(s.Deviation[0]), float64(s.Deviation[1]))-math.Sqrt2) > 1e-4) {
				t.Errorf("%s: mean %v, deviation %v", name, s.Mean, s.Deviation)
			}
		}
		counts := measure.NewConfusion(3)
		must.Do(t, (evaluator{logitsOf(networkOf(t, m)), 50, torch.CPU}).evaluate(t.Context(), d.onTest, counts))
		if !equalConfusion(counts, result.Confusion) {
			t.Errorf("%s: the model confuses %v, the run %v", way, counts, result.Confusion)
		}
	}
}

func TestHoldingOutNeedsTwoRowsOfAClass(t *testing.T) {
	run := ownRun(t, "iwdan", nil, "train.validation=0.3")
	path := filepath.Join(run.Dataset.Root, "source.csv")
	text := testfiles.Read(t, path)
	testfiles.Write(t, path, string(append(text, "1,2,eel\n"...)))
	must.Refuse(openData(run))(t, `source.csv: one row of class "eel"; with train.validation it takes two`)
}

// classMeans are the means of the columns by class of a set whose labels are known.
func classMeans(set datasets.Set, classes int) [][]float64 {
	row, counts := make([]float32, datasets.Size(set.Shape())), datasets.LabelsOf(set).Counts(classes)
	means := make([][]float64, classes)
	for class := range means {
		means[class] = make([]float64, len(row))
	}
	for i := range set.Len() {
		class, _ := set.Label(i)
		set.CopyRow(row, i)
		for j, v := range row {
			means[class][j] += float64(v) / float64(counts[class])
		}
	}
	return means
}

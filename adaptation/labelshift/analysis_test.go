package labelshift

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets/table"
	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/weightest"
)

// three are three classes of which the target has other shares.
var three = gaussians.Problem{Separation: []float64{2, 2, 2}, Source: []float64{0.5, 0.3, 0.2}, Target: []float64{0.15, 0.25, 0.6}}

// equal are the shares that a balanced loss stands for.
var equal = []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}

var animals = []string{"cat", "dog", "owl"}

// unlabelled stands for a label that is not known.
const unlabelled = -1

// writeRows writes a CSV file of probabilities, with labels where there are any.
func writeRows(t testing.TB, path string, classes []string, probabilities []float64, labels []int) string {
	t.Helper()
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	var heads []string
	for _, class := range classes {
		heads = append(heads, "probability_"+class)
	}
	if labels != nil {
		heads = append(heads, "label")
	}
	_ = w.Write(append(heads, "id"))
	k := len(classes)
	for i := range len(probabilities) / k {
		var line []string
		for _, p := range probabilities[i*k : (i+1)*k] {
			line = append(line, fmt.Sprint(p))
		}
		if labels != nil && labels[i] == unlabelled {
			line = append(line, "")
		} else if labels != nil {
			line = append(line, classes[labels[i]])
		}
		_ = w.Write(append(line, fmt.Sprintf("row-%d", i)))
	}
	w.Flush()
	testfiles.Write(t, path, text.String())
	return path
}

// drawn writes n source and m target rows of the problem and returns the files.
func drawn(t testing.TB, p gaussians.Problem, n, m int) (source, target string) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	folder := t.TempDir()
	probabilities, labels := p.SourceRows(n, random)
	source = writeRows(t, filepath.Join(folder, "s.csv"), animals, probabilities, labels)
	return source, writeRows(t, filepath.Join(folder, "t.csv"), animals, p.TargetRows(m, random), nil)
}

func read(t testing.TB, sourcePath, targetPath string) (source, target *Predictions) {
	t.Helper()
	source = must.Have(ReadSource(sourcePath, table.Options{}))(t)
	target = must.Have(ReadTarget(targetPath, table.Options{}, source))(t)
	return source, target
}

// Columns in another order than the classes are an error, as far as labels show it: two that are swapped
// are, and predictions that are all of one class, or right by chance, are none.
func TestOrderOfColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	probabilities, labels := three.SourceRows(1000, random)
	swapped := slices.Clone(probabilities)
	for i := range labels {
		swapped[3*i], swapped[3*i+2] = swapped[3*i+2], swapped[3*i]
	}
	constant := slices.Repeat([]float64{0.2, 0.5, 0.3}, len(labels))
	chance := make([]int, len(labels))
	for i := range chance {
		chance[i] = random.IntN(3)
	}
	for name, c := range map[string]struct {
		values []float64
		labels []int
		want   string
	}{
		"right": {probabilities, labels, ""}, "constant": {constant, labels, ""}, "chance": {probabilities, chance, ""},
		"swapped": {swapped, labels, `most rows predicted as "` + animals[0] + `" are labelled "` + animals[2] + `"`},
	} {
		_, err := ReadSource(writeRows(t, filepath.Join(t.TempDir(), "s.csv"), animals, c.values, c.labels), table.Options{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// Every estimator with intervals and without finds the shares, and its intervals hold
// the estimate.
func TestSharesAreFound(t *testing.T) {
	source, target := read2(t, three, 4000, 4000)
	for _, estimator := range []string{"mlls", "bbse-soft", "bbse-hard", "qp"} {
		for _, replicas := range []int{0, 100} {
			s := Default()
			s.Estimator, s.Replicas = estimator, replicas
			a := analyse(t, source, target, s)
			if d := floats.Distance(a.Estimate.TargetDistribution, three.Target, 1); !(d < 0.06) {
				t.Errorf("%s: shares %.3f, want %.3f", estimator, a.Estimate.TargetDistribution, three.Target)
			}
			if a.Tests.LabelShift.Rejected() || a.Tests.ChiSquared.P > 0.001 {
				t.Errorf("%s; χ² says p = %v", a.Tests.LabelShift.Verdict(), a.Tests.ChiSquared.P)
			}
			if (a.Uncertainty == nil) != (replicas == 0) {
				t.Fatalf("%s, %d replicas: intervals %v, notes %q", estimator, replicas, a.Uncertainty, a.Notes)
			}
			if a.Uncertainty == nil {
				continue
			}
			for class, interval := range a.Uncertainty.Shares.Each {
				if q := three.Target[class]; !(interval.Low-0.01 < q && q < interval.High+0.01 && interval.High-interval.Low < 0.1) {
					t.Errorf("%s: class %d in %v, want %v", estimator, class, interval, q)
				}
			}
		}
	}
}

// The calibration that is named is the one that was fitted: none where one has no optimum.
func TestCalibrationThatWasFitted(t *testing.T) {
	source, target := allRight(t)
	for _, asked := range []string{"ts", "bcts", "nbvs", "vs"} {
		s := withoutIntervals()
		s.Calibration = asked
		a, err := Analyse(source, target, s)
		if err != nil || a.Calibration == asked || !strings.Contains(strings.Join(a.Notes, " "), "Calibration: "+asked+" has no optimum") {
			t.Errorf("%s for %s: %q, %v", a.Calibration, asked, a.Notes, err)
		}
	}
}

// allRight returns predictions whose held-out rows are all right: no calibration but those with
// a penalty has an optimum.
func allRight(t *testing.T) (source, target *Predictions) {
	t.Helper()
	source, target = read2(t, three, 300, 300)
	for i, row := range slices.Collect(slices.Chunk(source.values, 3)) {
		for class := range row {
			row[class] = 0.01
		}
		row[source.labels[i]] = 0.98
	}
	return source, target
}

// A target that has other rows than when it was analysed has no corrected predictions.
func TestCorrectedOfAChangedTarget(t *testing.T) {
	sourcePath, targetPath := drawn(t, three, 300, 200)
	source, target := read(t, sourcePath, targetPath)
	a := analyse(t, source, target, withoutIntervals())
	written := filepath.Join(t.TempDir(), "corrected.csv")
	must.Do(t, a.WriteCorrected(written))
	whole := testfiles.Read(t, targetPath)
	fewer := whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1]
	for _, changed := range [][]byte{append(bytes.Clone(whole), whole[len(fewer):]...), fewer} {
		testfiles.Write(t, targetPath, string(changed))
		if err := a.WriteCorrected(written); err == nil || !strings.Contains(err.Error(), "200 rows") {
			t.Errorf("%d bytes in the place of %d: %v", len(changed), len(whole), err)
		}
	}
}

// Decisions in the place of probabilities are told, and which estimator is for them.
func TestDecisionsAreNoProbabilities(t *testing.T) {
	source, target := read2(t, three, 300, 300)
	noted := func(estimator string) bool {
		s := withoutIntervals()
		s.Estimator = estimator
		a := analyse(t, source, target, s)
		return strings.Contains(strings.Join(a.Notes, " "), "--estimator bbse-hard")
	}
	if noted("mlls") {
		t.Error("probabilities are taken for decisions")
	}
	for _, p := range []*Predictions{source, target} {
		for row := range slices.Chunk(p.values[6:], 3) { // all but two rows
			largest := slices.Index(row, slices.Max(row))
			clear(row)
			row[largest] = 1 - 1e-7
		}
	}
	if !noted("mlls") || noted("bbse-hard") {
		t.Errorf("decisions: %v with mlls, %v with bbse-hard", noted("mlls"), noted("bbse-hard"))
	}
}

// Sums that are kept take memory, and if a calibration is fitted to each resample they are not.
func TestReplicasThatFit(t *testing.T) {
	for _, c := range []struct {
		replicas, classes int
		form              string
		fit               bool
	}{{500, 422, "none", true}, {500, 500, "none", false}, {500, 500, "bcts-ridge", true}, {1 << 30, 3, "ts", false}} {
		if err := checkReplicas(c.replicas, c.classes, c.form); (err == nil) != c.fit {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Classes that are too many for systems of as many equations have shares, and notes say what is not known of them.
func TestManyClasses(t *testing.T) {
	const k = weightest.MostDense + 10
	random := rand.New(rand.NewPCG(3, 4))
	draw := func(rows int) *Predictions {
		p := &Predictions{Name: "rows", Classes: make([]string, k), Kind: table.Probabilities}
		for class := range k {
			p.Classes[class] = fmt.Sprint("c", class)
		}
		for i := range rows {
			row, total := make([]float32, k), float32(0)
			for class := range row {
				row[class] = float32(math.Exp(random.NormFloat64()))
				if class == i%k {
					row[class] *= k
				}
				total += row[class]
			}
			for class := range row {
				row[class] /= total
			}
			p.values, p.labels = append(p.values, row...), append(p.labels, i%k)
		}
		return p
	}
	s := Default()
	a := analyse(t, draw(k), draw(k/2), s) // the target has the first half of the classes
	if first := floats.Sum(a.Estimate.TargetDistribution[:k/2]); first < 0.6 {
		t.Errorf("the classes that the target has have the share %v", first)
	}
	var written bytes.Buffer
	must.Do(t, a.Sheet().Write(&written, "json"))
	must.Do(t, a.Sheet().Write(&written, "md"))
	for _, want := range []string{"No intervals: resamples of more than 500 classes take hours.", "not computed of more than 500 classes", "a critic of 510 classes would take hours"} {
		if !strings.Contains(written.String(), want) {
			t.Errorf("nothing says %q", want)
		}
	}
}

// That some weights are at their bound does not hide that others explain the predictions as well.
func TestUndeterminedSharesWithAWarning(t *testing.T) {
	// Cats and dogs are always predicted alike, and the target has no row that may be an owl.
	probabilities, labels := three.SourceRows(2000, rand.New(rand.NewPCG(5, 6)))
	var targets []float64
	for i := range labels {
		row := probabilities[3*i : 3*i+3]
		row[0] = (row[0] + row[1]) / 2
		row[1] = row[0]
		if labels[i] != 2 && row[2] < 0.05 {
			targets = append(targets, row...)
		}
	}
	folder := t.TempDir()
	source, target := read(t,
		writeRows(t, filepath.Join(folder, "s.csv"), animals, probabilities, labels),
		writeRows(t, filepath.Join(folder, "t.csv"), animals, targets, nil))
	for _, estimator := range []string{"bbse-soft", "bbse-hard"} {
		s := withoutIntervals()
		s.Estimator, s.Calibration = estimator, "ts"
		a := analyse(t, source, target, s)
		notes := strings.Join(a.Notes, "\n")
		if a.Estimate.Warning == "" || !strings.Contains(notes, a.Estimate.Warning) || !strings.Contains(notes, "do not determine the class shares") {
			t.Errorf("%s: %q, warning %q", estimator, a.Notes, a.Estimate.Warning)
		}
	}
}

func read2(t testing.TB, p gaussians.Problem, n, m int) (source, target *Predictions) {
	t.Helper()
	sourcePath, targetPath := drawn(t, p, n, m)
	return read(t, sourcePath, targetPath)
}

// Rotated features are no label shift, and the verdict says so.
func TestRotationIsNoLabelShift(t *testing.T) {
	rotated := three
	rotated.Rotation = 1
	source, target := read2(t, rotated, 2000, 2000)
	a := analyse(t, source, target, withoutIntervals())
	if title := a.Sheet().Sections[0].Title; !a.Tests.LabelShift.Rejected() || !strings.Contains(title, "More than the class shares changed") {
		t.Error(title)
	}
}

func withoutIntervals() Settings {
	s := Default()
	s.Replicas = 0
	return s
}

// The probabilities of a classifier trained on equal shares give, once its shares are
// told, what those of one trained on the source's give. Logits say the same.
func TestTrainShares(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	probabilities, labels := three.SourceRows(4000, random)
	targets := three.TargetRows(4000, random)
	balanced := func(rows []float64) []float64 {
		rows = must.Have(weightest.Correct(rows, equal, three.Source))(t)
		return rows
	}
	folder := t.TempDir()
	source, target := read(t,
		writeRows(t, filepath.Join(folder, "s.csv"), animals, balanced(probabilities), labels),
		writeRows(t, filepath.Join(folder, "t.csv"), animals, balanced(targets), nil))
	logits := func(p Predictions) *Predictions {
		p.Kind, p.values = table.Logits, slices.Clone(p.values)
		for i, v := range p.values {
			p.values[i] = float32(math.Log(float64(v))) + 3
		}
		return &p
	}
	for _, kind := range []string{"probabilities", "logits"} {
		if kind == "logits" {
			source, target = logits(*source), logits(*target)
		}
		for _, calibration := range []string{"none", "ts", "bcts"} {
			s := withoutIntervals()
			s.Calibration, s.TrainShares = calibration, equal
			told := analyse(t, source, target, s)
			if d := floats.Distance(told.Estimate.TargetDistribution, three.Target, 1); !(d < 0.06) {
				t.Errorf("%s, %s: shares %.3f", kind, calibration, told.Estimate.TargetDistribution)
			}
			s.TrainShares = nil
			untold := analyse(t, source, target, s)
			// Biases find out on their own what the others have to be told.
			apart := floats.Distance(untold.Estimate.TargetDistribution, told.Estimate.TargetDistribution, 1)
			if want := calibration == "bcts"; apart < 1e-6 != want {
				t.Errorf("%s, %s: told or not, shares are %v apart", kind, calibration, apart)
			}
			// Corrected probabilities are those of a classifier that knows the target.
			if a := told.Known.Cases[0]; a.Accuracy.Value != nil || a.Missing != "no intervals were asked for" {
				t.Errorf("%s, %s: %+v", kind, calibration, a)
			}
		}
	}
}

func analyse(t testing.TB, source, target *Predictions, s Settings) *Analysis {
	t.Helper()
	return must.Have(Analyse(source, target, s))(t)
}

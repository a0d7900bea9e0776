package labelshift

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"

	"iwda/datasets/table"
	"iwda/experiments/report/sheet"
	"iwda/internal/gaussians"
	"iwda/weightest"
)

// three are three classes of which the target has other shares.
var three = gaussians.Problem{Separation: []float64{2, 2, 2}, Source: []float64{0.5, 0.3, 0.2}, Target: []float64{0.15, 0.25, 0.6}}

// equal are the shares that a balanced loss stands for.
var equal = []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}

var animals = []string{"cat", "dog", "owl"}

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
		if labels != nil {
			line = append(line, classes[labels[i]])
		}
		_ = w.Write(append(line, fmt.Sprintf("row-%d", i)))
	}
	w.Flush()
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
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
	source, err := ReadSource(sourcePath, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target, err = ReadTarget(targetPath, table.Options{}, source)
	if err != nil {
		t.Fatal(err)
	}
	return source, target
}

// Every estimator with intervals of every kind finds the shares, and its intervals hold
// the estimate.
func TestSharesAreFound(t *testing.T) {
	source, target := read2(t, three, 4000, 4000)
	for _, estimator := range []string{"mlls", "bbse-soft", "bbse-hard", "rlls-soft", "pacc", "qp"} {
		for _, intervals := range IntervalNames() {
			if intervals == FisherIntervals && estimator != "mlls" {
				continue
			}
			s := Default()
			s.Estimator, s.Intervals, s.Replicas = estimator, intervals, 100
			a, err := Analyse(source, target, s)
			if err != nil {
				t.Fatal(err)
			}
			if d := floats.Distance(a.Estimate.TargetDistribution, three.Target, 1); !(d < 0.06) {
				t.Errorf("%s: shares %.3f, want %.3f", estimator, a.Estimate.TargetDistribution, three.Target)
			}
			if !a.Tests.LabelShift.Explained() || a.Tests.ChiSquared.P > 0.001 {
				t.Errorf("%s; χ² says p = %v", a.Tests.Verdict(), a.Tests.ChiSquared.P)
			}
			if (a.Uncertainty == nil) != (intervals == NoIntervals) {
				t.Fatalf("%s, %s: intervals %v, notes %q", estimator, intervals, a.Uncertainty, a.Notes)
			}
			if a.Uncertainty == nil {
				continue
			}
			for class, interval := range a.Uncertainty.Shares.Each {
				if q := three.Target[class]; !(interval.Low-0.01 < q && q < interval.High+0.01 && interval.High-interval.Low < 0.1) {
					t.Errorf("%s, %s: class %d in %v, want %v", estimator, intervals, class, interval, q)
				}
			}
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
	a, err := Analyse(source, target, withoutIntervals())
	if err != nil {
		t.Fatal(err)
	}
	if title := a.Sheet().Sections[0].Title; a.Tests.LabelShift.Explained() || !strings.Contains(title, "does not explain") {
		t.Error(title)
	}
}

func withoutIntervals() Settings {
	s := Default()
	s.Intervals = NoIntervals
	return s
}

// The probabilities of a classifier trained on equal shares give, once its shares are
// told, what those of one trained on the source's give. Logits say the same.
func TestTrainShares(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	probabilities, labels := three.SourceRows(4000, random)
	targets := three.TargetRows(4000, random)
	balanced := func(rows []float64) []float64 {
		rows, err := weightest.Correct(rows, equal, three.Source)
		if err != nil {
			t.Fatal(err)
		}
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
			told, err := Analyse(source, target, s)
			if err != nil {
				t.Fatal(err)
			}
			if d := floats.Distance(told.Estimate.TargetDistribution, three.Target, 1); !(d < 0.06) {
				t.Errorf("%s, %s: shares %.3f", kind, calibration, told.Estimate.TargetDistribution)
			}
			s.TrainShares = nil
			untold, err := Analyse(source, target, s)
			if err != nil {
				t.Fatal(err)
			}
			// Biases find out on their own what the others have to be told.
			apart := floats.Distance(untold.Estimate.TargetDistribution, told.Estimate.TargetDistribution, 1)
			if want := calibration == "bcts"; apart < 1e-6 != want {
				t.Errorf("%s, %s: told or not, shares are %v apart", kind, calibration, apart)
			}
			// Corrected probabilities are those of a classifier that knows the target.
			if a := told.ExpectedAccuracy; !(a > told.Uncorrected && a < 1) {
				t.Errorf("%s, %s: expected accuracy %v after %v", kind, calibration, a, told.Uncorrected)
			}
		}
	}
}

// Parts that count the rows between them in any order give, bit for bit, what one part of
// all rows gives, through files too, and the intervals of rows.
func TestPartsMergeToTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	probabilities, labels := three.SourceRows(900, random)
	targets := three.TargetRows(1000, random)
	folder := t.TempDir()
	settings := PartSettings{Replicas: 40, Seed: 9}
	count := func(name string, from, to, targetTo int) *Part {
		settings.FirstRow = uint64(from)
		p, err := Count(
			writeRows(t, filepath.Join(folder, "s"+name+".csv"), animals, probabilities[3*from:3*to], labels[from:to]),
			writeRows(t, filepath.Join(folder, "t"+name+".csv"), animals, targets[3*from:3*targetTo], nil), table.Options{}, settings)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := count("whole", 0, 900, 1000)
	parts := []*Part{count("c", 600, 900, 1000), count("a", 0, 250, 250), count("b", 250, 600, 600)}
	for i, p := range parts {
		path := filepath.Join(folder, "sums")
		if err := p.Write(path); err != nil {
			t.Fatal(err)
		}
		again, err := ReadPart(path)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			parts[0] = again
			continue
		}
		if err := parts[0].Merge(again); err != nil {
			t.Fatal(err)
		}
	}
	merged := parts[0]
	if diff := cmp.Diff(whole.Sums.State(), merged.Sums.State()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(whole.Replicas.State(), merged.Replicas.State()); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(merged.Source, []Span{{0, 900}}) || !slices.Equal(merged.Target, []Span{{0, 1000}}) {
		t.Errorf("counted %v and %v", merged.Source, merged.Target)
	}
	s := Default()
	s.Estimator, s.Calibration, s.Replicas, s.Seed = "bbse-soft", "none", 40, 9
	fromSums, err := merged.Analyse("sums", s)
	if err != nil {
		t.Fatal(err)
	}
	source, target := read(t, filepath.Join(folder, "swhole.csv"), filepath.Join(folder, "twhole.csv"))
	fromRows, err := Analyse(source, target, s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromRows.Uncertainty, fromSums.Uncertainty); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(fromRows.Estimate, fromSums.Estimate); diff != "" {
		t.Error(diff)
	}
	if err := merged.Merge(count("again", 500, 600, 700)); err == nil || !strings.Contains(err.Error(), "source row 500") {
		t.Errorf("rows that were counted already: %v", err)
	}
}

// A source and a target that different parts count, the latter without names of classes.
func TestPartsOfOneDomain(t *testing.T) {
	source, target := drawn(t, three, 300, 300)
	p, err := Count(source, "", table.Options{}, PartSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Analyse("half", sumsSettings()); !errors.Is(err, weightest.ErrNoStatistics) {
		t.Errorf("without a target: %v", err)
	}
	other, err := Count("", target, table.Options{}, PartSettings{FirstRow: 5})
	if err != nil {
		t.Fatal(err)
	}
	other.Classes = nil
	if err := other.Merge(p); err != nil {
		t.Fatal(err)
	}
	a, err := other.Analyse("whole", sumsSettings())
	if err != nil || a.SourceRows != 300 || a.TargetRows != 300 || !slices.Equal(a.Classes, animals) {
		t.Errorf("%+v, %v", a, err)
	}
	if a.Uncertainty != nil || !strings.Contains(strings.Join(a.Notes, " "), "--intervals bayes") {
		t.Errorf("intervals without replicas: %v, %q", a.Uncertainty, a.Notes)
	}
	if _, err := Count("", "", table.Options{}, PartSettings{}); err == nil {
		t.Error("nothing to count is no error")
	}
	if _, err := Count(source, target, table.Options{}, PartSettings{Replicas: 1 << 30}); err == nil || !strings.Contains(err.Error(), "GB") {
		t.Errorf("replicas beyond memory: %v", err)
	}
}

func sumsSettings() Settings {
	s := Default()
	s.Estimator, s.Calibration = "pacc", "none"
	return s
}

// What reads rows cannot be had from sums, and the error says what can.
func TestSumsAreNoRows(t *testing.T) {
	source, target := drawn(t, three, 300, 300)
	p, err := Count(source, target, table.Options{}, PartSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Settings){
		"bbse-soft, rlls-hard, rlls-soft, cc": func(s *Settings) { s.Estimator = "mlls" },
		"calibrated by ts":                    func(s *Settings) { s.Calibration = "ts" },
		"shares in training":                  func(s *Settings) { s.TrainShares = equal },
		"no estimator":                        func(s *Settings) { s.Estimator = "bbse" },
	} {
		s := sumsSettings()
		change(&s)
		if _, err := p.Analyse("sums", s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A file of sums that is cut off, or in which any byte changed, is an error.
func TestBrokenParts(t *testing.T) {
	source, target := drawn(t, three, 30, 30)
	p, err := Count(source, target, table.Options{}, PartSettings{Replicas: 2})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sums")
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(whole); i += 7 {
		changed := slices.Clone(whole)
		changed[i] ^= 1
		for _, content := range [][]byte{whole[:i], changed} {
			if _, err := readPart(bytes.NewReader(content), int64(len(content))); err == nil {
				t.Fatalf("a file of %d of %d bytes, byte %d changed, is read", len(content), len(whole), i)
			}
		}
	}
}

func FuzzReadPart(f *testing.F) {
	source, target := drawn(f, three, 30, 30)
	p, err := Count(source, target, table.Options{}, PartSettings{Replicas: 1})
	if err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(f.TempDir(), "sums")
	if err := p.Write(path); err != nil {
		f.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(partMagic + `{"width":32768,"replicas":2147483647}` + "\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := readPart(bytes.NewReader(content), int64(len(content)))
		if err == nil && p.Sums.Classes() > len(content) {
			t.Errorf("%d classes in %d bytes", p.Sums.Classes(), len(content))
		}
	})
}

// All estimators after all calibrations agree on rows without extremes.
func TestCompare(t *testing.T) {
	source, target := read2(t, three, 2000, 2000)
	c, err := Compare(source, target, Default())
	if err != nil {
		t.Fatal(err)
	}
	if want := len(weightest.EstimatorNames()) * len(weightest.CalibrationNames()); len(c.Results) != want {
		t.Fatalf("%d results, want %d", len(c.Results), want)
	}
	for _, r := range c.Results {
		if r.Shares == nil {
			t.Errorf("%s, %s has no shares: %q", r.Estimator, r.Calibration, c.Notes)
		}
		counts := r.Estimator == "cc" || r.Estimator == "pcc" || r.Estimator == "qp-released"
		if !counts && !(r.Distance < 0.05) {
			t.Errorf("%s, %s: %.3f, %.3f away", r.Estimator, r.Calibration, r.Shares, r.Distance)
		}
		if own := r.Estimator == c.Estimator && r.Calibration == c.Calibration; own && r.Distance != 0 {
			t.Errorf("the estimate itself is %v away", r.Distance)
		}
	}
	s := c.Sheet()
	if len(s.Records.Rows) != 3*len(c.Results) || len(s.Sections[1].Rows) != len(c.Results) {
		t.Errorf("%d records, %d lines", len(s.Records.Rows), len(s.Sections[1].Rows))
	}
}

// Records have the numbers of the analysis.
func TestRecords(t *testing.T) {
	source, target := read2(t, three, 500, 500)
	s := Default()
	s.Replicas = 50
	a, err := Analyse(source, target, s)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := a.Sheet().Write(&text, sheet.CSV); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(records) != 4 {
		t.Fatalf("%v, %v", records, err)
	}
	number := func(class int, column string) (value float64) {
		if _, err := fmt.Sscan(records[class+1][slices.Index(records[0], column)], &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	for class := range animals {
		for column, want := range map[string]float64{
			"source_share":            a.SourceShares[class],
			"target_share":            a.Estimate.TargetDistribution[class],
			"target_share_low":        a.Uncertainty.Shares.Each[class].Low,
			"target_share_joint_high": a.Uncertainty.Shares.Joint[class].High,
			"weight":                  a.Estimate.Weights[class],
			"weight_high":             a.Uncertainty.Weights.Each[class].High,
			"weight_joint_low":        a.Uncertainty.Weights.Joint[class].Low,
			"label_shift_p":           a.Tests.LabelShift.P,
		} {
			if got := number(class, column); got != want {
				t.Errorf("%s of class %d: %v, want %v", column, class, got, want)
			}
		}
	}
}

package labelshift

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"iwda/datasets/table"
	"iwda/internal/allocation"
	"iwda/weightest"
)

// Parts that count the rows between them in any order give, bit for bit, what one part of
// all rows gives, through files too, and the intervals of rows.
func TestPartsMergeToTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	probabilities, labels := three.SourceRows(900, random)
	targets := three.TargetRows(1000, random)
	folder := t.TempDir()
	settings := Settings{Replicas: 40, Seed: 9}
	count := func(name string, from, to, targetTo int) *Part {
		p, err := Count(
			writeRows(t, filepath.Join(folder, "s"+name+".csv"), animals, probabilities[3*from:3*to], labels[from:to]),
			writeRows(t, filepath.Join(folder, "t"+name+".csv"), animals, targets[3*from:3*targetTo], nil), table.Options{}, settings, uint64(from))
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
	if !reflect.DeepEqual(whole.Sums, merged.Sums) {
		t.Errorf("sums %v of one pass, %v of merged parts", whole.Sums, merged.Sums)
	}
	if !bytes.Equal(replicasOf(t, whole), replicasOf(t, merged)) {
		t.Error("the replicas of one pass and of merged parts differ")
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
	p, err := Count(source, "", table.Options{}, Settings{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Analyse("half", sumsSettings()); !errors.Is(err, weightest.ErrNoStatistics) {
		t.Errorf("without a target: %v", err)
	}
	other, err := Count("", target, table.Options{}, Settings{}, 5)
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
	if a.Uncertainty != nil || !strings.Contains(strings.Join(a.Notes, " "), "--intervals none") {
		t.Errorf("intervals without replicas: %v, %q", a.Uncertainty, a.Notes)
	}
	if _, err := Count("", "", table.Options{}, Settings{}, 0); err == nil {
		t.Error("nothing to count is no error")
	}
	if _, err := Count(source, target, table.Options{}, Settings{Replicas: 1 << 30}, 0); err == nil || !strings.Contains(err.Error(), "GB") {
		t.Errorf("replicas beyond memory: %v", err)
	}
}

func sumsSettings() Settings {
	s := Default()
	s.Estimator, s.Calibration = "bbse-soft", "none"
	return s
}

// Numbers of rows end with those of 64 bits: rows that would begin again at 0 are an error.
func TestCountPastTheLastNumber(t *testing.T) {
	source, target := drawn(t, three, 10, 12)
	for first, want := range map[uint64]string{
		math.MaxUint64 - 12: "",
		math.MaxUint64 - 11: "t.csv: row 11 of a file whose first row has the number 18446744073709551604 is past the last number, 18446744073709551614",
		math.MaxUint64 - 5:  "s.csv: row 5 of",
		math.MaxUint64:      "s.csv: row 0 of",
	} {
		p, err := Count(source, target, table.Options{}, Settings{Replicas: 2}, first)
		if want == "" && (err != nil || !slices.Equal(p.Target, []Span{{first, math.MaxUint64}})) {
			t.Errorf("from %d: %v", first, err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("from %d: error %v, want %q", first, err, want)
		}
	}
}

// What reads rows cannot be had from sums, and the error says what can.
func TestSumsAreNoRows(t *testing.T) {
	source, target := drawn(t, three, 300, 300)
	p, err := Count(source, target, table.Options{}, Settings{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Settings){
		"qp, bbse-hard, bbse-soft": func(s *Settings) { s.Estimator = "mlls" },
		"calibrated by ts":         func(s *Settings) { s.Calibration = "ts" },
		"shares in training":       func(s *Settings) { s.TrainShares = equal },
		"no estimator":             func(s *Settings) { s.Estimator = "bbse" },
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
	p, err := Count(source, target, table.Options{}, Settings{Replicas: 2}, 0)
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
	p, err := Count(source, target, table.Options{}, Settings{Replicas: 1}, 0)
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
		allocation.Reading(t, len(content), func() {
			p, err := readPart(bytes.NewReader(content), int64(len(content)))
			if err == nil && p.Sums.Classes() > len(content) {
				t.Errorf("%d classes in %d bytes", p.Sums.Classes(), len(content))
			}
		})
	})
}

// A file of predictions of any content is rows or an error, as a source and as a target.
func FuzzReadPredictions(f *testing.F) {
	type row struct {
		Label         string    `parquet:"label"`
		Probabilities []float32 `parquet:"probabilities,list"`
	}
	var seed bytes.Buffer
	if err := parquet.Write(&seed, []row{{"0", []float32{0.25, 0.75}}, {"1", []float32{1, 0}}}); err != nil {
		f.Fatal(err)
	}
	extensions := []string{".parquet", ".csv", ".npz", ".safetensors", ".npy"}
	f.Add(seed.Bytes(), uint8(0))
	f.Add([]byte("label,probability_a,probability_b\na,0.5,0.5\n"), uint8(1))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, form uint8) {
		path := filepath.Join(folder, "rows"+extensions[int(form)%len(extensions)])
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		allocation.Reading(t, len(content), func() {
			source, err := ReadSource(path, table.Options{})
			if err != nil {
				return
			}
			if source.Rows() != len(source.labels) {
				t.Errorf("%d rows with %d labels", source.Rows(), len(source.labels))
			}
			target, err := ReadTarget(path, table.Options{}, source)
			if err != nil || target.Rows() < source.Rows() {
				t.Errorf("a source is no target: %d rows of %d, %v", target.Rows(), source.Rows(), err)
			}
		})
	})
}

// A row's number is its place among all rows of the file, also where rows before it have no
// label: one pass, parts that merge, and the analysis of rows draw the same resamples.
func TestPartsOfRowsWithoutLabels(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	const rows = 400
	probabilities, labels := three.SourceRows(rows, random)
	targets := three.TargetRows(rows, random)
	for i := range labels {
		if i%7 == 3 || i > 90 && i < 120 {
			labels[i] = unlabelled
		}
	}
	folder := t.TempDir()
	target := writeRows(t, filepath.Join(folder, "target.csv"), animals, targets, nil)
	count := func(from, to int, target string) (string, *Part) {
		source := writeRows(t, filepath.Join(folder, fmt.Sprintf("source-%d.csv", from)), animals, probabilities[3*from:3*to], labels[from:to])
		p, err := Count(source, target, table.Options{}, Settings{Replicas: 30, Seed: 5}, uint64(from))
		if err != nil {
			t.Fatal(err)
		}
		return source, p
	}
	_, merged := count(100, rows, "")
	_, first := count(0, 100, target)
	if err := merged.Merge(first); err != nil {
		t.Fatal(err)
	}
	source, whole := count(0, rows, target)
	if !bytes.Equal(replicasOf(t, whole), replicasOf(t, merged)) {
		t.Error("the replicas of one pass and of merged parts differ")
	}
	if !slices.Equal(merged.Source, whole.Source) {
		t.Errorf("counted %v, one pass counts %v", merged.Source, whole.Source)
	}
	s := Default()
	s.Estimator, s.Calibration, s.Replicas, s.Seed = "bbse-soft", "none", 30, 5
	fromSums, err := merged.Analyse("sums", s)
	if err != nil {
		t.Fatal(err)
	}
	sourceRows, targetRows := read(t, source, target)
	fromRows, err := Analyse(sourceRows, targetRows, s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromRows.Uncertainty, fromSums.Uncertainty); diff != "" {
		t.Error(diff)
	}
}

func replicasOf(t *testing.T, p *Part) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := p.Replicas.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

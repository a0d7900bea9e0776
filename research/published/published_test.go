package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"iwda/datasets"
	"iwda/experiments/report/sheet"
	"iwda/internal/evenly"
)

// writeDigits writes sets in MNIST's format into a folder: bars at the height of their
// class, moved at random so that neighbouring classes are confused, and noise.
func writeDigits(t *testing.T, train, test int) string {
	t.Helper()
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(7, 8))
	for prefix, n := range map[string]int{"train": train, "t10k": test} {
		images := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 3}, uint32(n))
		images = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(images, 28), 28)
		labels := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 1}, uint32(n))
		for i := range n {
			y := i % classes
			image := make([]byte, 28*28)
			for j := range image {
				image[j] = byte(random.IntN(80))
			}
			height := 4 + 2*y + random.IntN(3) - 1
			for x := range 28 {
				image[height*28+x] = 255
			}
			images, labels = append(images, image...), append(labels, byte(y))
		}
		for name, content := range map[string][]byte{"-images-idx3-ubyte": images, "-labels-idx1-ubyte": labels} {
			if err := os.WriteFile(filepath.Join(folder, prefix+name), content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folder
}

const tinyAlexandari = `experiment: tiny
protocol: alexandari2020
network: {hidden: [16], epochs: 4, batch: 20, learning_rate: 0.05, momentum: 0.5, decay: 0.0005}
training_rows: 300
held_out_rows: 200
networks: 2
draws: 3
rows: [100, 150]
shifts: [{kind: dirichlet, parameter: 1}, {kind: tweak-one, class: 3, parameter: 0.5}]
estimators: [{name: mlls, calibrations: [none, bcts]}, {name: bbse-hard, calibrations: [none]}]
`

const tinyLipton = `experiment: tiny-bbse
protocol: lipton2018
network: {hidden: [16, 16], epochs: 6, batch: 8, learning_rate: 0.1}
runs: 3
rows: [100, 200]
shifts: [{kind: dirichlet, parameter: 1}]
retrained: [100]
`

// runIn runs a protocol and returns its table as CSV and the lines of progress.
func runIn(t *testing.T, text, digits, results string, parallel int) (table string, lines []string, err error) {
	t.Helper()
	p, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var saying sync.Mutex
	s, err := repeat(t.Context(), p, options{digits: digits, results: results, parallel: parallel, say: func(format string, values ...any) {
		saying.Lock()
		defer saying.Unlock()
		lines = append(lines, fmt.Sprintf(format, values...))
	}})
	if err != nil {
		return "", lines, err
	}
	var out bytes.Buffer
	if err := s.Write(&out, sheet.CSV); err != nil {
		t.Fatal(err)
	}
	for _, format := range sheet.Formats() {
		if err := s.Write(new(bytes.Buffer), format); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
	return out.String(), lines, nil
}

func trainedIn(lines []string) int {
	n := 0
	for _, line := range lines {
		if strings.Contains(line, "trained") {
			n++
		}
	}
	return n
}

// Both protocols give the same table whatever goes on at a time, and again from the
// logits that were kept.
func TestSameNumbers(t *testing.T) {
	digits := writeDigits(t, 500, 300)
	for name, test := range map[string]struct {
		text            string
		networks, lines int
	}{
		// A line a condition and method, and the head.
		"alexandari2020": {tinyAlexandari, 2, 1 + 2*2*3},
		// Half of the rows for each number of rows and run; for 100 all three retrained.
		"lipton2018": {tinyLipton, 2*3 + 3*3, 1 + 2*5},
	} {
		t.Run(name, func(t *testing.T) {
			results := t.TempDir()
			first, lines, err := runIn(t, test.text, digits, results, 1)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(first, "\n"); got != test.lines {
				t.Errorf("%d lines, want %d:\n%s", got, test.lines, first)
			}
			if got := trainedIn(lines); got != test.networks {
				t.Errorf("%d networks trained, want %d: %q", got, test.networks, lines)
			}
			again, lines, err := runIn(t, test.text, digits, results, 3)
			if err != nil || again != first || trainedIn(lines) != 0 {
				t.Errorf("from kept logits: %v, %q\n%s\nat first\n%s", err, lines, again, first)
			}
			elsewhere, _, err := runIn(t, test.text, digits, t.TempDir(), 3)
			if err != nil || elsewhere != first {
				t.Errorf("three at a time: %v\n%s\none\n%s", err, elsewhere, first)
			}
		})
	}
}

// Changed settings train other networks, removed logits the same one again.
func TestResume(t *testing.T) {
	digits, results := writeDigits(t, 500, 300), t.TempDir()
	first, _, err := runIn(t, tinyAlexandari, digits, results, 2)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(results, "tiny", "logits", "seed-10-*.npz"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files of a network: %q, %v", files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	again, lines, err := runIn(t, tinyAlexandari, digits, results, 2)
	if err != nil || again != first || trainedIn(lines) != 1 {
		t.Errorf("a network removed: %v, %q\n%s\nat first\n%s", err, lines, again, first)
	}
	other, lines, err := runIn(t, strings.Replace(tinyAlexandari, "decay: 0.0005", "decay: 0.5", 1), digits, results, 2)
	if err != nil || other == first || trainedIn(lines) != 2 {
		t.Errorf("another decay: %v, %q", err, lines)
	}
	more, lines, err := runIn(t, strings.Replace(tinyAlexandari, "draws: 3", "draws: 4", 1), digits, results, 2)
	if err != nil || more == first || trainedIn(lines) != 0 {
		t.Errorf("more draws: %v, %q", err, lines)
	}
	if _, _, err := runIn(t, tinyAlexandari, writeDigits(t, 500, 290), results, 2); err == nil || !strings.Contains(err.Error(), "seed-") || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("logits of other images: %v", err)
	}
}

func TestRunErrors(t *testing.T) {
	digits := writeDigits(t, 500, 300)
	if _, _, err := runIn(t, tinyAlexandari, t.TempDir(), t.TempDir(), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without MNIST: %v", err)
	}
	if _, _, err := runIn(t, strings.Replace(tinyAlexandari, "300", "301", 1), digits, t.TempDir(), 1); err == nil || !strings.Contains(err.Error(), "501") {
		t.Errorf("too many rows: %v", err)
	}
	if _, _, err := runIn(t, tinyAlexandari, writeDigits(t, 500, 9), t.TempDir(), 1); err == nil || !strings.Contains(err.Error(), "class 9") {
		t.Errorf("a class without test images: %v", err)
	}
	p, err := parse([]byte(tinyAlexandari))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := repeat(ctx, p, options{digits: digits, results: t.TempDir(), say: func(string, ...any) {}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The learning rate of step s is LearningRate/(1 + Decay·s): with a huge decay the first
// step is the only one that counts. Both trainings see all rows in each step.
func TestDecay(t *testing.T) {
	set, err := datasets.LoadDigits(writeDigits(t, 40, 10), "mnist-train")
	if err != nil {
		t.Fatal(err)
	}
	after := func(epochs int, decay float64) []float32 {
		var z []float32
		err := onOneThread(func() error {
			im := newImages(set)
			n := Network{Hidden: []int{8}, Epochs: epochs, Batch: 40, LearningRate: 0.1, Decay: decay}
			model, err := n.train(context.Background(), im, evenly.All(40), nil, 1)
			z = logits(model, im, evenly.All(40))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	one := after(1, 0)
	if d := largestDifference(one, after(4, 1e12)); d > 1e-4 {
		t.Errorf("with a huge decay steps after the first change logits by %v", d)
	}
	if d := largestDifference(one, after(4, 0)); d < 1e-2 {
		t.Errorf("without decay further steps change logits by %v only", d)
	}
}

func largestDifference(a, b []float32) float64 {
	largest := 0.
	for i := range a {
		largest = max(largest, math.Abs(float64(a[i]-b[i])))
	}
	return largest
}

// A class of weight zero is not learned, one of weight three is preferred.
func TestWeightedTraining(t *testing.T) {
	set, err := datasets.LoadDigits(writeDigits(t, 200, 10), "mnist-train")
	if err != nil {
		t.Fatal(err)
	}
	weights := slices.Repeat([]float64{1}, classes)
	weights[0] = 0
	weights[1] = 3
	var predicted []float64
	err = onOneThread(func() error {
		im := newImages(set)
		n := Network{Hidden: []int{16}, Epochs: 20, Batch: 20, LearningRate: 0.1}
		model, err := n.train(context.Background(), im, evenly.All(200), weights, 1)
		for _, z := range logits(model, im, evenly.All(200)) {
			predicted = append(predicted, float64(z))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var of [classes]int
	for row := range 200 {
		z := predicted[row*classes : (row+1)*classes]
		of[slices.Index(z, slices.Max(z))]++
	}
	if of[0] != 0 || of[1] <= 20 {
		t.Errorf("predictions by class %v; class 0 weighs nothing, class 1 three times", of)
	}
}

// A classifier that is never wrong gives bbse-hard the true weights, and they gain
// nothing.
func TestScoresOfAPerfectClassifier(t *testing.T) {
	one := func(labels []int) []float64 {
		z := make([]float64, len(labels)*classes)
		for i, y := range labels {
			z[i*classes+y] = 5
		}
		return z
	}
	held := labelsInTurn(100)
	target := append(labelsInTurn(20), slices.Repeat([]int{4}, 30)...)
	got, err := drawn{one(held), one(target), held, target}.scores([]method{{"bbse-hard", "none"}, {"rlls-hard", "none"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range got {
		if s.WeightMSE > 1e-24 || s.AccuracyGain != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// Correcting by hand: two kinds of rows, of which one is ambiguous.
func TestRight(t *testing.T) {
	row := func(first, second float64) []float64 {
		return append([]float64{first, second}, slices.Repeat([]float64{0}, classes-2)...)
	}
	probabilities := slices.Concat(row(0.6, 0.4), row(0.6, 0.4), row(0.9, 0.1), row(0.5, 0.5))
	labels := []int{1, 0, 0, 1}
	if got := accuracy(probabilities, labels); got != 0.5 {
		t.Errorf("accuracy %v, want 0.5", got)
	}
	weights := slices.Repeat([]float64{1}, classes)
	weights[1] = 2
	if got := right(probabilities, weights, labels); got != 3 {
		t.Errorf("corrected %v, want 3", got)
	}
}

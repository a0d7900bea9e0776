package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/experiments/network"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/torch"
)

// points is an experiment of a second on features of two domains in three classes.
const points = `experiment: points
dataset: {name: files, domains: {east: {path: data/east.npz}, west: {path: data/west.npz}}}
tasks: [east-west]
variants: [full]
methods: [iwdan]
seeds: [1]
network: {name: mlp, features: 8, layers: 1}
train: {epochs: 2, batch: 10}
weights: {min_singular_value: 0}
`

const (
	pointsRun  = "results/points/full/east-west/iwdan/seed-1"
	pointsSize = 4 // values of a row
)

// trainPoints makes a folder with points.yaml, its data and its finished run the working
// directory.
func trainPoints(t *testing.T, set ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	testfiles.Write(t, "points.yaml", points)
	for domain, counts := range map[string][]int{"east": {60, 40, 20}, "west": {15, 40, 65}} {
		random := rand.New(rand.NewPCG(uint64(counts[0]), 4))
		var values []float32
		var labels []int
		for class, n := range counts {
			for range n {
				row := make([]float32, pointsSize)
				for i := range row {
					row[i] = float32(random.NormFloat64())
				}
				row[class] += 2
				values, labels = append(values, row...), append(labels, class)
			}
		}
		testfiles.Rows(t, filepath.Join("data", domain+".npz"), pointsSize, values, "labels", labels)
	}
	arguments := []string{"-c", "points.yaml"}
	for _, assignment := range set {
		arguments = append(arguments, "--set", assignment)
	}
	succeed(t, arguments...)
}

// Predictions of a run that standardised its features and held rows out are calibrated,
// and as often right as the run's result says.
func TestPredictionsOfACalibratedRun(t *testing.T) {
	trainPoints(t, "train.validation=0.25", "network.normalise=standard", "train.epochs=6")
	about := must.Have(model.ReadMetadata(pointsRun))(t)
	if about.Calibration == nil || about.Normalisation.Kind != normalise.Standard || about.Normalisation.Source == nil {
		t.Errorf("calibration %v, normalisation %v", about.Calibration, about.Normalisation)
	}
	succeed(t, "predict", pointsRun, "data/west.npz", "-o", "out.csv", "--probabilities")
	truth, right := rowsOf(t, "data/west.npz"), 0
	for i, row := range slices.Collect(slices.Chunk(values(rowsOf(t, "out.csv")), 3)) {
		if class, _ := truth.Label(i); row[class] == slices.Max(row) {
			right++
		}
	}
	result := must.Have(store.NewDir("results", "points", "full/east-west/iwdan/seed-1").ReadResult())(t)
	if got, want := float64(right)/float64(truth.Len()), result.CorrectedAccuracy.OrNaN(); math.Abs(got-want) > 1e-9 || got < 0.5 {
		t.Errorf("accuracy %v of predictions, %v in the result", got, want)
	}
}

// rowsOf returns all rows of a file.
func rowsOf(t *testing.T, path string) *table.Rows {
	t.Helper()
	file := must.Have(table.Open(path, table.Options{}))(t)
	t.Cleanup(func() { file.Close() })
	return must.Have(file.Load())(t)
}

// values are those of all rows, rows × width.
func values(rows *table.Rows) []float32 {
	width := rows.Shape()[0]
	all := make([]float32, rows.Len()*width)
	for i := range rows.Len() {
		rows.CopyRow(all[i*width:(i+1)*width], i)
	}
	return all
}

// expected are the probabilities of rows by the network itself and the published formula.
func expected(t *testing.T, m model.Model, rows []float32, shares []float64) []float64 {
	t.Helper()
	var probabilities []float64
	made := must.Have(network.New(m, ""))(t)
	torch.Tidy(func() {
		torch.NoGrad(func() {
			_, logits := made.Forward(torch.FromSlice(slices.Clone(rows), len(rows)/pointsSize, pointsSize), false)
			for row := range slices.Chunk(torch.ToSlice[float32](logits.Softmax(1)), len(m.Classes)) {
				corrected, sum := make([]float64, len(row)), 0.0
				for y, p := range row {
					corrected[y] = float64(p) * shares[y] / m.Shares.Classifier[y]
					sum += corrected[y]
				}
				for _, p := range corrected {
					probabilities = append(probabilities, p/sum)
				}
			}
		})
	})
	return probabilities
}

func nearProbabilities(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d probabilities, want %d", what, len(got), len(want))
	}
	for i, p := range got {
		if math.Abs(float64(p)-want[i]) > 1e-5 {
			t.Errorf("%s: row %d, class %d: %v, want %v", what, i/3, i%3, p, want[i])
			return
		}
	}
}

// TestPredict goes from a trained run to predictions in every form.
func TestPredict(t *testing.T) {
	trainPoints(t)
	m := must.Have(model.Trust{}.Open(pointsRun))(t)
	west := values(rowsOf(t, "data/west.npz"))
	predicted := func(t *testing.T, arguments ...string) {
		t.Helper()
		if status, out, said := call(t, append([]string{"predict"}, arguments...)...); status != 0 || out != "" {
			t.Fatalf("%v: status %d, stdout %q\n%s", arguments, status, out, said)
		}
	}

	predicted(t, pointsRun, "data/west.npz", "-o", "out.csv", "--probabilities", "--batch", "7")
	rows := rowsOf(t, "out.csv")
	if rows.Kind() != table.Probabilities || !slices.Equal(rows.ClassNames(), m.Classes) || rows.ID(119) != "119" {
		t.Errorf("%s of classes %q, id %q", rows.Kind(), rows.ClassNames(), rows.ID(119))
	}
	nearProbabilities(t, "out.csv", values(rows), expected(t, m, west, m.Shares.Target))

	if status, out, _ := call(t, "predict", "--probabilities", pointsRun, "-o", "-", "--batch=7", "data/west.npz"); status != 0 || out != readFile(t, "out.csv") {
		t.Errorf("on standard output: status %d, other text than in the file", status)
	}

	t.Run("shares", func(t *testing.T) {
		testfiles.Write(t, "counts.csv", "share,class\n50,2\n20,0\n30,1\n")
		for name, shares := range map[string][]float64{
			"model": m.Shares.Target, "source": {0.5, 1. / 3, 1. / 6}, "uniform": {1. / 3, 1. / 3, 1. / 3}, "counts.csv": {0.2, 0.3, 0.5},
		} {
			predicted(t, pointsRun, "data/west.npz", "-o", "shares.csv", "--probabilities", "--shares", name)
			nearProbabilities(t, name, values(rowsOf(t, "shares.csv")), expected(t, m, west, shares))
		}
		// The most likely shares are the mean of the probabilities corrected for them, and of
		// one row of each class.
		predicted(t, pointsRun, "data/west.npz", "-o", "estimate.csv", "--probabilities", "--shares", "estimate")
		mean := slices.Repeat([]float64{1. / 123}, 3)
		for i, p := range values(rowsOf(t, "estimate.csv")) {
			mean[i%3] += float64(p) / 123
		}
		nearProbabilities(t, "estimate", values(rowsOf(t, "estimate.csv")), expected(t, m, west, mean))
	})

	t.Run("export", func(t *testing.T) {
		if status, out, said := call(t, "export", pointsRun, "--onnx", "points.onnx", "-o", "alone/model", "--shares", "uniform"); status != 0 || out != "points.onnx\nalone/model\n" {
			t.Fatalf("status %d, stdout %q\n%s", status, out, said)
		}
		file, err := os.ReadFile("points.onnx")
		if err != nil || !bytes.Contains(file, []byte(`["0","1","2"]`)) {
			t.Errorf("points.onnx does not name the classes; error %v", err)
		}
		predicted(t, "alone", "data/west.npz", "-o", "again.csv", "--probabilities", "--batch", "7")
		again := testfiles.Read(t, "again.csv")
		if text, err := os.ReadFile("out.csv"); err != nil || !bytes.Equal(again, text) {
			t.Errorf("the exported folder predicts otherwise than the run's; error %v", err)
		}
	})

	t.Run("errors", func(t *testing.T) {
		testfiles.Write(t, "wide.csv", "x,y,z,u,v\n1,2,3,4,5\n")
		testfiles.Write(t, "hole.csv", "x,y,z,u\n1,2,3,4\n1,2,NaN,4\n")
		testfiles.Write(t, "classes.csv", "class,share\n0,1\n1,1\nd,1\n")
		testfiles.Write(t, "twice.csv", "class,share\n0,1\n0,1\n")
		testfiles.Write(t, "missing.csv", "class,share\n0,1\n1,1\n")
		testfiles.Write(t, "negative.csv", "class,share\n0,1\n1,-1\n2,1\n")
		testfiles.Write(t, "kept.csv", "kept")
		testfiles.Write(t, "pictures/a.png", "no picture")
		for _, c := range []struct {
			arguments []string
			want      string
		}{
			{[]string{"nowhere", "data/west.npz"}, "no model: nowhere: no such file or folder"},
			{[]string{"data", "data/west.npz"}, "data is no model"},
			{[]string{pointsRun, "nothing.npz"}, "nothing.npz"},
			{[]string{pointsRun, "wide.csv"}, "wide.csv: rows of 5 values; " + pointsRun + " has 4"},
			{[]string{pointsRun, "data/west.npz", "hole.csv"}, `hole.csv:3: column "z": NaN`},
			{[]string{pointsRun, "pictures"}, "pictures: files of images are for networks that were trained on such; this one takes rows of 4 values"},
			{[]string{pointsRun, "-"}, "-: no such file"},
			{[]string{pointsRun, "data/west.npz", "--shares", "none.csv"}, "model, source, uniform, estimate or a file: none.csv: no such file"},
			{[]string{pointsRun, "data/west.npz", "--shares", "classes.csv"}, `classes.csv:4: "d" is no class; there are ["0" "1" "2"]`},
			{[]string{pointsRun, "data/west.npz", "--shares", "twice.csv"}, `twice.csv:3: class "0" is there twice`},
			{[]string{pointsRun, "data/west.npz", "--shares", "missing.csv"}, `missing.csv: no line for class "2"`},
			{[]string{pointsRun, "data/west.npz", "--shares", "negative.csv"}, `negative.csv:3: the share of class "1" is "-1"`},
		} {
			status, _, said := call(t, append([]string{"predict", "-o", "kept.csv"}, c.arguments...)...)
			if status != 2 || !strings.Contains(said, c.want) {
				t.Errorf("%v: status %d, %q not in\n%s", c.arguments, status, c.want, said)
			}
		}
		if kept, err := os.ReadFile("kept.csv"); err != nil || string(kept) != "kept" {
			t.Errorf("a failed prediction replaced the file: %q, %v", kept, err)
		}
	})

	t.Run("a run that has not finished", func(t *testing.T) {
		description := filepath.Join(pointsRun, "model.json")
		before := testfiles.Read(t, description)
		for _, file := range []string{description, filepath.Join(pointsRun, "result.json")} {
			testfiles.Remove(t, file)
		}
		if status, _, said := call(t, "predict", pointsRun, "data/west.npz", "-o", "late.csv"); status != 2 || !strings.Contains(said, "has not finished") {
			t.Errorf("status %d\n%s", status, said)
		}
		succeed(t, "-c", "points.yaml")
		if after, err := os.ReadFile(description); err != nil || !bytes.Equal(after, before) {
			t.Errorf("model.json, made again from the checkpoint, differs; error %v", err)
		}
	})
}

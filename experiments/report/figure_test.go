package report

import (
	"bytes"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/must"
)

// Runs are counted in epochs, or in steps where their length is given so.
var epochs, steps = unitOf(config.Config{}), unitOf(config.Config{Settings: config.Settings{Train: config.Train{Steps: 1}}})

// metrics are evaluations after epoch 0, 1, 2, … with these accuracies.
func metrics(accuracies ...float64) []store.Metrics {
	var metrics []store.Metrics
	for epoch, accuracy := range accuracies {
		metrics = append(metrics, store.Metrics{Epoch: epoch, Accuracy: store.Measured(accuracy), WeightDistance: 2 / float64(epoch+1)})
	}
	return metrics
}

func TestCourse(t *testing.T) {
	c := curve{seeds: [][]store.Metrics{
		metrics(0.1, 0.5, 0.6), metrics(0.1, 0.7, math.NaN(), 0.9), metrics(0.1, 0.75),
	}}
	want := []moment{{1, 65, 50, 75}, {2, 60, 60, 60}, {3, 90, 90, 90}}
	if diff := cmp.Diff(want, course(c, epochs, trainedAccuracy), cmp.AllowUnexported(moment{}), approximately); diff != "" {
		t.Error(diff)
	}
	inSteps := curve{seeds: [][]store.Metrics{{{Epoch: 1, Step: 500, Accuracy: store.Measured(0.4)}}, {{Epoch: 1, Step: 500, Accuracy: store.Measured(0.6)}}}}
	if diff := cmp.Diff([]moment{{500, 50, 40, 60}}, course(inSteps, steps, trainedAccuracy), cmp.AllowUnexported(moment{}), approximately); diff != "" {
		t.Error(diff)
	}
}

func TestAccuracyAndWeightDistance(t *testing.T) {
	blind := metrics(0.1, 0.4, 0.5)
	for i := range blind {
		blind[i].WeightDistance = math.NaN()
	}
	infinite := metrics(0.1, math.Inf(1), 0.5)
	infinite[1].WeightDistance = math.Inf(1)
	for name, curves := range map[string][]curve{
		"seeds":      {{method: "dann", seeds: [][]store.Metrics{metrics(0.1, 0.7, 0.8), metrics(0.1, 0.6, 0.9)}}, {method: "iwdan", seeds: [][]store.Metrics{metrics(0.1, 0.9)}}},
		"epoch":      {{method: "dann", seeds: [][]store.Metrics{metrics(0.1, 0.7)}}, {method: "iwdan", seeds: [][]store.Metrics{metrics(0.1, 0.7)}}},
		"no weights": {{method: "dann", seeds: [][]store.Metrics{blind}}, {method: "iwdan", seeds: [][]store.Metrics{blind}}},
		"infinite":   {{method: "dann", seeds: [][]store.Metrics{infinite}}, {method: "iwdan", seeds: [][]store.Metrics{infinite}}},
		"perfect":    {{method: "dann", seeds: [][]store.Metrics{metrics(1, 1, 1)}}, {method: "iwdan", seeds: [][]store.Metrics{metrics(0, 0, 0)}}},
	} {
		folder := t.TempDir()
		for i := range curves {
			curves[i].style = styleOf(config.Ordered(digitsSample().Methods), curves[i].method)
		}
		figure := accuracyAndWeightDistance("Digits & more", epochs, curves)
		first, second := filepath.Join(folder, "a.svg"), filepath.Join(folder, "again.svg")
		drawTo(t, figure, first, second)
		if !bytes.Equal(read(t, first), read(t, second)) {
			t.Errorf("%s: drawn twice differs", name)
		}
		texts := svgTexts(t, filepath.Join(folder, "a.svg"))
		for _, want := range []string{"Digits & more", "epoch", "accuracy on the target's test set (%)",
			"Euclidean distance to the true weights", "dann", "iwdan"} {
			if !strings.Contains(texts, "\n"+want+"\n") {
				t.Errorf("%s: %q is not among the labels%s", name, want, texts)
			}
		}
		if strings.Contains(texts, "-0") || strings.Contains(texts, "NaN") || strings.Contains(texts, "\n110\n") {
			t.Errorf("%s: a label is no value of its axis:%s", name, texts)
		}
	}
}

// TestPanels reads from the ticks which quantity lies where: accuracies of 60 to
// 75 % on the left, distances of 0.67 to 2 on the right.
func TestPanels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.svg")
	figure := accuracyAndWeightDistance("x", epochs, []curve{{method: "dann", seeds: [][]store.Metrics{metrics(0.1, 0.6, 0.75)}}})
	drawTo(t, figure, path)
	for label, left := range map[string]bool{"65": true, "0.8": false} {
		place := regexp.MustCompile(`<text [^>]*\bx="([0-9.]+)"[^>]*>` + regexp.QuoteMeta(label) + `</text>`).FindSubmatch(read(t, path))
		if place == nil {
			t.Fatalf("no tick %q", label)
		}
		x, err := strconv.ParseFloat(string(place[1]), 64)
		if err != nil || x < figureWidth.Points()/2 != left {
			t.Errorf("tick %q at %v, %v", label, x, err)
		}
	}
}

// TestBands expects a band, in both panels, for the methods with several seeds.
func TestBands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.svg")
	several := []curve{{method: "dann", seeds: [][]store.Metrics{metrics(0.1, 0.5, 0.6), metrics(0.1, 0.7, 0.8)}}}
	one := []curve{{method: "dann", seeds: several[0].seeds[:1]}}
	for _, test := range []struct {
		curves []curve
		bands  int
		note   string
	}{
		{several, 2, "mean of 2 seeds; band: lowest to highest"},
		{one, 0, "one seed"},
		{append(several, curve{method: "iwdan", seeds: several[0].seeds[1:]}), 2, "mean of 1 to 2 seeds; band: lowest to highest"},
	} {
		figure := accuracyAndWeightDistance("x", epochs, test.curves)
		drawTo(t, figure, path)
		text := string(read(t, path))
		if got := strings.Count(text, "fill-opacity:"); got != test.bands {
			t.Errorf("%d seeds: %d bands, want %d", len(test.curves[0].seeds), got, test.bands)
		}
		if !strings.Contains(text, test.note) {
			t.Errorf("no note %q", test.note)
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	for _, curves := range [][]curve{
		nil,
		{{method: "dann"}},
		{{method: "dann", seeds: [][]store.Metrics{nil, metrics(0.1)}}},
		{{method: "dann", seeds: [][]store.Metrics{metrics(0.1, math.NaN())}}},
	} {
		if f := accuracyAndWeightDistance("x", epochs, curves); f.panels != nil {
			t.Errorf("%v: got the figure %+v", curves, f)
		}
	}
}

func TestDivergenceFigures(t *testing.T) {
	runs := storedRuns(t, t.TempDir(), shiftResults())
	figures := must.Have(Figures(runs, shiftSample()))(t)
	paths := drawAll(t, figures, t.TempDir())
	if len(paths) != 2 {
		t.Fatal(paths)
	}
	for i, labels := range [][]string{
		{"iwdan: mean +4.00 (paper +6.55)", "gain over dann (points of accuracy)", "gain over cdan (points of accuracy)", divergenceLabel},
		// iwdan falls from 90 to 83 between 0.02 and 0.06; cdan has a single point.
		{"iwdan: -17.5 points per 0.1", "dann: +12.5 points per 0.1", "cdan", "accuracy on the target's test set (%)"},
	} {
		texts := svgTexts(t, paths[i])
		for _, label := range labels {
			if !strings.Contains(texts, "\n"+label+"\n") {
				t.Errorf("%s: no label %q in%s", paths[i], label, texts)
			}
		}
	}
}

// Points whose divergence nobody knows are left out, and the others are drawn as if alone.
func TestUnknownDivergence(t *testing.T) {
	drawn := func(results []store.Result) (texts []string) {
		s := Select(runsWith(results...), shiftSample())
		for _, f := range []Figure{gain(s, "mnist-usps"), performance(s, "mnist-usps")} {
			path := filepath.Join(t.TempDir(), "a.svg")
			drawTo(t, f, path)
			texts = append(texts, svgTexts(t, path))
		}
		return texts
	}
	results := shiftResults()
	for i := range results {
		if results[i].Variant == "source-1" {
			results[i].JSD = store.Optional[float64]{}
		}
	}
	known := slices.DeleteFunc(slices.Clone(results), func(r store.Result) bool { return r.Variant == "source-1" })
	if diff := cmp.Diff(drawn(known), drawn(results)); diff != "" {
		t.Error(diff)
	}
	for i := range results {
		results[i].JSD = store.Optional[float64]{}
	}
	if figures, err := Figures(runsWith(results...), shiftSample()); len(figures) > 0 {
		t.Errorf("%d figures of no divergences, %v", len(figures), err)
	}
}

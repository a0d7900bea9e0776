package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/plot"

	"iwda/experiments/config"
	"iwda/experiments/report/internal/sample"
	"iwda/experiments/report/summary"
	"iwda/experiments/store"
)

// approximately ignores the error of the arithmetic.
var approximately = cmpopts.EquateApprox(0, 1e-9)

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
		"seeds":      {{"dann", [][]store.Metrics{metrics(0.1, 0.7, 0.8), metrics(0.1, 0.6, 0.9)}}, {"iwdan", [][]store.Metrics{metrics(0.1, 0.9)}}},
		"epoch":      {{"dann", [][]store.Metrics{metrics(0.1, 0.7)}}, {"iwdan", [][]store.Metrics{metrics(0.1, 0.7)}}},
		"no weights": {{"dann", [][]store.Metrics{blind}}, {"iwdan", [][]store.Metrics{blind}}},
		"infinite":   {{"dann", [][]store.Metrics{infinite}}, {"iwdan", [][]store.Metrics{infinite}}},
		"perfect":    {{"dann", [][]store.Metrics{metrics(1, 1, 1)}}, {"iwdan", [][]store.Metrics{metrics(0, 0, 0)}}},
	} {
		folder := t.TempDir()
		figure, err := accuracyAndWeightDistance("Digits & more", epochs, curves)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, format := range Formats() {
			first, second := filepath.Join(folder, "a."+format), filepath.Join(folder, "again."+format)
			drawTo(t, figure, first, second)
			if !bytes.Equal(read(t, first), read(t, second)) {
				t.Errorf("%s: %s drawn twice differs", name, format)
			}
		}
		checkPNG(t, filepath.Join(folder, "a.png"))
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
	figure, err := accuracyAndWeightDistance("x", epochs, []curve{{"dann", [][]store.Metrics{metrics(0.1, 0.6, 0.75)}}})
	if err != nil {
		t.Fatal(err)
	}
	drawTo(t, figure, path)
	for label, left := range map[string]bool{"65": true, "1.0": false} {
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
	several := []curve{{"dann", [][]store.Metrics{metrics(0.1, 0.5, 0.6), metrics(0.1, 0.7, 0.8)}}}
	one := []curve{{"dann", several[0].seeds[:1]}}
	for _, test := range []struct {
		curves []curve
		bands  int
		note   string
	}{
		{several, 2, "mean of 2 seeds; band: lowest to highest"},
		{one, 0, "one seed"},
		{append(several, curve{"iwdan", several[0].seeds[1:]}), 2, "mean of 1 to 2 seeds; band: lowest to highest"},
	} {
		figure, err := accuracyAndWeightDistance("x", epochs, test.curves)
		if err != nil {
			t.Fatal(err)
		}
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
		if _, err := accuracyAndWeightDistance("x", epochs, curves); !errors.Is(err, ErrNoData) {
			t.Errorf("%v: got error %v", curves, err)
		}
	}
	figure, err := accuracyAndWeightDistance("x", epochs, []curve{{"dann", [][]store.Metrics{metrics(0, 1)}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := figure.Write(io.Discard, "gif"); err == nil || !strings.Contains(err.Error(), `"gif"`) {
		t.Errorf("an unknown format: %v", err)
	}
}

// drawTo writes the figure to each path, in the format of its extension.
func drawTo(t *testing.T, figure Figure, paths ...string) {
	t.Helper()
	for _, path := range paths {
		var b bytes.Buffer
		if err := figure.Write(&b, strings.TrimPrefix(filepath.Ext(path), ".")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// storedRuns writes the results' metrics below root.
func storedRuns(t *testing.T, root string, results []store.Result) []store.Run {
	t.Helper()
	var runs []store.Run
	for _, r := range results {
		run := store.Run{Dir: store.NewDir(root, r.Experiment, store.ID{Variant: r.Variant, Task: r.Task, Method: r.Method, Seed: r.Seed}.String()), Result: r}
		if err := run.Dir.Begin(); err != nil {
			t.Fatal(err)
		}
		if err := run.Dir.WriteMetrics(metrics(0.1, r.BestAccuracy.Value, r.LastAccuracy.Value)); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return runs
}

// TestFigures: what is missing, foreign or broken is left out, and what is broken is
// said.
func TestFigures(t *testing.T) {
	folder := t.TempDir()
	results := sample.Detailed(append(sample.DigitsResults(), sample.Result("subsampled", "usps-mnist", "cdan", 1, 1, 1)))
	runs := storedRuns(t, t.TempDir(), results)
	broken := runs[0].Dir.Path(store.MetricsFile) // the only one of source-only
	if err := os.WriteFile(broken, []byte("x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	figures, err := All(runs, sample.Digits())
	if err == nil || !strings.Contains(err.Error(), broken) {
		t.Errorf("got error %v, want one of %s", err, broken)
	}
	paths, err := WriteAll(figures, folder, PNG, SVG)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, place := range []string{"full-mnist-usps", "subsampled-mnist-usps", "subsampled-usps-mnist"} {
		for _, name := range []string{"curves", "weights", "confusion"} {
			base := filepath.Join(folder, name+"-"+place)
			want = append(want, base+".png", base+".svg")
		}
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Fatal(diff)
	}
	checkPNG(t, filepath.Join(folder, "curves-subsampled-usps-mnist.png"))
	for file, labels := range map[string]map[string]bool{
		"curves":    {"digits: subsampled, usps-mnist": true, "dann": true, "iwdan": true, "source-only": false, "cdan": false},
		"weights":   {"true weights": true, "dann": true, "source-only": true, "cdan": false, "class weight": true},
		"confusion": {"dann: accuracy 69.44%": true, "dann (paper): accuracy 86.71%": true, "66.7": true, "predicted class": true},
	} {
		texts := svgTexts(t, filepath.Join(folder, file+"-subsampled-usps-mnist.svg"))
		for label, there := range labels {
			if strings.Contains(texts, "\n"+label+"\n") != there {
				t.Errorf("%s: label %q: want %v in%s", file, label, there, texts)
			}
		}
	}
	if figures, err := All(nil, sample.Digits()); len(figures) != 0 || err != nil {
		t.Errorf("without runs: %v, %v", figures, err)
	}
	if _, err := WriteAll(figures, filepath.Join(folder, "none"), PNG); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

func TestStylesDiffer(t *testing.T) {
	seen, grey := map[string]string{}, map[string]string{}
	inPaper := map[string]bool{}
	for _, name := range strings.Fields("source-only dann iwdan iwdan-o cdan iwcdan iwcdan-o jan iwjan iwjan-o") {
		inPaper[name] = true
	}
	for _, name := range config.MethodNames() {
		s := styleOf(name)
		shape := fmt.Sprintf("%v %#v", s.dash, s.glyph)
		if other, taken := seen[fmt.Sprint(s.color, shape)]; taken {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[fmt.Sprint(s.color, shape)] = name
		if other, taken := grey[shape]; taken && inPaper[name] && inPaper[other] {
			t.Errorf("%s looks like %s in grey", name, other)
		}
		grey[shape] = name
	}
}

// TestStyleOfNewAlignment: an alignment that no list here names has a style of its own,
// unlike those of all methods, with each source of weights.
func TestStyleOfNewAlignment(t *testing.T) {
	taken := map[string]string{}
	for _, name := range config.MethodNames() {
		taken[fmt.Sprintf("%#v", styleOf(name))] = name
	}
	for _, source := range []config.WeightSource{config.NoWeights, config.EstimatedWeights, config.OracleWeights} {
		s := methodStyle(config.Method{Name: "new", Alignment: "new", Weights: source, WeightClassification: true, WeightDomain: true})
		if other, ok := taken[fmt.Sprintf("%#v", s)]; ok {
			t.Errorf("a new alignment with weights %s looks like %s", source, other)
		}
		taken[fmt.Sprintf("%#v", s)] = "new with weights " + string(source)
	}
}

// TestWithoutTrueWeights: where the target has no labels, the weights are drawn without
// the true ones.
func TestWithoutTrueWeights(t *testing.T) {
	results := sample.Detailed(sample.DigitsResults())
	for i := range results {
		results[i].TrueWeights, results[i].WeightDistance = nil, store.Optional[float64]{}
	}
	f, err := classWeights(runs{Selection: summary.Select(results, sample.Digits())}, "subsampled", "usps-mnist")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.svg")
	drawTo(t, f, path)
	if texts := svgTexts(t, path); strings.Contains(texts, "true weights") || !strings.Contains(texts, "\niwdan\n") {
		t.Errorf("labels%s", texts)
	}
}

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		count     int
		smallest  float64
		want      string
	}{
		{0, 12, 8, 1, "0 2 4 6 8 10 12"},
		{0, 1, 8, 1, "0 1"},
		{0, 70, 8, 1, "0 10 20 30 40 50 60 70"},
		{93.2, 94.1, 6, 0, "93.2 93.4 93.6 93.8 94.0"},
		{71, 99.5, 6, 0, "70 80 90 100"},
		{99.99, 100, 6, 0, "99.990 99.992 99.994 99.996 99.998 100.000"},
		{math.Inf(1), math.Inf(-1), 6, 0, "0.0 0.2 0.4 0.6 0.8 1.0"},
	} {
		var axis plot.Axis
		setAxis(&axis, test.low, test.high, test.count, test.smallest, 0, 100)
		if test.low <= test.high && !(axis.Min < test.low && axis.Max > test.high) {
			t.Errorf("%v to %v: no margin in %v to %v", test.low, test.high, axis.Min, axis.Max)
		}
		var labels []string
		for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
			labels = append(labels, tick.Label)
		}
		if diff := cmp.Diff(test.want, strings.Join(labels, " ")); diff != "" {
			t.Errorf("%v to %v:\n%s", test.low, test.high, diff)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// checkPNG decodes the image and looks for a white corner and the line's color.
func checkPNG(t *testing.T, path string) {
	t.Helper()
	image, err := png.Decode(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	bounds := image.Bounds()
	if bounds.Dx() < 1200 || bounds.Dy() < 500 {
		t.Errorf("%s: %v is too small for print", path, bounds)
	}
	if r, g, b, a := image.At(0, 0).RGBA(); r != 0xFFFF || g != 0xFFFF || b != 0xFFFF || a != 0xFFFF {
		t.Errorf("%s: the corner is not white", path)
	}
	want, found := styleOf("iwdan").color, 0
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			if color.NRGBAModel.Convert(image.At(x, y)) == want {
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("%s: %d pixels in the color of iwdan", path, found)
	}
}

// svgTexts returns the texts of the drawing, each between line feeds.
func svgTexts(t *testing.T, path string) string {
	t.Helper()
	var texts strings.Builder
	decoder := xml.NewDecoder(bytes.NewReader(read(t, path)))
	inText := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts.String() + "\n"
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts.WriteString("\n" + string(token) + "\n")
			}
		}
	}
}

func TestDivergenceFigures(t *testing.T) {
	runs := storedRuns(t, t.TempDir(), sample.ShiftResults())
	figures, err := All(runs, sample.Shift())
	if err != nil {
		t.Fatal(err)
	}
	paths, err := WriteAll(figures, t.TempDir(), SVG)
	if err != nil || len(paths) != 2 {
		t.Fatalf("%v, %v", paths, err)
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

func TestTrafficColor(t *testing.T) {
	for percent, want := range map[float64][2]uint8{0: {255, 0}, 35: {255, 128}, 70: {255, 255}, 85: {128, 255}, 100: {0, 255}} {
		if got := trafficColor(percent); got.R != want[0] || got.G != want[1] || got.B != 0 || got.A != 255 {
			t.Errorf("%v: %v, want %v", percent, got, want)
		}
	}
}

// Runs that recorded their instruments get a figure of them; the others are left out of it.
func TestInstrumentCurves(t *testing.T) {
	folder := t.TempDir()
	runs := storedRuns(t, t.TempDir(), sample.Detailed(sample.DigitsResults()))
	var metrics []store.Metrics
	for epoch := range 3 {
		m := store.Metrics{Epoch: epoch, Step: epoch, Accuracy: store.Measured(0.5), DomainLoss: 0.7}
		if epoch > 0 {
			m.FeatureNorm, m.NetworkGradient, m.LargestWeight = store.Measured(20.), store.Measured(3.), store.Measured(1.5)
		}
		metrics = append(metrics, m)
	}
	written := 0
	for _, run := range runs {
		if r := run.Result; r.Method == "dann" && r.Variant == "subsampled" && r.Task == "usps-mnist" {
			written++
			if err := run.Dir.WriteMetrics(metrics); err != nil {
				t.Fatal(err)
			}
		}
	}
	figures, err := All(runs, sample.Digits())
	if err != nil || written == 0 {
		t.Fatalf("%d runs, %v", written, err)
	}
	figures = slices.DeleteFunc(figures, func(f Figure) bool { return !strings.HasPrefix(f.Name, "training-") })
	if len(figures) != 1 || figures[0].Name != "training-subsampled-usps-mnist" {
		t.Fatalf("%d figures", len(figures))
	}
	if _, err := WriteAll(figures, folder, SVG); err != nil {
		t.Fatal(err)
	}
	texts := svgTexts(t, filepath.Join(folder, figures[0].Name+".svg"))
	for _, label := range []string{"domain loss", "root mean square of ‖z‖", "norm of the network's gradient", "largest class weight", "dann"} {
		if !strings.Contains(texts, "\n"+label+"\n") {
			t.Errorf("no label %q in%s", label, texts)
		}
	}
	if strings.Contains(texts, "\niwdan\n") {
		t.Error("iwdan, of which nothing was recorded, is in the legend")
	}
}

package train

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// labelling gives the label of a target row from its true class, "" for none.
type labelling func(row, class int) string

// writeRows writes rows of two numbers around the points of a triangle, of the classes cat,
// cow and dog, as a CSV file; labels are the file's, nil for a file without any.
func writeRows(t testing.TB, path string, rows int, shift float64, labels labelling) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, uint64(rows)))
	var text strings.Builder
	text.WriteString("x,y")
	if labels != nil {
		text.WriteString(",label")
	}
	for row := range rows {
		class := row % 3
		if shift > 0 {
			class = min(row%5, 2) // dog is the class of three in five
		}
		angle := 2 * math.Pi * float64(class) / 3
		fmt.Fprintf(&text, "\n%g,%g", 2*math.Cos(angle)+0.3*random.NormFloat64()+shift, 2*math.Sin(angle)+0.3*random.NormFloat64())
		if labels != nil {
			text.WriteString("," + labels(row, class))
		}
	}
	testfiles.Write(t, path, text.String()+"\n")
}

func trueLabel(_, class int) string { return []string{"cat", "cow", "dog"}[class] }

// ways of labelling a target; nil is a file without labels.
var labellings = map[string]labelling{
	"true":    trueLabel,
	"none":    nil,
	"unknown": func(int, int) string { return "" },
	"some": func(row, class int) string {
		if row%4 > 0 {
			return ""
		}
		return trueLabel(row, class)
	},
	"wrong": func(row, class int) string { return trueLabel(row, (class+1+row%2)%3) },
}

const files = `
experiment: own
dataset: {name: files, root: ROOT, domains: {flat-photos: {path: source.csv}, sketches: {path: target.csv}}}
tasks: [flat-photos-sketches]
variants: [full]
methods: [source-only, iwdan, iwcdan, iwjan, iwdan-o]
seeds: [1]
network: {name: mlp, features: 16, layers: 1}
discriminator: {hidden: 16, reversal: {iterations: 100}}
train: {epochs: 4, batch: 16}
`

// ownRun writes both domains and returns the run of a method on them.
func ownRun(t testing.TB, method string, labels labelling, assignments ...string) config.Resolved {
	t.Helper()
	root := t.TempDir()
	writeRows(t, filepath.Join(root, "source.csv"), 150, 0, trueLabel)
	writeRows(t, filepath.Join(root, "target.csv"), 120, 0.3, labels)
	return resolveText(t, strings.ReplaceAll(files, "ROOT", root), "full", method, 1, assignments...)
}

// sameTraining fails the test unless what was trained, and all that it was trained by,
// has the same bits in both runs: all tensors of the checkpoints and the losses.
func sameTraining(t *testing.T, name string, a, b outcome) {
	t.Helper()
	if !slices.Equal(slices.Sorted(maps.Keys(a.Tensors)), slices.Sorted(maps.Keys(b.Tensors))) {
		t.Fatalf("%s: other tensors", name)
	}
	for tensor, bits := range a.Tensors {
		if string(bits) != string(b.Tensors[tensor]) {
			t.Errorf("%s: %s differs", name, tensor)
		}
	}
	if len(a.Metrics) != len(b.Metrics) {
		t.Fatalf("%s: %d and %d evaluations", name, len(a.Metrics), len(b.Metrics))
	}
	for i, m := range a.Metrics {
		if n := b.Metrics[i]; math.Float64bits(m.TotalLoss) != math.Float64bits(n.TotalLoss) {
			t.Errorf("%s: epoch %d: loss %v and %v", name, m.Epoch, m.TotalLoss, n.TotalLoss)
		}
	}
	if !slices.Equal(a.Result.Weights, b.Result.Weights) {
		t.Errorf("%s: class weights %v and %v", name, a.Result.Weights, b.Result.Weights)
	}
}

// Whatever the labels of the target, training is the same to the bit; what they tell is
// measured where there are some, and nothing stands in its place elsewhere.
func TestTrainingReadsNoTargetLabel(t *testing.T) {
	for _, method := range []string{"source-only", "iwdan", "iwcdan", "iwjan"} {
		outcomes := map[string]outcome{}
		for name, labels := range labellings {
			dir, _ := train(t, ownRun(t, method, labels))
			outcomes[name] = outcomeOf(t, dir)
			text := testfiles.Read(t, dir.Path(store.ResultFile))
			labelled := name != "none" && name != "unknown"
			for _, key := range []string{"accuracy", "best_epoch", `"confusion"`, "true_weights", "weight_distance", "jsd", `"target"`} {
				if strings.Contains(string(text), key) != labelled {
					t.Errorf("%s, %s labels: %s in the result: %v", method, name, key, !labelled)
				}
			}
			if strings.Contains(string(text), "without_labels") == labelled {
				t.Errorf("%s, %s labels: without_labels in the result: %v", method, name, labelled)
			}
		}
		for name, o := range outcomes {
			sameTraining(t, method+", "+name+" labels", outcomes["true"], o)
		}
		if a, b := outcomes["true"].Result.LastAccuracy, outcomes["wrong"].Result.LastAccuracy; a.Value < 0.8 || b.Value > 0.2 {
			t.Errorf("%s: accuracy %v by true and %v by wrong labels", method, a, b)
		}
		if total := sum(slices.Concat(outcomes["some"].Result.Confusion...)); total != 30 {
			t.Errorf("%s: %d rows were counted, 30 have labels", method, total)
		}
	}
}

// Without labels, a run tells what its predictions and class weights say of the target.
func TestRunWithoutTargetLabels(t *testing.T) {
	dir, result := train(t, ownRun(t, "iwdan", nil, "train.epochs=12"))
	known := result.WithoutLabels
	if known == nil || known.Validation != nil {
		t.Fatalf("without labels: %+v", known)
	}
	// The target's true shares are 1/5, 1/5 and 3/5.
	for name, shares := range map[string][]float64{"predicted": known.PredictedShares, "estimated": known.EstimatedShares} {
		total := 0.0
		for class, share := range shares {
			total += share
			if want := []float64{0.2, 0.2, 0.6}[class]; math.Abs(share-want) > 0.1 {
				t.Errorf("%s share of class %d is %.3f, true is %.1f", name, class, share, want)
			}
		}
		if math.Abs(total-1) > 1e-6 {
			t.Errorf("%s shares sum to %v", name, total)
		}
	}
	metrics := metricsOf(t, dir)
	first, last := metrics[0], metrics[len(metrics)-1]
	if last.Certainty.Value != known.Certainty || !(first.Certainty.Value < last.Certainty.Value && last.Certainty.Value <= 1) {
		t.Errorf("certainty %v at first, %v at last, %v in the result", first.Certainty, last.Certainty, known.Certainty)
	}
	if first.Accuracy.Measured || !math.IsNaN(last.WeightDistance) || first.ValidationAccuracy.Measured {
		t.Errorf("measured without labels: %+v", last)
	}
	text, err := os.ReadFile(dir.Path(store.MetricsFile))
	if err != nil || strings.Contains(string(text), "NaN") || !strings.Contains(string(text), "\n1,9,,,") {
		t.Errorf("%v\n%s", err, text)
	}
	// It is what another run gives that was interrupted.
	pieces, _ := finishInPieces(t, ownRun(t, "iwdan", nil, "train.epochs=12"), 30, Options{Threads: 1})
	if diff := cmp.Diff(outcomeOf(t, dir).Result.WithoutLabels, outcomeOf(t, pieces).Result.WithoutLabels); diff != "" {
		t.Error(diff)
	}
}

func TestOracleNeedsTargetLabels(t *testing.T) {
	run := ownRun(t, "iwdan-o", labellings["unknown"])
	must.Refuse(Run(t.Context(), run, begin(t, run), Options{Threads: 1}))(t, "iwdan-o uses the true class shares of the target, of which no row has a label")
}

// ownImages lists the images of drawOffice as two domains of the user's own and returns
// the run of a method; labels are the target's, nil for a list without any.
func ownImages(t *testing.T, root, method string, labels func(row int, class string) string, assignments ...string) config.Resolved {
	t.Helper()
	for domain, file := range map[string]string{"amazon": "source.txt", "dslr": "target.txt"} {
		paths := must.Have(filepath.Glob(filepath.Join(root, domain, "images", "*", "*.png")))(t)
		var text strings.Builder
		for row, path := range paths {
			inside := must.Have(filepath.Rel(root, path))(t)
			class := filepath.Base(filepath.Dir(path))
			switch {
			case domain == "amazon":
				inside += "\t" + class
			case labels != nil:
				inside += "\t" + labels(row, class)
			}
			text.WriteString(filepath.ToSlash(inside) + "\n")
		}
		testfiles.Write(t, filepath.Join(root, file), text.String())
	}
	own := strings.NewReplacer("name: office31, root: ROOT,", "name: files, root: "+root+
		", domains: {amazon: {path: source.txt}, dslr: {path: target.txt}},", "ROOT", root).Replace(office)
	return resolveText(t, own, "full", method, 1, append([]string{"train.steps=4", "train.eval_every=2"}, assignments...)...)
}

// The same of images, which a loader brings, and of features of a frozen backbone that are
// computed before training.
func TestTrainingOnImagesReadsNoTargetLabel(t *testing.T) {
	root := drawOffice(t, 2)
	for name, c := range map[string]struct {
		method string
		set    []string
	}{
		"images": {"iwdan", []string{"train.validation=0.3"}},
		"views":  {"iwjan", []string{"network.frozen=true", "network.views=2"}},
	} {
		outcomes := map[string]outcome{}
		for way, labels := range map[string]func(int, string) string{
			"true":  func(_ int, class string) string { return class },
			"none":  nil,
			"wrong": func(int, string) string { return "mug" },
		} {
			dir, result := train(t, ownImages(t, root, c.method, labels, append(c.set, "train.steps=2", "train.eval_every=1")...))
			outcomes[way] = outcomeOf(t, dir)
			if labelled := way == "true" || way == "wrong"; result.LastAccuracy.Measured != labelled || (result.TrueWeights != nil) != labelled {
				t.Errorf("%s, %s labels: accuracy %+v, true weights %v", name, way, result.LastAccuracy, result.TrueWeights)
			}
			if v := result.WithoutLabels; name == "images" && (v == nil || v.Validation.Rows != 31) {
				t.Errorf("held out: %+v", v)
			}
		}
		for way, o := range outcomes {
			sameTraining(t, name+", "+way+" labels", outcomes["true"], o)
		}
	}
}

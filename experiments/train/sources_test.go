package train

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/torch"
)

// twoSources is a run of a method from two files of rows, one with each class as often and one with the
// target's shares, of half as many rows.
func twoSources(t testing.TB, method string, set ...string) config.Resolved {
	t.Helper()
	root := t.TempDir()
	writeRows(t, filepath.Join(root, "source.csv"), 150, 0, trueLabel)
	writeRows(t, filepath.Join(root, "scans.csv"), 75, 0.1, trueLabel)
	writeRows(t, filepath.Join(root, "target.csv"), 120, 0.3, trueLabel)
	text := strings.ReplaceAll(strings.Replace(files, "sketches: {", "scans: {path: scans.csv}, sketches: {", 1), "ROOT", root)
	return resolveText(t, text, "full", method, 1, append([]string{"tasks=[{source: [flat-photos, scans], target: sketches}]"}, set...)...)
}

// Each source has its own weights, in the results and their files, and pooled sources share them.
func TestWeightsOfSources(t *testing.T) {
	near := func(got, want []float64) bool {
		return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	}
	dir, result := train(t, twoSources(t, "iwdan", "train.epochs=8", "train.validation=0.2"))
	if result.Task != "flat-photos+scans-sketches" || len(result.Sources) != 2 || result.LastAccuracy.Value < 0.95 {
		t.Fatalf("%s, %v, accuracy %v", result.Task, result.Sources, result.LastAccuracy)
	}
	shares := make([]float64, 3) // of the target, by the mean of both
	for i, want := range []struct {
		name  string
		truth []float64
	}{{"flat-photos", []float64{.6, .6, 1.8}}, {"scans", []float64{1, 1, 1}}} {
		of := result.Sources[i]
		if of.Name != want.name || !near(of.TrueWeights, want.truth) || of.WeightDistance.Value > 0.4 {
			t.Errorf("%s: true weights %v, want %v; weights %v", of.Name, of.TrueWeights, want.truth, of.Weights)
		}
		for y := range shares {
			shares[y] += of.Weights[y] * of.Shares[y] / 2
		}
	}
	if !near(result.WithoutLabels.EstimatedShares, shares) {
		t.Errorf("shares %v, by the sources %v", result.WithoutLabels.EstimatedShares, shares)
	}
	updates := must.Have(dir.ReadWeights())(t)
	if n := len(updates); n < 4 || !slices.Equal(updates[n-2].Weights, result.Sources[0].Weights) || !slices.Equal(updates[n-1].Weights, result.Sources[1].Weights) {
		t.Errorf("updates %+v", updates)
	}
	for i, u := range updates {
		if want := result.Sources[i%2].Name; u.Source != want || u.Step != updates[i-i%2].Step {
			t.Errorf("line %d: of %s after step %d", i, u.Source, u.Step)
		}
	}
	if kept := keptStatistics(t, dir); len(kept.Steps) != len(updates) {
		t.Errorf("statistics of %d updates, not %d", len(kept.Steps), len(updates))
	}
	if read, err := dir.ReadResult(); err != nil || !slices.Equal(read.Sources[1].Weights, result.Sources[1].Weights) {
		t.Errorf("result.json: %v, %v", read.Sources, err)
	}

	_, pooled := train(t, twoSources(t, "iwdan", "dataset.pool=true"))
	if pooled.Sources != nil || !near(pooled.TrueWeights, []float64{.2 / (65. / 225), .2 / (65. / 225), .6 / (95. / 225)}) {
		t.Errorf("pooled: %v, true weights %v", pooled.Sources, pooled.TrueWeights)
	}
	oracle := makeTrainer(t, twoSources(t, "iwdan-o"), Options{Threads: 1, Log: &bytes.Buffer{}})
	for i, of := range oracle.classWeights.inLosses {
		for y, weight := range torch.ToSlice[float32](of) {
			if math.Abs(float64(weight)-oracle.classWeights.Sources[i].Truth[y]) > 1e-6 {
				t.Errorf("the oracle's weight %d of source %d is %v", y, i, weight)
			}
		}
	}
	if err := oracle.close(); err != nil {
		t.Error(err)
	}
}

// Two copies of one source have its losses; of two that differ, the one that the classifier is better at counts
// more.
func TestLossesOfSources(t *testing.T) {
	for _, method := range []string{"source-only", "dann", "iwdan", "iwcdan-e", "iwjan", "mcc"} {
		tr := makeTrainer(t, twoSources(t, method, "discriminator.dropout=0", "train.domain_from_epoch=1"), Options{Threads: 1, Log: &bytes.Buffer{}})
		torch.Tidy(func() {
			b := must.Have(tr.data.feed.next(t.Context()))(t)
			f := tr.model.forward(tr.model.inputs(b), method != "source-only")
			weights := []torch.Tensor{torch.FromSlice([]float32{.5, 1, 2}, 3), torch.FromSlice([]float32{1, 2, .5}, 3)}
			// losses are those of these sources, and the alignments' number among the pairs.
			losses := func(of ...int) lossTensors {
				var features, logits, labels []torch.Tensor
				var w []torch.Tensor
				o := *tr.objective
				o.pairs = nil
				for _, source := range of {
					one := f.ofSource(source, 2)
					features, logits = append(features, one.features.Narrow(0, 0, 16)), append(logits, one.logits.Narrow(0, 0, 16))
					labels, w = append(labels, one.labels), append(w, weights[source])
					o.pairs = append(o.pairs, tr.objective.pairs[source])
				}
				if method != "source-only" {
					features, logits = append(features, f.features.Narrow(0, 32, 16)), append(logits, f.logits.Narrow(0, 32, 16))
				}
				together := stepOutputs{features: torch.Cat(0, features...), logits: torch.Cat(0, logits...), labels: torch.Cat(0, labels...)}
				aligned, coefficients := o.next(position{epoch: 1, step: 3})
				return o.losses(together, aligned, numbers(coefficients), w)
			}
			values := func(l lossTensors) []float64 {
				all := []float64{l.classification.Item(), l.minimised.Item()}
				if l.aligned {
					all = append(all, l.domain.Item())
				}
				return all
			}
			near := func(got, want []float64) bool {
				return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-5 })
			}
			first, second, both := values(losses(0)), values(losses(1)), values(losses(0, 1))
			if copies := values(losses(0, 0)); !near(copies, first) || near(first, second) {
				t.Errorf("%s: two copies have the losses %v, one %v, the other source %v", method, copies, first, second)
			}
			a, c := math.Exp(-first[0]), math.Exp(-second[0])
			want := make([]float64, len(first))
			for i := range want {
				want[i] = (a*first[i] + c*second[i]) / (a + c)
			}
			if !near(both, want) {
				t.Errorf("%s: losses %v, want %v", method, both, want)
			}
		})
		if err := tr.close(); err != nil {
			t.Error(err)
		}
	}
}

// What is wrong with a source's rows names the source.
func TestMistakesOfSources(t *testing.T) {
	for want, scans := range map[string]string{
		`the source scans of flat-photos+scans-sketches has no row of class "cow"`:       "x,y,label\n1,2,cat\n1,1,dog\n",
		`the source flat-photos of flat-photos+scans-sketches has no row of class "owl"`: "x,y,label\n1,2,cat\n1,1,owl\n",
		`scans.csv:1: there is no column "y"`:                                            "x,z,label\n1,2,cat\n",
		`scans.csv: no row has a label; the source needs labels`:                         "x,y\n1,2\n",
	} {
		run := twoSources(t, "iwdan")
		testfiles.Write(t, filepath.Join(run.Dataset.Root, "scans.csv"), scans)
		must.Refuse(Run(t.Context(), run, begin(t, run), Options{Threads: 1}))(t, want)
	}
	run := twoSources(t, "iwdan", "train.validation=0.2")
	testfiles.Write(t, filepath.Join(run.Dataset.Root, "scans.csv"), "x,y,label\n1,2,cat\n1,1,dog\n1,1,cow\n")
	must.Refuse(Run(t.Context(), run, begin(t, run), Options{Threads: 1}))(t, `one row of class "cat in scans"`)
}

package train

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/config"
	"iwda/experiments/measure"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/network"
	"iwda/experiments/store"
	"iwda/inference/classshares"
	"iwda/internal/must"
	"iwda/nets"
	"iwda/torch"
)

// evaluateSaved evaluates the model of a run's folder on the run's test set.
func evaluateSaved(t *testing.T, run config.Resolved, dir store.Dir) (savedmodel.Model, measure.Confusion) {
	t.Helper()
	m := must.Have(savedmodel.Trust{}.Open(dir.String()))(t)
	d := opened(t, run)
	counts := measure.NewConfusion(len(d.Classes))
	e := evaluator{logitsOf(networkOf(t, m)), 20, torch.CPU}
	must.Do(t, e.evaluate(context.Background(), d.onTest, counts))
	return m, counts
}

// networkOf is the network of a model.
func networkOf(t *testing.T, m savedmodel.Model) nets.Network {
	t.Helper()
	allowed := ""
	if b := m.Architecture.Backbone; b != nil {
		allowed = b.SHA256
	}
	return must.Have(network.New(m, allowed))(t)
}

func equalConfusion(a, b [][]int) bool {
	return slices.EqualFunc(a, b, func(x, y []int) bool { return slices.Equal(x, y) })
}

// normalised scales numbers to a sum of 1.
func normalised(shares []float64) []float64 {
	floats.Scale(1/floats.Sum(shares), shares)
	return shares
}

func nearShares(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d shares, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// A finished run is a model: its network makes the run's own predictions, and its shares
// follow from its loss.
func TestFinishedRunIsAModel(t *testing.T) {
	for _, c := range []struct {
		method     string
		set        []string
		classifier func(store.Result) []float64
	}{
		{"source-only", nil, func(r store.Result) []float64 { return r.LabelDistributions.Source }},
		{"cdan+wda", nil, func(r store.Result) []float64 { return r.LabelDistributions.Source }},
		{"iwdan", nil, func(store.Result) []float64 { return slices.Repeat([]float64{0.1}, 10) }},
		{"iwdan", []string{"losses.classification=weighted-balanced-released"}, func(store.Result) []float64 { return slices.Repeat([]float64{0.1}, 10) }},
		{"iwdan", []string{"losses.classification=weighted-balanced"}, func(r store.Result) []float64 { return r.Weights }},
		{"iwdan-o", []string{"losses.classification=weighted-balanced"}, func(r store.Result) []float64 { return r.TrueWeights }},
	} {
		t.Run(c.method+strings.Join(c.set, ""), func(t *testing.T) {
			run := resolve(t, "subsampled", c.method, 1, append(c.set, "train.epochs=2")...)
			dir, result := train(t, run)
			m, counts := evaluateSaved(t, run, dir)
			if !equalConfusion(counts, result.Confusion) {
				t.Errorf("confusion %v, the run's own is %v", counts, result.Confusion)
			}
			nearShares(t, "source", m.Shares.Source, result.LabelDistributions.Source)
			want := slices.Clone(c.classifier(result))
			for i := range want {
				want[i] = max(want[i], measure.LeastWeight)
			}
			nearShares(t, "classifier", m.Shares.Classifier, normalised(want))
			target := slices.Clone(result.Weights)
			for i := range target {
				target[i] *= result.LabelDistributions.Source[i]
			}
			nearShares(t, "target", m.Shares.Target, normalised(target))
			// Bytes of an image become (x/255 - 0.5)/0.5.
			values := make([]float32, 28*28)
			values[1] = 1
			m.Normalise(values)
			if values[0] != -1 || values[1] != 1 {
				t.Errorf("pixels 0 and 1 become %v and %v", values[0], values[1])
			}
			if m.Provenance["config_hash"] != run.Hash() || m.Versions["iwda"] == "" {
				t.Errorf("%v, %v", m.Provenance, m.Versions)
			}
		})
	}
}

func TestModelOfFeatures(t *testing.T) {
	text, _ := gaussians(t)
	savedModelOf(t, resolveText(t, text, "full", "iwdan", 1, "train.epochs=1"))
}

// savedModelOf trains a run on features and checks that the model which it leaves is its network.
func savedModelOf(t *testing.T, run config.Resolved) {
	t.Helper()
	dir, result := train(t, run)
	m, counts := evaluateSaved(t, run, dir)
	if !equalConfusion(counts, result.Confusion) {
		t.Errorf("confusion %v, the run's own is %v", counts, result.Confusion)
	}
	if m.Input.Kind != savedmodel.Features || m.Input.Shape[0] != 20 || m.Normalisation.Kind != normalise.None {
		t.Errorf("input %v, normalisation %v", m.Input, m.Normalisation)
	}
	alone := filepath.Join(t.TempDir(), "model")
	must.Do(t, savedmodel.Save(alone, m))
	again := must.Have(savedmodel.Trust{}.Open(filepath.Dir(alone)))(t)
	torch.Tidy(func() {
		x := torch.RandN(torch.Float32, 5, 20)
		_, want := networkOf(t, m).Forward(x, false)
		_, got := networkOf(t, again).Forward(x, false)
		if !slices.Equal(torch.ToSlice[float32](got), torch.ToSlice[float32](want)) {
			t.Error("the saved folder gives other logits than the run's")
		}
	})
}

// The target's shares are estimated from held-out rows, whether the class weights were
// ever updated or not; without either there is no estimate, rather than the source's shares.
func TestTargetSharesWithoutWeightUpdate(t *testing.T) {
	const never = "weights.every=100"
	run := ownRun(t, "iwdan", trueLabel, never, "train.validation=0.2")
	dir, result := train(t, run)
	about := must.Have(savedmodel.ReadMetadata(dir.String()))(t)
	if !slices.Equal(result.Weights, []float64{1, 1, 1}) {
		t.Errorf("weights %v, of which none was to be updated", result.Weights)
	}
	for class, want := range []float64{0.2, 0.2, 0.6} { // equal in the source
		if got := about.Shares.Target[class]; math.Abs(got-want) > 0.05 {
			t.Errorf("target's shares %.3f, those of class %d are %v", about.Shares.Target, class, want)
		}
	}
	if known := result.WithoutLabels; known.EstimatedShares != nil || !floats.EqualApprox(known.LikelyShares, about.Shares.Target, 1e-6) {
		t.Errorf("estimated shares %v and likely ones %v in the result, %v in the model", known.EstimatedShares, known.LikelyShares, about.Shares.Target)
	}
	for _, labels := range []labelling{nil, trueLabel} {
		dir, result = train(t, ownRun(t, "iwdan", labels, never))
		about = must.Have(savedmodel.ReadMetadata(dir.String()))(t)
		if about.Shares.Target != nil || result.CorrectedAccuracy.Measured || result.WithoutLabels != nil && result.WithoutLabels.EstimatedShares != nil {
			t.Errorf("an estimate from nothing: %v, %v, %+v", about.Shares.Target, result.CorrectedAccuracy, result.WithoutLabels)
		}
	}
}

// A calibration on held-out rows speaks for their class shares, and without a row of a
// class it leaves those of the loss.
func TestCalibrationOfARun(t *testing.T) {
	run := resolve(t, "subsampled", "iwdan", 1, "train.epochs=1")
	tr := makeTrainer(t, run, Options{Threads: 1})
	defer tr.close()
	values, labels := make([]float32, 28*28*40), make([]int, 40)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = float32(random.NormFloat64())
	}
	for i := range labels {
		labels[i] = min(i, 39-i, 9)
	}
	set := noise{values, labels, tr.data.Classes}
	tr.data.onHeldOut = inMemory{set}
	about := must.Have(aboutNow(tr))(t)
	if c := about.Calibration; c == nil || c.Form != classshares.DefaultCalibration {
		t.Fatalf("calibration %+v", about.Calibration)
	}
	nearShares(t, "classifier", about.Shares.Classifier, datasets.KnownLabels(labels).Shares(10))
	// At the optimum of the biases mean probabilities are the shares of the labels, along their
	// logarithms, where no penalty is.
	mean, along := make([]float64, 10), 0.0
	torch.Tidy(func() {
		_, logits := tr.model.network.Forward(torch.FromSlice(values, 40, 1, 28, 28), false)
		probabilities := must.Have(about.Probabilities(torch.ToSlice[float32](logits), nil))(t)
		for i, p := range probabilities {
			mean[i%10] += p / 40
		}
	})
	for y, share := range about.Shares.Classifier {
		along += (mean[y] - share) * math.Log(40*share+0.5)
	}
	if math.Abs(along) > 1e-6 {
		t.Errorf("mean probabilities %.4f, shares %.4f", mean, about.Shares.Classifier)
	}

	tr.data.onHeldOut = inMemory{noise{values[:28*28*5], labels[:5], tr.data.Classes}}
	about = must.Have(aboutNow(tr))(t)
	if c := about.Calibration; c == nil || c.Form == classshares.DefaultCalibration {
		t.Errorf("calibration %+v of classes without rows", about.Calibration)
	}
	nearShares(t, "classifier", about.Shares.Classifier, slices.Repeat([]float64{0.1}, 10))
}

// aboutNow describes the model of a trainer as at its end.
func aboutNow(t *trainer) (savedmodel.Metadata, error) {
	described, err := about(t.run, t.data, t.model)
	if err != nil {
		return described, err
	}
	err = t.finished().Conclude(context.Background(), t.dir, &store.Result{}, described, finite{}, func(m savedmodel.Metadata) error {
		described = m
		return nil
	})
	return described, err
}

// noise is a set of images that are noise.
type noise struct {
	values  []float32
	labels  []int
	classes []string
}

func (n noise) Name() string                        { return "noise" }
func (n noise) Len() int                            { return len(n.labels) }
func (n noise) Shape() []int                        { return []int{1, 28, 28} }
func (n noise) ClassNames() []string                { return n.classes }
func (n noise) Label(i int) (class int, known bool) { return n.labels[i], true }
func (n noise) CopyRow(dst []float32, i int)        { copy(dst, n.values[i*28*28:]) }

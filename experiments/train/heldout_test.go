package train

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"iwda/classshares"
	"iwda/experiments/config"
	savedmodel "iwda/experiments/model"
	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/shifttest"
)

// needingHeldOutRows are the estimators that read source rows which a run holds out.
func needingHeldOutRows(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range weightest.EstimatorNames() {
		needs, err := weightest.RequirementOf(name)
		if err != nil {
			t.Fatal(err)
		}
		if needs != weightest.TrainingStatistics {
			names = append(names, name)
		}
	}
	if len(names) < 5 {
		t.Fatalf("only %v", names)
	}
	return names
}

// The last update's weights are those that the estimator makes of what the finished network
// says of held-out and target rows, calibrated first where the estimator is mlls, whose shares
// are divided by those of the rows that are weighted.
func TestWeightsFromHeldOutRows(t *testing.T) {
	for _, name := range needingHeldOutRows(t) {
		run := ownRun(t, "iwdan", nil, "train.validation=0.3", "weights.estimator="+name, "weights.ema=0", "train.epochs=8")
		dir, result := train(t, run)
		outputs, err := dir.ReadOutputs()
		if err != nil {
			t.Fatal(err)
		}
		form := "none"
		if name == "mlls" {
			form = classshares.DefaultCalibration
		}
		heldOut := weightest.Widen(outputs.HeldOut)
		c, err := calibration.Calibrate(form, heldOut, outputs.HeldOutLabels, 3)
		if err != nil {
			t.Fatal(err)
		}
		sample := weightest.NewSample(3)
		if err := sample.AddSource(c.Probabilities(heldOut), outputs.HeldOutLabels); err != nil {
			t.Fatal(err)
		}
		if err := sample.AddTarget(c.Probabilities(weightest.Widen(outputs.Target))); err != nil {
			t.Fatal(err)
		}
		problem, err := sample.Problem()
		if err != nil {
			t.Fatal(err)
		}
		estimator, err := weightest.NewEstimator(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := estimator.Estimate(problem)
		if err != nil {
			t.Fatal(err)
		}
		if name == "mlls" { // its weights are over the shares of the rows that are trained on
			about, err := savedmodel.ReadMetadata(dir.String())
			if err != nil {
				t.Fatal(err)
			}
			for class, share := range about.Shares.Source {
				want.Weights[class] = want.TargetDistribution[class] / share
			}
		}
		if problem.SourceRows != 45 || problem.TargetRows != 120 || !slices.Equal(result.Weights, want.Weights) {
			t.Errorf("%s: weights %v; of %d and %d rows the estimate is %v", name, result.Weights, problem.SourceRows, problem.TargetRows, want.Weights)
		}
		test, err := shifttest.LabelShiftTest(sample, shifttest.LabelShiftSettings{Resamples: 99, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		metrics, err := dir.ReadMetrics()
		if err != nil {
			t.Fatal(err)
		}
		if last := metrics[len(metrics)-1].LabelShiftP; !last.Measured || last.Value != test.P || metrics[0].LabelShiftP.Measured {
			t.Errorf("%s: label shift has p %+v, want %v", name, last, test.P)
		}
		// The target's true shares are 1/5, 1/5 and 3/5.
		if math.Abs(result.Weights[2]-1.8) > 0.25 {
			t.Errorf("%s: weights %v, true are 0.6 0.6 1.8", name, result.Weights)
		}
	}
}

// Interrupted anywhere, also within an update's pass over the rows, a run that estimates
// from held-out rows comes to the same bits, and no target label has a part in them.
func TestHeldOutRowsAndResume(t *testing.T) {
	for _, name := range []string{"mlls", "rlls-soft"} {
		set := []string{"train.validation=0.3", "weights.estimator=" + name, "train.eval_batch=20"}
		whole, _ := train(t, ownRun(t, "iwcdan", trueLabel, set...))
		dir, pieces := finishInPieces(t, ownRun(t, "iwcdan", trueLabel, set...), 40)
		if diff := outcomeOf(t, whole).diff(outcomeOf(t, dir)); diff != "" || pieces < 3 {
			t.Errorf("%s: in %d pieces the run ends otherwise: %s", name, pieces, diff)
		}
		wrong, _ := train(t, ownRun(t, "iwcdan", labellings["wrong"], set...))
		sameTraining(t, name+", wrong labels", outcomeOf(t, whole), outcomeOf(t, wrong))
	}
}

// trainerOf returns a run before its first step.
func trainerOf(t *testing.T, run config.Resolved) *trainer {
	t.Helper()
	trainer, err := newTrainer(t.Context(), run, begin(t, run), Options{Threads: 1, Log: &bytes.Buffer{}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := trainer.close(); err != nil {
			t.Error(err)
		}
	})
	return trainer
}

// The target's rows are those that are trained on, not those of the test set.
func TestHeldOutRowsOfTheTarget(t *testing.T) {
	trainer := trainerOf(t, resolve(t, "full", "iwdan", 1, "train.validation=0.2", "weights.estimator=mlls"))
	var rows *estimationRows
	if err := try(func() (err error) { rows, err = readHeldOut(t.Context(), trainer.evaluator, trainer.data); return err }); err != nil {
		t.Fatal(err)
	}
	if rows.target.seen != 200 || len(rows.target.logits) != 2000 || len(rows.source.labels) != 40 {
		t.Errorf("%d target and %d source rows, want 200 and 40", rows.target.seen, len(rows.source.labels))
	}
}

// With a frozen backbone, held-out and target rows are its features.
func TestHeldOutRowsOfImages(t *testing.T) {
	office := drawOffice(t, 4)
	run := resolveOffice(t, office, "full", "iwjan", "network.views=2", "train.validation=0.5", "weights.estimator=bbse-soft", "weights.every=1", "weights.warmup=0", "train.steps=4", "train.eval_every=2")
	dir, _ := train(t, run)
	updates, err := dir.ReadWeights()
	if err != nil {
		t.Fatal(err)
	}
	if len(updates) == 0 || strings.Contains(updates[0].Note, "former weights stay") || updates[0].Weights[0] == 1 {
		t.Errorf("updates %+v", updates)
	}
}

// Rows that give no estimate leave the weights as they are and say why.
func TestHeldOutRowsWithoutEstimate(t *testing.T) {
	trainer := trainerOf(t, ownRun(t, "iwdan", nil, "train.validation=0.3", "weights.estimator=mlls", "weights.warmup=0"))
	rows := &estimationRows{
		source: outputs{logits: []float32{1, 0, 0, 0, 2, 0, 2, 0, 0, 0, 1, 0}, labels: []int{0, 1, 0, 1}},
		target: outputs{logits: []float32{1, 0, 0}},
	}
	update, err := trainer.classWeights.update(rows)
	if err != nil || !slices.Equal(update.Weights, []float64{1, 1, 1}) ||
		!strings.Contains(update.Note, "class 2 has no held-out row") || !strings.Contains(update.Note, "former weights stay") {
		t.Errorf("%+v, error %v", update, err)
	}
	rows.source.logits[0] = float32(math.NaN())
	if _, err := trainer.classWeights.update(rows); err == nil {
		t.Error("a network that says NaN is no error")
	}
}

// What calibration says stands in the record.
func TestHeldOutRowsKeepTheCalibrationsNote(t *testing.T) {
	trainer := trainerOf(t, ownRun(t, "iwdan", nil, "train.validation=0.3", "weights.estimator=mlls", "weights.warmup=0"))
	rows := &estimationRows{ // far apart: they do not tell for what class shares the network speaks
		source: outputs{logits: []float32{90, 0, 0, 90, 0, 0, 0, 90, 0, 0, 0, 90}, labels: []int{0, 0, 1, 2}},
		target: outputs{logits: []float32{3, 0, 0, 2, 1, 0}},
	}
	update, err := trainer.classWeights.update(rows)
	if err != nil || !strings.Contains(update.Note, "bcts-ridge has no optimum") || slices.Equal(update.Weights, []float64{1, 1, 1}) {
		t.Errorf("%+v, error %v", update, err)
	}
}

// The statistics of the training passes are nobody's where the estimate is that of
// held-out rows.
func TestNoStatisticsBesideHeldOutRows(t *testing.T) {
	trainer := trainerOf(t, ownRun(t, "iwdan", nil, "train.validation=0.3", "weights.estimator=bbse-soft"))
	if err := trainer.classWeights.observe([]float32{1, 0, 0, 0, 1, 0}, []int{0}); err != nil || trainer.classWeights.statistics.SourceRows() != 0 {
		t.Errorf("%d rows, error %v", trainer.classWeights.statistics.SourceRows(), err)
	}
}

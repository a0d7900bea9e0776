package train

import (
	"math"
	"slices"
	"testing"

	savedmodel "iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/torch"
)

// A run that is to keep the selected network leaves that of the epoch which its evidence says,
// has trained like one that keeps the last, and comes to the same when it is interrupted.
func TestSelectedNetworkIsKept(t *testing.T) {
	set := []string{"train.validation=0.3", "train.epochs=8", "selection.rule=source-accuracy"}
	lastDir, last := train(t, ownRun(t, "iwdan", trueLabel, set...))
	run := ownRun(t, "iwdan", trueLabel, append(set, "train.keep=selected")...)
	dir, result := train(t, run)
	metrics, err := dir.ReadMetrics()
	if err != nil {
		t.Fatal(err)
	}
	want := 1 // the first of the best, the untrained network aside
	for epoch := 2; epoch < len(metrics); epoch++ {
		if metrics[epoch].ValidationAccuracy.Value > metrics[want].ValidationAccuracy.Value {
			want = epoch
		}
	}
	if want == 8 {
		t.Fatal("the last epoch is the best: this tests nothing")
	}
	if s := result.Selected; s == nil || s.Epoch != want || s.Accuracy != metrics[want].Accuracy || !s.Kept || s.Rule != "source-accuracy" {
		t.Fatalf("selected %+v, want epoch %d, accuracy %v", result.Selected, want, metrics[want].Accuracy)
	}
	if s := last.Selected; s == nil || s.Epoch != want || s.Kept {
		t.Errorf("a run that keeps the last network selects %+v", last.Selected)
	}
	m, err := savedmodel.Open(dir.String())
	if err != nil {
		t.Fatal(err)
	}
	d, err := openData(run)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	counts := newConfusion(3)
	loss := &crossEntropy{}
	e := evaluator{network: m.Network, batchSize: run.Train.EvalBatch, device: torch.CPU}
	if err := e.evaluate(t.Context(), d.onTest, counts); err != nil {
		t.Fatal(err)
	}
	if err := e.evaluate(t.Context(), d.onHeldOut, loss); err != nil {
		t.Fatal(err)
	}
	if counts.accuracy() != metrics[want].Accuracy || loss.mean() != metrics[want].ValidationLoss {
		t.Errorf("the network left has accuracy %v and loss %v, epoch %d had %v and %v", counts.accuracy(), loss.mean(), want, metrics[want].Accuracy, metrics[want].ValidationLoss)
	}
	if loss := result.WithoutLabels.Validation.Loss; loss != metrics[want].ValidationLoss.Value {
		t.Errorf("the result's loss on held-out rows is %v", loss)
	}
	lastMetrics, err := lastDir.ReadMetrics()
	if err != nil {
		t.Fatal(err)
	}
	for i := range metrics {
		metrics[i].Seconds, lastMetrics[i].Seconds = 0, 0
	}
	if store.FormatMetrics(metrics) != store.FormatMetrics(lastMetrics) {
		t.Error("what is kept changes what is trained")
	}
	pieces, n := finishInPieces(t, run, 23)
	if diff := outcomeOf(t, dir).diff(outcomeOf(t, pieces)); diff != "" || n < 3 {
		t.Errorf("in %d pieces: %s", n, diff)
	}
}

// The default rule judges all epochs by the shares that the network before the alignment
// estimates, which all methods share.
func TestEpochsAreSelectedByTheSharesBeforeAlignment(t *testing.T) {
	for _, method := range []string{"source-only", "iwcdan"} {
		dir, result := train(t, ownRun(t, method, nil, "train.validation=0.3", "train.domain_from_epoch=4", "train.epochs=8", "selection.rule=iwv-y"))
		evidence, err := dir.ReadEvidence()
		if err != nil {
			t.Fatal(err)
		}
		best, risk := 0, math.Inf(1)
		for _, e := range evidence[3:] {
			if value := e.Risk(evidence[3].Estimated); value < risk {
				best, risk = e.Epoch, value
			}
		}
		if result.Selected == nil || result.Selected.Epoch != best || result.Selected.Accuracy.Measured {
			t.Errorf("%s: selected %+v, want epoch %d", method, result.Selected, best)
		}
		if slices.Equal(evidence[3].Estimated, evidence[8].Estimated) {
			t.Errorf("%s: the shares never changed", method)
		}
	}
}

package train

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	savedmodel "iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/selection"
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

// Rules judge all epochs by the shares that the network before the alignment
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

// By default a run selects its last epoch, unless the lowest risk is clearly below that one's;
// by iwv-y it is the lowest risk in any case.
func TestLastEpochIsGuarded(t *testing.T) {
	for name, c := range map[string]struct {
		rule   string
		losses []float64 // of class 1, from epoch 1, with a standard error of 0.1 each
		want   int
	}{
		"not clearly": {selection.GuardedRisk, []float64{0.5, 0.3, 0.6, 0.5}, 4}, // 0.2 is below 1.5 · √2 · 0.1
		"clearly":     {selection.GuardedRisk, []float64{0.5, 0.3, 0.1, 0.5}, 3},
		"lowest":      {"iwv-y", []float64{0.5, 0.3, 0.6, 0.5}, 2},
		"last":        {selection.GuardedRisk, []float64{0.5, 0.3, 0.2, 0.1}, 4},
	} {
		r := newRecord(2)
		s := &selector{rule: c.rule, first: 1, record: r, shares: []float64{0, 1}}
		for i, loss := range append([]float64{9}, c.losses...) {
			r.metrics = append(r.metrics, store.Metrics{Epoch: i, Step: 10 * i, Accuracy: store.Measured(0.1 * float64(i))})
			r.addEvidence(&selection.Evidence{Losses: []float64{0, loss}, Errors: []float64{0, 0.1}, Shares: []float64{0.5, 0.5}, Estimated: []float64{0, 1}})
			s.consider()
		}
		got, err := s.finish()
		want := &store.Selected{Epoch: c.want, Rule: c.rule, Accuracy: store.Measured(0.1 * float64(c.want))}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// By guarded-ami it is the highest mean of an epoch and the two before, if that is clearly above
// the last one's. The network before training counts in none.
func TestClusterAgreementIsGuarded(t *testing.T) {
	for name, c := range map[string]struct {
		agreement []float64 // from the network before training on
		want      int
	}{
		"a peak of one epoch": {[]float64{0.9, 0.5, 0.5, 0.61, 0.5, 0.5, 0.5}, 6}, // a mean of 0.537
		"a high stretch":      {[]float64{0, 0.5, 0.7, 0.7, 0.7, 0.5, 0.5}, 4},
		"a lower last epoch":  {[]float64{0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.45}, 6},
	} {
		r := newRecord(2)
		s := &selector{rule: selection.GuardedAMI, first: 1, record: r}
		for i, value := range c.agreement {
			r.metrics = append(r.metrics, store.Metrics{Epoch: i, Step: 10 * i, Criteria: map[string]float64{"class-ami": value}})
			r.addEvidence(&selection.Evidence{Losses: []float64{0, 0}, Errors: []float64{0, 0}, Shares: []float64{0.5, 0.5}})
			s.consider()
		}
		if got, err := s.finish(); err != nil || got.Epoch != c.want {
			t.Errorf("%s: %+v, %v; want epoch %d", name, got, err, c.want)
		}
	}
}

// A run of which the rule prefers the last network to the one of the lowest risk leaves the last.
func TestGuardedNetworkIsKept(t *testing.T) {
	left := func(more ...string) (store.Outputs, int) {
		set := []string{"train.validation=0.3", "train.epochs=8", "train.optimizer.lr=1"}
		dir, result := train(t, ownRun(t, "source-only", trueLabel, append(set, more...)...))
		outputs, err := dir.ReadOutputs()
		if err != nil {
			t.Fatal(err)
		}
		return outputs, result.Selected.Epoch
	}
	last, _ := left()
	lowest, epoch := left("train.keep=selected", "selection.rule=iwv-y")
	if epoch == 8 || cmp.Equal(last, lowest) {
		t.Fatalf("the lowest risk is that of epoch %d: this tests nothing", epoch)
	}
	if guarded, epoch := left("train.keep=selected"); epoch != 8 || !cmp.Equal(last, guarded) {
		t.Errorf("selected epoch %d, and the network left is not the last", epoch)
	}
}

package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"iwda/experiments/measure"
	"iwda/internal/must"
	"iwda/nets"
	"iwda/torch"
	"iwda/weightest"
)

// What was measured before libtorch failed is on disk, the update of the class weights
// since the last evaluation too.
func TestTorchErrorKeepsWhatWasMeasured(t *testing.T) {
	run := resolve(t, "full", "iwdan", 1)
	dir := begin(t, run)
	tr := must.Have(newTrainer(t.Context(), run, dir, Options{Threads: 1}, time.Now()))(t)
	tr.data.onTest = &refusing{rowReader: tr.data.onTest, at: 2}
	_, err := completeWithRestarts(t.Context(), tr)
	var failed *torch.Error
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "out of memory") {
		t.Fatalf("error %v", err)
	}
	metrics, err := dir.ReadMetrics()
	if err != nil || len(metrics) != 1 {
		t.Errorf("%d evaluations on disk, want 1; error %v", len(metrics), err)
	}
	updates, err := dir.ReadWeights()
	if err != nil || len(updates) != 1 {
		t.Errorf("%d updates of the class weights on disk, want 1; error %v", len(updates), err)
	}
	if dir.Worked() {
		t.Error("a run that failed wrote a checkpoint")
	}
}

// refusing are rows of which libtorch has no memory for one of the passes, from 1.
type refusing struct {
	rowReader
	at, passes int
}

func (r *refusing) batches(ctx context.Context, size int) iter.Seq2[rowBatch, error] {
	if r.passes++; r.passes == r.at {
		panic(&torch.Error{Op: "convolution", Msg: "out of memory"})
	}
	return r.rowReader.batches(ctx, size)
}

// A loss that is not finite ends within a step, also where the run is cancelled at that
// moment: no checkpoint is written of it.
func TestNoCheckpointOfAStepThatFailed(t *testing.T) {
	run := resolve(t, "full", "dann", 1, "train.optimizer.lr=1e12")
	dir := begin(t, run)
	// The looks are those of the first evaluation and before steps 1 and 2.
	_, err := Run(&fuse{t.Context(), 3}, run, dir, Options{Threads: 1})
	var diverged *DivergedError
	if !errors.As(err, &diverged) {
		t.Fatalf("error %v", err)
	}
	if dir.Worked() {
		t.Error("the run wrote a checkpoint")
	}
}

// failing is an estimator that finds no weights.
type failing struct {
	weightest.Estimator
	err error
}

func (f failing) Estimate(weightest.Problem) (weightest.Estimate, error) {
	return weightest.Estimate{}, f.err
}

// An estimate that cannot be had leaves the weights alone, and of what was not measured
// there is neither a number in the file nor one in the log.
func TestFailedEstimate(t *testing.T) {
	run := resolve(t, "full", "iwdan", 1)
	dir, log := begin(t, run), &strings.Builder{}
	tr, err := newTrainer(t.Context(), run, dir, Options{Threads: 1, Log: log}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	settings := weightest.TrackerSettings{Estimator: failing{err: fmt.Errorf("%w: as it were", weightest.ErrInfeasible)}}
	tr.classWeights.sources[0].tracker = must.Have(weightest.NewTracker(10, settings))(t)
	must.Have(completeWithRestarts(t.Context(), tr))(t)
	updates, err := dir.ReadWeights()
	if err != nil || len(updates) != 3 {
		t.Fatalf("updates %+v, error %v", updates, err)
	}
	for _, u := range updates {
		if !math.IsNaN(u.SmallestSingular) || u.EffectiveSampleSize != 1 || !slices.Equal(u.Weights, slices.Repeat([]float64{1}, 10)) {
			t.Errorf("update %+v", u)
		}
		if !strings.Contains(u.Note, "as it were: the former weights stay") || !strings.Contains(log.String(), u.Note) {
			t.Errorf("note %q, log\n%s", u.Note, log)
		}
	}
	if strings.Contains(log.String(), "singular value") {
		t.Errorf("log\n%s", log)
	}
}

// closing is a feed that cannot be closed.
type closing struct {
	feed
	err error
}

func (c closing) close() error { return c.err }

// What goes wrong when a run is closed does not hide why it ended.
func TestCloseErrorComesSecond(t *testing.T) {
	run := resolve(t, "full", "dann", 1)
	stuck := errors.New("device busy")
	for name, test := range map[string]struct {
		refused int
		want    []string
	}{
		"torch error": {1, []string{"out of memory", "device busy"}},
		"none":        {0, []string{"device busy"}},
	} {
		tr := makeTrainer(t, run, Options{Threads: 1, Log: io.Discard})
		tr.data.onTest = &refusing{rowReader: tr.data.onTest, at: test.refused}
		tr.data.feed = closing{tr.data.feed, stuck}
		_, err := completeWithRestarts(t.Context(), tr)
		if !errors.Is(err, stuck) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		at := -1
		for _, want := range test.want {
			place := strings.Index(err.Error(), want)
			if place <= at {
				t.Errorf("%s: error %q, want %q in this order", name, err, test.want)
			}
			at = place
		}
	}
}

// A network that is not finite where it is evaluated ends the run, be it in an output or in a buffer.
func TestNotFiniteInEvaluation(t *testing.T) {
	tr := makeTrainer(t, resolve(t, "full", "source-only", 1), Options{Threads: 1, Log: io.Discard})
	torch.Tidy(func() {
		first := tr.model.state()[0]
		first.Tensor.Set(first.Tensor.Affine(1, math.Inf(1)))
		var diverged *DivergedError
		if err := tr.measure(t.Context()); !errors.As(err, &diverged) || diverged.Term != first.Name {
			t.Errorf("error %v", err)
		}
		for name, want := range map[string]bool{"backbone.layer1.0.bn1.running_var": true, "bn1.running_mean": true, "attention.mask": false} {
			if got := mustBeFinite(nets.Entry{Name: name}); got != want {
				t.Errorf("%s must be finite: %v", name, got)
			}
		}
		for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			err := finite{7}.Take(measure.Batch{Logits: []float32{1, v, 2, 3}})
			if !errors.As(err, &diverged) || diverged.Step != 7 {
				t.Errorf("%v: error %v", v, err)
			}
		}
		if err := (finite{}).Take(measure.Batch{Logits: []float32{1, -3e38, 3e38, 3e38}}); err != nil {
			t.Error(err)
		}
	})
}

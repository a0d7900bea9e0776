package train

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/torch"
)

// What a step leaves comes back as it was, also where another one waits before it.
func TestReading(t *testing.T) {
	torch.Tidy(func() {
		scalar := func(v float32) torch.Tensor { return torch.FromSlice([]float32{v}, 1).Sum() }
		r := &readings{together: 3}
		r.add(position{1, 0}, measured(stepOutputs{features: scalar(1).Reshape(1, 1), logits: scalar(1).Reshape(1, 1), probabilities: scalar(1)},
			lossTensors{classification: scalar(9)}, gradientNorms{network: []torch.Tensor{scalar(2)}}), []int{4})
		// The norms of the rows are 5 and 1, those of the logits 2 and 0.
		f := stepOutputs{
			features: torch.FromSlice([]float32{3, -4, 0, 0, 0, 1}, 2, 3), logits: torch.FromSlice([]float32{0, 2, 0, 0}, 2, 2),
			probabilities: torch.FromSlice([]float32{5, 6, 7, 8}, 2, 2),
		}
		r.add(position{1, 1}, measured(f, lossTensors{
			classification: scalar(0.5), domain: scalar(0.25), aligned: true,
			discriminator: []torch.Tensor{torch.FromSlice([]float32{1, 2}, 2), torch.FromSlice([]float32{3, -4}, 2)},
		}, gradientNorms{[]torch.Tensor{scalar(3), scalar(4)}, []torch.Tensor{scalar(7)}}), []int{1, 2})
		if r.full() {
			t.Error("two of three steps are enough")
		}
		var taken []int
		if err := r.take(2, func(step reading, v stepValues) error {
			taken = append(taken, step.at.step)
			if step.at.step == 0 {
				if v.Sums != (checkpoint.Sums{Steps: 1, Classification: 9, Total: 9, FeatureNorm: 1, LogitNorm: 1, NetworkGradient: 2}) {
					t.Errorf("first step %+v", v)
				}
				return nil
			}
			if !slices.Equal(v.predictions, []float32{5, 6, 7, 8}) || !slices.Equal(step.classes, []int{1, 2}) {
				t.Errorf("predictions %v, classes %v", v.predictions, step.classes)
			}
			want := checkpoint.Sums{
				Steps: 1, AlignedSteps: 1, DiscriminatorSteps: 1,
				Classification: 0.5, Domain: 0.25, Total: 1, FeatureNorm: math.Sqrt(13), LogitNorm: math.Sqrt(2),
				NetworkGradient: 5, DiscriminatorGradient: 7, DiscriminatorAccuracy: 0.75,
			}
			if v.Sums != want {
				t.Errorf("%+v, want %+v", v.Sums, want)
			}
			return nil
		}); err != nil || !slices.Equal(taken, []int{0, 1}) {
			t.Errorf("took %v, error %v", taken, err)
		}
	})
}

// readingTogether trains as on a device whose steps are read that many at once.
func readingTogether(t *testing.T, run config.Resolved, together int) (store.Dir, error) {
	t.Helper()
	onOneThread(t)
	dir := begin(t, run)
	trainer, err := newTrainer(t.Context(), run, dir, Options{Threads: 1, eachEpoch: true}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	trainer.readings.together = together
	_, err = completeWithRestarts(t.Context(), trainer)
	return dir, err
}

// When steps are read changes nothing in a run.
func TestReadingStepsTogetherGivesTheSameBits(t *testing.T) {
	for _, run := range []config.Resolved{
		resolve(t, "subsampled", "iwcdan", 1, "train.epochs=2"),
		resolve(t, "subsampled", "iwjan", 1, "train.epochs=2", "dataset.train_per_class=10"),
		diverging(t, 20),
		twoSources(t, "iwcdan-e", "train.domain_from_epoch=2"),
	} {
		want, _ := train(t, run)
		got, err := readingTogether(t, run, 5) // no divisor of an epoch's steps
		if err != nil {
			t.Fatal(err)
		}
		if diff := outcomeOf(t, want).diff(outcomeOf(t, got)); diff != "" {
			t.Errorf("%s, five steps at once:\n%s", run.Method, diff)
		}
	}
}

// Recorded steps read all that changes from tensors: they make the same bits, also of a run
// that goes on.
func TestRecordedStepsGiveTheSameBits(t *testing.T) {
	onOneThread(t)
	for _, run := range []config.Resolved{
		resolve(t, "subsampled", "iwcdan", 1, "train.epochs=3", "discriminator.annealed=true"),
		resolve(t, "subsampled", "iwcdan-e", 1, "train.epochs=3"),
		resolve(t, "subsampled", "iwjan", 1, "train.epochs=3", "dataset.train_per_class=10"),
		resolve(t, "full", "source-only", 1, "train.epochs=2"),
		diverging(t, 20),
	} {
		want, _ := train(t, run)
		dir, n := finishInPieces(t, run, 23, Options{Threads: 1, captured: true})
		if diff := outcomeOf(t, want).diff(outcomeOf(t, dir)); diff != "" || n < 2 {
			t.Errorf("%s, captured, in %d pieces:\n%s", run.Method, n, diff)
		}
	}
}

// A GPU captures the steps in which it need not wait for the host, unless the file says otherwise.
func TestWhichStepsAreRecorded(t *testing.T) {
	gpu := torch.CUDA(0)
	for _, test := range []struct {
		device  torch.Device
		network string
		off     bool
		want    bool
	}{
		{device: gpu, want: true},
		{device: gpu, off: true},
		{device: torch.CPU},
		{device: gpu, network: "torchscript"},
	} {
		run := resolve(t, "full", "dann", 1)
		run.Network.Name = cmp.Or(test.network, run.Network.Name)
		run.Train.Graph = run.Train.Graph && !test.off
		trainer := &trainer{run: run, options: Options{Device: test.device}}
		if got := trainer.captures(); got != test.want {
			t.Errorf("%+v: captured %v", test, got)
		}
	}
}

// A loss that is not finite is found at the next reading, named with its own step, and
// nothing is kept of what was learned from it.
func TestDivergenceIsFoundLater(t *testing.T) {
	dir, err := readingTogether(t, resolve(t, "full", "dann", 1, "train.optimizer.lr=1e12"), 50)
	var diverged *DivergedError
	if !errors.As(err, &diverged) || !strings.Contains(err.Error(), "epoch 1, step 2:") {
		t.Fatalf("error %v", err)
	}
	if metrics, err := dir.ReadMetrics(); err != nil || len(metrics) != 1 {
		t.Errorf("metrics %v, %v", metrics, err)
	}
	if dir.Worked() {
		t.Error("the run wrote a checkpoint")
	}
}

// What is not finite has diverged, and so has a loss that is too large for the run.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		loss, gradient, largest float64
		diverged                bool
	}{
		"learning":              {2, 1, largestLoss, false},
		"a large loss":          {1001, 1, largestLoss, true},
		"in a run that goes on": {1001, 1, math.Inf(1), false},
		"an endless loss":       {math.Inf(1), 1, math.Inf(1), true},
		"a gradient":            {2, math.NaN(), math.Inf(1), true},
	} {
		v := stepValues{Sums: checkpoint.Sums{Classification: c.loss, NetworkGradient: c.gradient}}
		if err := v.check(position{}, c.largest); (err != nil) != c.diverged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

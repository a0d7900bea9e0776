package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/torch"
)

// fuse is a context that is cancelled when it has been asked that often whether it is:
// between two steps, or within an evaluation.
type fuse struct {
	context.Context
	left int
}

func (f *fuse) Err() error {
	if f.left == 0 {
		return context.Canceled
	}
	f.left--
	return nil
}

// watched is a context that calls look whenever it is asked whether it is cancelled, as
// between two steps.
type watched struct {
	context.Context
	look func()
}

func (w watched) Err() error {
	w.look()
	return w.Context.Err()
}

// onOneThread keeps a test that makes a trainer on its operating system's thread, as Run does:
// how many threads libtorch uses is the thread's, and sums depend on it.
func onOneThread(t *testing.T) {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
}

// outcome is all that a finished run leaves, without the times.
type outcome struct {
	Result  store.Result
	Metrics []store.Metrics
	Weights string
	Tensors map[string][]byte // of the checkpoint
}

func outcomeOf(t *testing.T, dir store.Dir) outcome {
	t.Helper()
	result := must.Have(dir.ReadResult())(t)
	metrics := metricsOf(t, dir)
	for i := range metrics {
		metrics[i].Seconds = 0
	}
	weights := testfiles.Read(t, dir.Path(store.WeightsFile))
	o := outcome{timeless(result), metrics, string(weights), map[string][]byte{}}
	torch.Tidy(func() {
		file := must.Have(checkpoint.Read(dir.Path(store.CheckpointFile)))(t)
		tensors, _ := must.Both(torch.ParseTensors(file.Content))(t)
		for name, tensor := range tensors {
			var bits bytes.Buffer
			must.Do(t, torch.WriteTensors(&bits, []torch.Named{{Name: name, Tensor: tensor}}, nil))
			o.Tensors[name] = bits.Bytes()
		}
	})
	return o
}

// diff says in what two outcomes differ; numbers are equal to the bit, NaN to NaN.
func (o outcome) diff(other outcome) string {
	text := cmp.Diff(o.Result, other.Result)
	if a, b := store.MetricsLines.Format(o.Metrics), store.MetricsLines.Format(other.Metrics); a != b {
		text += cmp.Diff(a, b)
	}
	text += cmp.Diff(o.Weights, other.Weights)
	for _, name := range slices.Sorted(maps.Keys(o.Tensors)) {
		if !bytes.Equal(o.Tensors[name], other.Tensors[name]) {
			text += fmt.Sprintf("checkpoint: %s differs\n", name)
		}
	}
	return text + cmp.Diff(slices.Sorted(maps.Keys(o.Tensors)), slices.Sorted(maps.Keys(other.Tensors)))
}

// finishInPieces runs until the end, cancelled again and again.
func finishInPieces(t *testing.T, run config.Resolved, length int, options Options) (dir store.Dir, pieces int) {
	t.Helper()
	dir = begin(t, run)
	for pieces = 1; pieces < 100; pieces++ {
		_, err := Run(&fuse{t.Context(), length}, run, dir, options)
		if err == nil {
			return dir, pieces
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	t.Fatalf("%s is not finished after %d pieces", run.Method, pieces)
	return dir, pieces
}

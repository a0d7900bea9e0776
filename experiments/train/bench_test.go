package train

import (
	"fmt"
	"io"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/measure"
	"iwda/internal/must"
	"iwda/torch"
)

// methods are those whose steps are measured.
var methods = []string{"source-only", "dann", "iwdan", "cdan", "iwcdan"}

func benchmarkTrainer(b *testing.B, method string) *trainer {
	return benchmarkTrainerOf(b, resolve(b, "full", method, 1, "train.batch=64", "train.eval_batch=500"))
}

func benchmarkTrainerOf(b *testing.B, run config.Resolved) *trainer {
	torch.TuneAllocator()
	torch.SetThreads(1)
	t := makeTrainer(b, run, Options{Threads: 1, Log: io.Discard})
	b.Cleanup(func() { _ = t.close() })
	return t
}

// benchmarkStep makes a step, of which earlier ones were made.
func benchmarkStep(b *testing.B, t *trainer, earlier int) {
	must.Do(b, t.step(b.Context(), position{epoch: 2, step: earlier}))
}

// BenchmarkStep measures a training step, 64 images of each domain.
func BenchmarkStep(b *testing.B) {
	for _, method := range methods {
		b.Run(method, func(b *testing.B) {
			t := benchmarkTrainer(b, method)
			for i := 0; b.Loop(); i++ {
				benchmarkStep(b, t, i)
			}
		})
	}
}

// BenchmarkMLPStep measures a training step on 64 rows of 64 features of each domain, with
// 256 hidden units and the discriminator of iwrun adapt, 128 units without dropout behind
// features of one scale, or the paper's of 500, for IWCDAN with the outer product.
func BenchmarkMLPStep(b *testing.B) {
	text, _ := widerGaussians(b, 64)
	for name, discriminator := range map[string][]string{
		"adapt": {"discriminator.hidden=128", "discriminator.normalise=shared", "discriminator.dropout=0"},
		"paper": {"discriminator.hidden=500"},
	} {
		for _, method := range []string{"source-only", "iwdan", "iwcdan"} {
			b.Run(name+"/"+method, func(b *testing.B) {
				t := benchmarkTrainerOf(b, resolveText(b, text, "full", method, 1, append(discriminator,
					"network.features=256", "network.layers=1", "network.normalise=standard", "train.batch=64")...))
				for i := 0; b.Loop(); i++ {
					benchmarkStep(b, t, i)
				}
			})
		}
	}
}

// benchmarkTest returns that many test images, of all digits in turn.
func benchmarkTest(b *testing.B, images int) rowReader {
	d := opened(b, resolve(b, "full", "dann", 1, fmt.Sprintf("dataset.test_per_class=%d", images/10), "dataset.train_per_class=10"))
	return d.onTest
}

func benchmarkEvaluation(b *testing.B, t *trainer, test rowReader) {
	must.Do(b, t.evaluator.evaluate(b.Context(), test, measure.NewConfusion(10)))
}

// BenchmarkEvaluate classifies 10,000 digits.
func BenchmarkEvaluate(b *testing.B) {
	t, test := benchmarkTrainer(b, "source-only"), benchmarkTest(b, size(10_000, 200))
	for b.Loop() {
		benchmarkEvaluation(b, t, test)
	}
}

// BenchmarkTenthOfEpoch makes a tenth of an epoch of usps-mnist: 94 of its 937 steps and
// an evaluation on 1,000 of its 10,000 test images. The update of the class weights,
// once an epoch and well below a millisecond, is left out.
func BenchmarkTenthOfEpoch(b *testing.B) {
	steps := size(94, 1)
	for _, method := range methods {
		b.Run(method, func(b *testing.B) {
			t, test := benchmarkTrainer(b, method), benchmarkTest(b, size(1000, 100))
			for i := 0; b.Loop(); i++ {
				for j := range steps {
					benchmarkStep(b, t, i*steps+j)
				}
				benchmarkEvaluation(b, t, test)
			}
		})
	}
}

// size is that of what is measured, or with -short a smaller one, where it only counts that the
// benchmark comes to its end.
func size(usual, short int) int {
	if testing.Short() {
		return short
	}
	return usual
}

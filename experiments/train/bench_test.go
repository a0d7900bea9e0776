package train

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"iwda/torch"
)

// reportMedian runs f b.N times and reports the median, which a noisy machine moves
// less than the mean.
func reportMedian(b *testing.B, f func(i int)) {
	for i := range max(1, b.N/10) {
		f(i)
	}
	times := make([]time.Duration, b.N)
	b.ResetTimer()
	for i := range b.N {
		start := time.Now()
		f(i)
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[b.N/2].Nanoseconds())/1e6, "ms")
}

func benchmarkTrainer(b *testing.B, method string) *trainer {
	torch.TuneAllocator()
	torch.SetThreads(1)
	run := resolve(b, "full", method, 1, "train.batch=64")
	t, err := newTrainer(context.Background(), run, begin(b, run), Options{Threads: 1, Log: io.Discard}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = t.close() })
	return t
}

func BenchmarkStep(b *testing.B) {
	for _, method := range []string{"source-only", "dann", "iwdan", "cdan", "iwcdan"} {
		b.Run(method, func(b *testing.B) {
			t := benchmarkTrainer(b, method)
			reportMedian(b, func(i int) {
				if err := t.step(context.Background(), Position{Epoch: 2, Step: i}); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkEvaluate classifies 10,000 digits.
func BenchmarkEvaluate(b *testing.B) {
	t := benchmarkTrainer(b, "source-only")
	d, err := openData(resolve(b, "full", "dann", 1, "dataset.test_per_class=1000", "dataset.train_per_class=10"))
	if err != nil {
		b.Fatal(err)
	}
	reportMedian(b, func(int) {
		if _, err := evaluate(context.Background(), t.network, d.onTest, 10, 500, torch.CPU); err != nil {
			b.Fatal(err)
		}
	})
}

package losses

import (
	"math"
	"testing"

	"iwda/losses/form"
	"iwda/torch"
)

// BenchmarkJAN measures the loss of JAN and IWJAN, forward and backward, from features
// and logits on, at the size of Office-31. research/bench/mmd_peer.py computes the same of the
// same numbers; the loss and the sum of the absolute gradient of the source's features
// show whether it does.
func BenchmarkJAN(b *testing.B) {
	const rows, features, classes = 36, 256, 31
	torch.TuneAllocator()
	torch.SetThreads(1)
	inputs := []torch.Tensor{
		benchmarkInput(0, 0, rows, features), benchmarkInput(1, 0.3, rows, features),
		benchmarkInput(2, 0, rows, classes), benchmarkInput(3, 0.3, rows, classes),
	}
	weights := make([]float32, rows)
	for i := range weights {
		weights[i] = 0.5 + float32(i%classes)/30
	}
	for name, rowWeights := range map[string]torch.Tensor{"jan": {}, "iwjan": torch.FromSlice(weights, rows)} {
		b.Run(name, func(b *testing.B) {
			var value, gradients float64
			work := func(read func(loss, source torch.Tensor)) {
				torch.Tidy(func() {
					var leaves [4]torch.Tensor
					for i, x := range inputs {
						leaves[i] = x.Detach().SetRequiresGrad(true)
					}
					zs, zt, ls, lt := leaves[0], leaves[1], leaves[2], leaves[3]
					loss := MaximumMeanDiscrepancy(form.Unbiased, rowWeights,
						Layer{zs, zt, FeatureKernel}, Layer{ls.Softmax(1), lt.Softmax(1), PredictionKernel})
					loss.Backward()
					read(loss, zs)
				})
			}
			for b.Loop() {
				work(func(loss, _ torch.Tensor) { loss.Item() })
			}
			work(func(loss, source torch.Tensor) {
				value = loss.Item()
				for _, g := range torch.ToSlice[float32](gradient(source)) {
					gradients += math.Abs(float64(g))
				}
			})
			b.ReportMetric(value, "loss")
			b.ReportMetric(gradients, "gradient")
		})
	}
}

// benchmarkInput returns values of unit variance around shift that any language draws
// alike.
func benchmarkInput(stream uint64, shift float64, rows, columns int) torch.Tensor {
	values := make([]float32, rows*columns)
	for i := range values {
		n := uint64(i)
		uniform := float64((n*n*2654435761+stream*40503*65537)%(1<<32)) / (1 << 32)
		values[i] = float32(math.Sqrt(12)*(uniform-0.5) + shift)
	}
	return torch.FromSlice(values, rows, columns)
}

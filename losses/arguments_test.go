package losses

import (
	"testing"

	"iwda/torch"
)

// Shapes that libtorch would broadcast, or of which it would read a part, are a mistake in the
// program.
func TestShapesThatDoNotFit(t *testing.T) {
	vector := func(n int) torch.Tensor { return torch.Full(0.5, torch.Float32, torch.CPU, n) }
	logits := torch.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	labels := torch.FromSlice([]int64{0, 1}, 2)
	column := vector(2).Reshape(2, 1)
	for name, loss := range map[string]func() torch.Tensor{
		"fewer labels than rows":      func() torch.Tensor { return CrossEntropy(logits, torch.FromSlice([]int64{0}, 1)) },
		"a column of labels":          func() torch.Tensor { return CrossEntropy(logits, labels.Reshape(2, 1)) },
		"shares of more classes":      func() torch.Tensor { return BalancedCrossEntropy(logits, labels, vector(3), torch.Tensor{}) },
		"one weight of two rows":      func() torch.Tensor { return BalancedCrossEntropy(logits, labels, vector(2), vector(1)) },
		"a column of weights":         func() torch.Tensor { return BalancedCrossEntropy(logits, labels, vector(2), column) },
		"a discriminator of a column": func() torch.Tensor { return Adversarial(column, column, vector(2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic: %s", name)
				}
			}()
			loss()
		}()
	}
}

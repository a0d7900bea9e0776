package nets

import (
	"testing"

	"iwda/torch"
)

// BenchmarkResNet50 makes a training pass, forward and backward, over 4 images of
// 224×224 and an evaluation pass over as many.
func BenchmarkResNet50(b *testing.B) {
	backbone, err := NewResNet(50)
	if err != nil {
		b.Fatal(err)
	}
	n := NewFineTuned(backbone, 31)
	torch.TuneAllocator()
	images := torch.RandN(torch.Float32, 4, 3, 224, 224)
	b.Run("training", func(b *testing.B) {
		for range b.N {
			torch.Tidy(func() {
				_, logits := n.Forward(images, true)
				logits.LogSoftmax(1).Narrow(1, 0, 1).Mean().Neg().Backward()
			})
		}
	})
	b.Run("evaluation", func(b *testing.B) {
		for range b.N {
			torch.Tidy(func() {
				torch.NoGrad(func() { n.Forward(images, false) })
			})
		}
	})
}

package nets

import (
	"testing"

	"iwda/internal/timing"
	"iwda/torch"
)

// BenchmarkResNet50 makes a training pass, forward and backward, in float32 and in bfloat16, and an
// evaluation pass, over 4 images of 224×224; on the first GPU, if there is one, over 72, the batch
// of both domains of Office-31.
func BenchmarkResNet50(b *testing.B) {
	backbone, err := NewResNet(50)
	if err != nil {
		b.Fatal(err)
	}
	n := NewFineTuned(backbone, 31)
	torch.TuneAllocator()
	device, count := torch.CPU, 4
	if torch.CUDADevices() > 0 {
		device, count = torch.CUDA(0), 72
	}
	n.State().Move(torch.Float32, device)
	side := timing.Size(224, 32)
	images := torch.RandN(torch.Float32, count, 3, side, side).To(torch.Float32, device)
	wait := func() { images.Narrow(0, 0, 1).Sum().Item() } // for all that was asked of a GPU
	train := func(b *testing.B, pass func() torch.Tensor) {
		for range b.N {
			torch.Tidy(func() { pass().LogSoftmax(1).Narrow(1, 0, 1).Mean().Neg().Backward() })
		}
		wait()
	}
	forward := func() torch.Tensor {
		_, logits := n.Forward(images, true)
		return logits
	}
	b.Run("training", func(b *testing.B) { train(b, forward) })
	b.Run("training in bfloat16", func(b *testing.B) {
		train(b, func() (logits torch.Tensor) {
			torch.Autocast(device, func() { logits = forward() })
			return logits.To(torch.Float32, device)
		})
	})
	b.Run("evaluation", func(b *testing.B) {
		for range b.N {
			torch.Tidy(func() {
				torch.NoGrad(func() { n.Forward(images, false) })
			})
		}
		wait()
	})
}

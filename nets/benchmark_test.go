package nets

import (
	"testing"

	"iwda/internal/must"
	"iwda/torch"
)

// BenchmarkResNet50 makes a training pass, forward and backward, and an evaluation over 4 images
// of 224×224; on the first GPU, where there is one, over 72, the batch of both domains of
// Office-31. tools/cuda-check.sh runs it.
func BenchmarkResNet50(b *testing.B) {
	torch.TuneAllocator()
	device, count := torch.CPU, 4
	if torch.CUDADevices() > 0 {
		device, count = torch.CUDA(0), 72
	}
	n := NewFineTuned(must.Have(NewResNet(50))(b), 31)
	n.State().Move(torch.Float32, device)
	images := torch.RandN(torch.Float32, count, 3, 224, 224).To(torch.Float32, device)
	measure := func(name string, pass func()) {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				torch.Tidy(pass)
			}
			images.Narrow(0, 0, 1).Sum().Item() // waits for all that was asked of a GPU
		})
	}
	measure("training", func() {
		_, logits := n.Forward(images, true)
		logits.LogSoftmax(1).Narrow(1, 0, 1).Mean().Neg().Backward()
	})
	measure("evaluation", func() {
		torch.NoGrad(func() { n.Forward(images, false) })
	})
}

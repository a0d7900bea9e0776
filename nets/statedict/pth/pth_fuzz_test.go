package pth

import (
	"slices"
	"testing"

	"github.com/maruel/safetensors"

	"iwda/internal/allocation"
)

func FuzzRead(f *testing.F) {
	for _, name := range slices.Concat(forms, []string{"evil-zip.pth", "evil-stream.pth", "checkpoint.pth"}) {
		f.Add(content(f, name))
	}
	f.Add(zipOf(f, oneTensor("K\x02", "K\x00", "K\x02\x85", "K\x01\x85"), oneAndTwo))
	f.Fuzz(func(t *testing.T, data []byte) {
		var tensors []safetensors.Tensor
		var err error
		allocation.Within(t, min(1<<20+2000*len(data), allocation.Allowed(len(data))), func() { tensors, err = Read(data) })
		if err != nil {
			return
		}
		total := 0
		for _, tensor := range tensors {
			size := int(tensor.DType.WordSize())
			for _, d := range tensor.Shape {
				size *= int(d)
			}
			if len(tensor.Data) != size {
				t.Errorf("%s: %d bytes of %s in shape %v", tensor.Name, len(tensor.Data), tensor.DType, tensor.Shape)
			}
			total += size
		}
		if total > len(data) {
			t.Errorf("%d bytes of numbers from %d bytes", total, len(data))
		}
	})
}

package pth

import (
	"slices"
	"testing"

	"iwda/internal/allocation"
)

func FuzzRead(f *testing.F) {
	for _, name := range slices.Concat(forms, []string{"evil-zip.pth", "evil-stream.pth", "evil-tar.pth", "checkpoint.pth"}) {
		f.Add(content(f, name))
	}
	f.Add(zipOf(f, oneTensor("K\x02", "K\x00", "K\x02\x85", "K\x01\x85"), oneAndTwo))
	f.Fuzz(func(t *testing.T, data []byte) {
		var tensors map[string]Tensor
		var err error
		// Gopickle takes some 20 kB for every pickle, and a tar file has one a tensor.
		allocation.Within(t, min(1<<20+2000*len(data), allocation.Allowed(len(data))), func() { tensors, err = Read(data) })
		if err != nil {
			return
		}
		total := 0
		for name, tensor := range tensors {
			count := 1
			for _, d := range tensor.Shape {
				count *= d
			}
			if got := len(numbers(tensor)); got != count {
				t.Errorf("%s: %d numbers in shape %v", name, got, tensor.Shape)
			}
			total += count
		}
		if total > len(data) {
			t.Errorf("%d numbers from %d bytes", total, len(data))
		}
	})
}

package golden

import "testing"

func TestEveryFileReads(t *testing.T) {
	for _, name := range []string{"losses", "mmd", "qp", "lenet", "resnet", "labelshift"} {
		f := Open(t, name)
		if len(f) == 0 {
			t.Errorf("%s.npz holds no array", name)
		}
		for key, a := range f {
			size := 1
			for _, n := range a.Shape {
				size *= n
			}
			if len(a.Data) != size {
				t.Errorf("%s.npz: %s: %d values for shape %v", name, key, len(a.Data), a.Shape)
			}
		}
	}
}

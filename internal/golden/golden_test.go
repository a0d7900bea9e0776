package golden

import (
	"slices"
	"testing"
)

func TestValuesOfTheWrongForm(t *testing.T) {
	if got := (Array{Data: []float64{7}}).Scalar(); got != 7 {
		t.Errorf("scalar %v, want 7", got)
	}
	if got := (Array{Data: []float64{2, -1}}).Ints(); !slices.Equal(got, []int{2, -1}) {
		t.Errorf("integers %v, want 2 and -1", got)
	}
	for name, read := range map[string]func(){
		"a scalar of two values": func() { Array{Data: []float64{7, 8}}.Scalar() },
		"a scalar of no value":   func() { Array{}.Scalar() },
		"an integer of a half":   func() { Array{Data: []float64{1, 0.5}}.Ints() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was read", name)
				}
			}()
			read()
		}()
	}
}

func TestEveryFileReads(t *testing.T) {
	for _, name := range []string{"losses", "mcc", "mmd", "qp", "lenet", "resnet", "labelshift", "ppi"} {
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

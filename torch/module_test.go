package torch

import (
	"strings"
	"testing"
)

// Tensors of a module outlive it; the module itself is refused once it is closed.
func TestClosedModule(t *testing.T) {
	Tidy(func() {
		m, err := LoadModule("../testdata/torchscript/shared.pt")
		if err != nil {
			t.Fatal(err)
		}
		weight := m.Tensors()[0]
		m.Close()
		m.Close()
		if weight.Name != "first.weight" || !weight.Parameter || weight.Tensor.Len() != 36 {
			t.Errorf("%+v", weight)
		}
		if n := len(m.Tensors()); n != 0 {
			t.Errorf("%d tensors of a closed module", n)
		}
		err = Try(func() { m.Forward(Full(0, Float32, CPU, 1, 6), false) })
		if err == nil || !strings.Contains(err.Error(), "the module was closed") {
			t.Errorf("error %v", err)
		}
	})
}

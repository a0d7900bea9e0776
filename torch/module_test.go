package torch

import (
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Tensors of a module outlive it; the module itself is refused once it is closed.
func TestClosedModule(t *testing.T) {
	Tidy(func() {
		content := testfiles.Read(t, "../testdata/torchscript/shared.pt")
		m := must.Have(ParseModule(content))(t)
		weight := m.Tensors()[0]
		m.Close()
		m.Close()
		if weight.Name != "first.weight" || !weight.Parameter || weight.Tensor.Len() != 36 {
			t.Errorf("%+v", weight)
		}
		for name, f := range map[string]func(){
			"Module.Tensors": func() { m.Tensors() },
			"Module.Forward": func() { m.Forward(Full(0, Float32, CPU, 1, 6), false) },
		} {
			if e := refused(t, name, f); e.Op != name || !strings.Contains(e.Msg, "the module was closed") {
				t.Errorf("%s: %v", name, e)
			}
		}
	})
}

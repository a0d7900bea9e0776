package nets

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/torch"
)

const scripts = "../testdata/torchscript"

// scripted is what PyTorch computed with the module of backbone.pt in evaluation mode,
// in float64; gradients are those of the sum of squares of the features.
type scripted struct {
	Shape         []int
	Input         []float64
	Features      []float64
	InputGradient []float64 `json:"input_gradient"`
	Parameters    []struct {
		Name             string
		Shape            []int
		Values, Gradient []float64
	}
	Buffers []string
}

func readScripted(t *testing.T) (s scripted) {
	t.Helper()
	testfiles.ReadJSON(t, filepath.Join(scripts, "expected.json"), &s)
	return s
}

func (s scripted) input() torch.Tensor {
	return torch.FromSlice(s.Input, s.Shape...).To(torch.Float32, torch.CPU)
}

func loadScript(t *testing.T, name string, trained bool, rowShape ...int) *TorchScript {
	t.Helper()
	n, _ := must.Both(NewTorchScript(filepath.Join(scripts, name), rowShape, trained, nil))(t)
	return n
}

// equalWithin compares with values that were computed in float64.
func equalWithin(t *testing.T, what string, got torch.Tensor, want []float64, tolerance float64) {
	t.Helper()
	values := torch.ToSlice[float64](got.To(torch.Float64, torch.CPU))
	if len(values) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(values), len(want))
	}
	for i, v := range values {
		if math.Abs(v-want[i]) > tolerance*max(1, math.Abs(want[i])) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, v, want[i])
		}
	}
}

func TestTorchScriptEqualsPyTorch(t *testing.T) {
	torch.Tidy(func() {
		want := readScripted(t)
		n := loadScript(t, "backbone.pt", true, want.Shape[1:]...)
		if n.FeatureSize() != 5 {
			t.Errorf("%d features, want 5", n.FeatureSize())
		}
		x := want.input().SetRequiresGrad(true)
		features := n.Forward(x, false)
		equalWithin(t, "features", features, want.Features, 1e-5)
		features.Square().Sum().Backward()
		gradient, _ := x.Grad()
		equalWithin(t, "gradient of the input", gradient, want.InputGradient, 1e-5)

		state := n.State()
		for i, p := range want.Parameters {
			e := state[i]
			if e.Name != p.Name || !e.Trained || !slices.Equal(e.Tensor.Shape(), p.Shape) {
				t.Errorf("entry %d is %q %v, want the parameter %q %v", i, e.Name, e.Tensor.Shape(), p.Name, p.Shape)
			}
			equalWithin(t, p.Name, e.Tensor, p.Values, 1e-6)
			gradient, _ := e.Tensor.Grad()
			equalWithin(t, "gradient of "+p.Name, gradient, p.Gradient, 1e-5)
		}
		for i, name := range want.Buffers {
			if e := state[len(want.Parameters)+i]; e.Name != name || e.Trained {
				t.Errorf("entry %q, trained %v, want the buffer %q", e.Name, e.Trained, name)
			}
		}
		if len(state) != len(want.Parameters)+len(want.Buffers) {
			t.Errorf("%d entries, want %d", len(state), len(want.Parameters)+len(want.Buffers))
		}
	})
}

// Values never depend on how often the module was called before: nothing is optimised
// while it runs.
func TestTorchScriptRepeats(t *testing.T) {
	torch.Tidy(func() {
		want := readScripted(t)
		n := loadScript(t, "backbone.pt", true, want.Shape[1:]...)
		first := torch.ToSlice[float32](n.Forward(want.input(), false))
		for range 4 {
			if again := torch.ToSlice[float32](n.Forward(want.input(), false)); !slices.Equal(again, first) {
				t.Fatalf("features %v, at first %v", again, first)
			}
		}
	})
}

// In training, dropout zeroes channels and the running statistics move; evaluation
// after it uses them.
func TestTorchScriptModes(t *testing.T) {
	torch.Tidy(func() {
		want := readScripted(t)
		n := loadScript(t, "backbone.pt", true, want.Shape[1:]...)
		torch.Seed(1)
		if a, b := n.Forward(want.input(), true), n.Forward(want.input(), true); a.Sub(b).Square().Sum().Item() == 0 {
			t.Error("no dropout in training")
		}
		for _, e := range n.State() {
			if e.Name == "norm.num_batches_tracked" && e.Tensor.Item() != 2 {
				t.Errorf("%v batches were counted, want 2", e.Tensor.Item())
			}
		}
		evaluated := n.Forward(want.input(), false)
		if slices.Equal(torch.ToSlice[float32](evaluated), torch.ToSlice[float32](loadScript(t, "backbone.pt", true, 3, 7, 7).Forward(want.input(), false))) {
			t.Error("the running statistics did not change")
		}
		if again := n.Forward(want.input(), false); !slices.Equal(torch.ToSlice[float32](again), torch.ToSlice[float32](evaluated)) {
			t.Error("dropout in evaluation")
		}
	})
}

// What a module draws in training comes from the source that its goroutine uses, whatever
// libtorch's generator is at, and moves that one on.
func TestTorchScriptDraws(t *testing.T) {
	torch.Tidy(func() {
		want := readScripted(t)
		outputs := func(seed uint64) (first, second []float32) {
			n, random := loadScript(t, "backbone.pt", true, want.Shape[1:]...), torch.NewRandom(7)
			torch.Seed(seed)
			random.Use(func() {
				first, second = torch.ToSlice[float32](n.Forward(want.input(), true)), torch.ToSlice[float32](n.Forward(want.input(), true))
			})
			return first, second
		}
		first, second := outputs(1)
		if again, _ := outputs(2); !slices.Equal(first, again) {
			t.Error("what a module draws depends on libtorch's generator")
		}
		if slices.Equal(first, second) {
			t.Error("a module draws the same again")
		}
	})
}

// step trains a network for one step of plain descent and tells which of its entries
// changed.
func step(n Network, x torch.Tensor) map[string]bool {
	before := make(map[string][]float64)
	values := func(e Entry) []float64 { return torch.ToSlice[float64](e.Tensor.To(torch.Float64, torch.CPU)) }
	for _, e := range n.State() {
		before[e.Name] = values(e)
	}
	optimizer := torch.NewSGD(n.State().Parameters())
	defer optimizer.Close()
	_, logits := n.Forward(x, true)
	logits.LogSoftmax(1).Narrow(1, 0, 1).Mean().Backward()
	optimizer.Step(torch.SGDOptions{LearningRate: torch.Number(0.1)})
	changed := make(map[string]bool)
	for _, e := range n.State() {
		changed[e.Name] = !slices.Equal(values(e), before[e.Name])
	}
	return changed
}

func TestHeadsOnTorchScript(t *testing.T) {
	torch.Tidy(func() {
		torch.Seed(2)
		want := readScripted(t)
		tuned := NewFineTuned(loadScript(t, "backbone.pt", true, want.Shape[1:]...), 3)
		features, logits := tuned.Forward(want.input(), false)
		if !slices.Equal(features.Shape(), []int{2, 256}) || !slices.Equal(logits.Shape(), []int{2, 3}) {
			t.Errorf("features %v, logits %v", features.Shape(), logits.Shape())
		}
		for name, changed := range step(tuned, want.input()) {
			if !changed {
				t.Errorf("training leaves %s as it was", name)
			}
		}
		frozen := NewFrozen(loadScript(t, "backbone.pt", false, want.Shape[1:]...), 3)
		equalWithin(t, "pooled", frozen.Pooled(want.input()), want.Features, 1e-5)
		for name, changed := range step(frozen, want.input()) {
			if changed != !strings.HasPrefix(name, "backbone.") {
				t.Errorf("%s changed: %v", name, changed)
			}
		}
		// What torch.jit.freeze wrote has no parameters left but gives the same features.
		equalWithin(t, "pooled", NewFrozen(loadScript(t, "frozen.pt", false, 3, 7, 7), 3).Pooled(want.input()), want.Features, 1e-5)
	})
}

// The module computes with the tensors of its state: with what is loaded into them, and
// in the type to which they are moved.
func TestTorchScriptStateIsItsOwn(t *testing.T) {
	torch.Tidy(func() {
		want := readScripted(t)
		n := loadScript(t, "backbone.pt", true, want.Shape[1:]...)
		n.State().Move(torch.Float64, torch.CPU)
		x := torch.FromSlice(want.Input, want.Shape...)
		features := n.Forward(x, false)
		if features.DType() != torch.Float64 {
			t.Errorf("features of type %v after the move", features.DType())
		}
		equalWithin(t, "features", features, want.Features, 1e-6)
		values := make(map[string]torch.Tensor)
		for _, e := range n.State() {
			values[e.Name] = e.Tensor.Scale(1)
			if e.Name == "out.bias" {
				values[e.Name] = e.Tensor.Affine(1, 0.5)
			}
		}
		must.Do(t, n.State().Load(values))
		equalWithin(t, "features with another bias", n.Forward(x, false).Affine(1, -0.5), want.Features, 1e-6)
	})
}

// A module may use integers as indices and truth values as masks; the numbers that it is
// trained in are real.
func TestTorchScriptKeepsIntegers(t *testing.T) {
	torch.Tidy(func() {
		n := loadScript(t, "picking.pt", true, 3)
		features := n.Forward(torch.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3), true)
		if got := torch.ToSlice[float32](features); !slices.Equal(got, []float32{6, 7, 12, 7}) {
			t.Errorf("features %v", got)
		}
		types := map[string]torch.DType{"scale": torch.Float32, "counts": torch.Int64, "order": torch.Int64, "hidden": torch.Bool}
		for _, e := range n.State() {
			if e.Tensor.DType() != types[e.Name] || e.Trained != (e.Name == "scale") {
				t.Errorf("%s of type %v, trained %v", e.Name, e.Tensor.DType(), e.Trained)
			}
		}
		if len(n.State()) != len(types) {
			t.Errorf("state %v", names(n.State()))
		}
	})
}

// A layer in two places has one weight, which an optimiser must see once.
func TestSharedTensorsComeOnce(t *testing.T) {
	torch.Tidy(func() {
		n := loadScript(t, "shared.pt", true, 6)
		if got := names(n.State()); !slices.Equal(got, []string{"first.weight", "first.bias"}) {
			t.Errorf("state %v", got)
		}
	})
}

func TestTorchScriptErrors(t *testing.T) {
	images := []int{3, 7, 7}
	for _, c := range []struct {
		file     string
		rowShape []int
		trained  bool
		want     string
	}{
		{scripts + "/none.pt", images, false, "torch.jit.script"},
		{scripts + "/expected.json", images, false, "not a TorchScript module"},
		{weightFiles + "/zip.pth", images, false, "not a TorchScript module"},
		{scripts + "/backbone.pt", []int{1, 7, 7}, false, "does not take rows of shape [1 7 7]"},
		{scripts + "/maps.pt", images, false, "shape [2 4 5 5] of two rows of shape [3 7 7]; want (2 × features)"},
		{scripts + "/pair.pt", images, false, "returns a Tuple, not one tensor"},
		{scripts + "/frozen.pt", images, true, "no parameters that could be trained"},
	} {
		live := torch.LiveTensors()
		_, _, err := NewTorchScript(c.file, c.rowShape, c.trained, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), filepath.Base(c.file)) {
			t.Errorf("%s: error %v, want one with %q", c.file, err, c.want)
		}
		if left := torch.LiveTensors() - live; left > 0 {
			t.Errorf("%s: %d tensors are left", c.file, left)
		}
	}
	if _, _, err := NewTorchScript(scripts+"/none.pt", images, false, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

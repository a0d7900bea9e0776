package nets

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/golden"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/torch"

	"gonum.org/v1/gonum/floats"
)

// state reads the network's parameters out of a golden file.
func state(t *testing.T, file golden.File, prefix string, network interface{ State() State }) map[string]torch.Tensor {
	values := make(map[string]torch.Tensor)
	for _, e := range network.State() {
		a := file.Get(t, prefix+e.Name)
		values[e.Name] = torch.FromSlice(a.Data, a.Shape...)
	}
	return values
}

// The golden LeNet was computed in float32; in float64 ours may differ by that
// rounding and no more.
func TestLeNetGolden(t *testing.T) {
	file := golden.Open(t, "lenet")
	type form struct {
		dtype  torch.DType
		device torch.Device
	}
	forms := []form{{torch.Float32, torch.CPU}, {torch.Float64, torch.CPU}}
	if torch.CUDADevices() > 0 {
		forms = append(forms, form{torch.Float32, torch.CUDA(0)}, form{torch.Float64, torch.CUDA(0)})
	}
	for _, c := range forms {
		tolerance := 2e-5
		if c.dtype == torch.Float32 && c.device.IsCUDA() {
			tolerance = 2e-3 // convolutions on a GPU round their inputs to TF32
		}
		t.Run(fmt.Sprintf("%v on %v", c.dtype, c.device), func(t *testing.T) {
			torch.Tidy(func() {
				classes := file.Get(t, "lenet/classifier.bias").Shape[0]
				n := NewLeNet(1, classes)
				n.State().Move(c.dtype, c.device)
				must.Do(t, n.State().Load(state(t, file, "lenet/", n)))
				input := file.Get(t, "lenet/input")
				images := torch.FromSlice(input.Data, input.Shape...).To(c.dtype, c.device)
				features, logits := n.Forward(images, false)
				near(t, "features", features, file.Get(t, "lenet/features"), tolerance)
				near(t, "logits", logits, file.Get(t, "lenet/logits"), tolerance)

				labels := file.Get(t, "lenet/labels").Data
				index := torch.FromSlice(labels, len(labels), 1).To(torch.Int64, c.device)
				logits.LogSoftmax(1).Gather(1, index).Mean().Neg().Backward()
				for _, e := range n.State() {
					grad, ok := e.Tensor.Grad()
					if !ok {
						t.Fatalf("no gradient of %s", e.Name)
					}
					near(t, "gradient of "+e.Name, grad, file.Get(t, "lenet/grad/"+e.Name), 10*tolerance)
				}
			})
		})
	}
}

func TestTrainingModeDropsOut(t *testing.T) {
	torch.Tidy(func() {
		torch.Seed(1)
		n := NewLeNet(1, 10)
		images := torch.RandN(torch.Float32, 4, 1, 28, 28)
		features, _ := n.Forward(images, true)
		zeros := 0
		values := torch.ToSlice[float32](features)
		for _, v := range values {
			if v == 0 {
				zeros++
			}
		}
		// ReLU zeroes about half, dropout half of the rest.
		if share := float64(zeros) / float64(len(values)); share < 0.6 {
			t.Errorf("%.2f of the features are 0 in training mode", share)
		}
		a, _ := n.Forward(images, false)
		b, _ := n.Forward(images, false)
		if d := a.Sub(b).Square().Sum().Item(); d != 0 {
			t.Errorf("evaluation is random: squared distance %v", d)
		}
	})
}

func TestInitialisation(t *testing.T) {
	torch.Tidy(func() {
		torch.Seed(3)
		n := NewLeNet(1, 10)
		w := torch.ToSlice[float32](n.hidden.weight)
		bound := 1 / math.Sqrt(800)
		var squares float64
		for _, v := range w {
			if math.Abs(float64(v)) > bound {
				t.Fatalf("weight %v outside ±%v", v, bound)
			}
			squares += float64(v) * float64(v)
		}
		// A uniform in ±b has variance b²/3.
		if got, want := squares/float64(len(w)), bound*bound/3; math.Abs(got/want-1) > 0.02 {
			t.Errorf("variance %v, want %v", got, want)
		}
		d := NewDiscriminator(300, 100, 0.5)
		w = torch.ToSlice[float32](d.layers[0].weight)
		squares = 0
		for _, v := range w {
			squares += float64(v) * float64(v)
		}
		if got, want := squares/float64(len(w)), 2.0/400; math.Abs(got/want-1) > 0.05 {
			t.Errorf("Xavier variance %v, want %v", got, want)
		}
		if sum := d.layers[0].bias.Square().Sum().Item(); sum != 0 {
			t.Errorf("discriminator biases are not 0: %v", sum)
		}
	})
}

func TestLoadIsStrict(t *testing.T) {
	torch.Tidy(func() {
		n := NewLeNet(1, 10)
		before := torch.ToSlice[float32](n.conv1.weight)
		values := make(map[string]torch.Tensor)
		for _, e := range n.State() {
			values[e.Name] = torch.Full(7, torch.Float32, torch.CPU, e.Tensor.Shape()...)
		}
		delete(values, "classifier.bias")
		values["fc.weight"] = torch.Full(0, torch.Float32, torch.CPU, 1)
		values["conv_params.3.bias"] = torch.Full(0, torch.Float32, torch.CPU, 51)
		err := n.State().Load(values)
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) {
			t.Fatalf("error %v", err)
		}
		for _, part := range []string{"missing: classifier.bias", "unexpected: fc.weight", "conv_params.3.bias: [51], not [50]"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q lacks %q", err, part)
			}
		}
		for i, v := range torch.ToSlice[float32](n.conv1.weight) {
			if v != before[i] {
				t.Fatal("a refused load changed a parameter")
			}
		}
	})
}

func TestReversalCoefficientGolden(t *testing.T) {
	var schedules struct {
		GRL [][2]float64 `json:"grl"`
	}
	if testfiles.ReadJSON(t, filepath.Join(golden.Folder(t), "schedules.json"), &schedules); len(schedules.GRL) == 0 {
		t.Fatal("schedules.json has no values")
	}
	r := Reversal{Iterations: 10000}
	for _, s := range schedules.GRL {
		if got := r.Coefficient(int(s[0])); math.Abs(got-s[1]) > 1e-15 {
			t.Errorf("coefficient %v at %v, want %v", got, s[0], s[1])
		}
	}
	if got := (Reversal{Iterations: 10}).Coefficient(1000); got != 1 {
		t.Errorf("the coefficient grows to %v, want 1", got)
	}
}

// The released code drops channels between the second convolution and its maximum.
func TestChannelsDropBeforeTheMaximum(t *testing.T) {
	torch.Tidy(func() {
		n := NewLeNet(1, 10)
		n.State().Move(torch.Float64, torch.CPU)
		images := torch.RandN(torch.Float64, 20, 1, 28, 28)
		torch.Seed(11)
		features, _ := n.Forward(images, true)

		torch.Seed(11)
		x := images.Conv2D(n.conv1.weight, n.conv1.bias, 1, 0).MaxPool2D(2, 2, 0).ReLU()
		x = x.Conv2D(n.conv2.weight, n.conv2.bias, 1, 0).Dropout2D(0.5).MaxPool2D(2, 2, 0).ReLU()
		want := n.hidden.linear(x.Reshape(-1, 800)).ReLU().Dropout(0.5)
		if d := features.Sub(want).Square().Sum().Item(); !(d < 1e-20) {
			t.Errorf("squared distance %v from the released order", d)
		}
	})
}

// near reports an element of a tensor, of any type on any device, that differs from the array's by more than the
// tolerance, relative to the array's largest.
func near(t testing.TB, what string, got torch.Tensor, want golden.Array, tolerance float64) {
	t.Helper()
	values := torch.ToSlice[float64](got.To(torch.Float64, torch.CPU))
	if len(values) != len(want.Data) {
		t.Fatalf("%s: %d values, want %d", what, len(values), len(want.Data))
	}
	limit := tolerance * floats.Norm(want.Data, math.Inf(1))
	for i, v := range values {
		if !(math.Abs(v-want.Data[i]) <= limit) {
			t.Errorf("%s: element %d is %v, want %v", what, i, v, want.Data[i])
			return
		}
	}
}

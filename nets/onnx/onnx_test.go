package onnx_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/normalise"
	"iwda/internal/must"
	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/learners/regression"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/nets/onnx"
	"iwda/torch"
)

// randomise gives every tensor of a state values that differ: variances positive ones, and
// scales less than 1, so that deep networks keep their activations near 1.
func randomise(state nets.State) {
	for _, e := range state {
		if e.Tensor.DType() != torch.Float32 {
			continue
		}
		noise := torch.RandN(torch.Float32, e.Tensor.Shape()...)
		switch {
		case strings.HasSuffix(e.Name, ".running_var"):
			e.Tensor.Set(noise.Square().Affine(1, 0.5))
		case strings.HasSuffix(e.Name, ".bias"), strings.HasSuffix(e.Name, ".running_mean"):
			e.Tensor.Set(noise.Scale(0.1))
		case len(e.Tensor.Shape()) == 1:
			e.Tensor.Set(noise.Affine(0.1, 0.5))
		}
	}
}

func parameters(state nets.State) map[string]onnx.Tensor {
	tensors := make(map[string]onnx.Tensor)
	for _, e := range state {
		if e.Tensor.DType() == torch.Float32 {
			tensors[e.Name] = onnx.Tensor{Shape: e.Tensor.Shape(), Values: torch.ToSlice[float32](e.Tensor)}
		}
	}
	return tensors
}

func resnet(t *testing.T, depth int) *nets.ResNet {
	t.Helper()
	return must.Have(nets.NewResNet(depth))(t)
}

func encode(t *testing.T, models ...onnx.Model) file {
	t.Helper()
	return encodeAs(t, onnx.About{}, models...)
}

func encodeAs(t *testing.T, about onnx.About, models ...onnx.Model) file {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, onnx.Write(&out, about, models...))
	return decode(t, out.Bytes())
}

func compare(t *testing.T, what string, got, want torch.Tensor) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) {
		t.Fatalf("%s: shape %v, want %v", what, got.Shape(), want.Shape())
	}
	wanted := torch.ToSlice[float32](want)
	for i, v := range torch.ToSlice[float32](got) {
		if math.Abs(float64(v-wanted[i])) > 1e-5*max(1, math.Abs(float64(wanted[i]))) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, v, wanted[i])
		}
	}
}

// The graph of every file, computed from the file alone, gives the network's outputs.
func TestGraphsAreTheNetworks(t *testing.T) {
	for _, c := range []struct {
		name         string
		architecture architecture.Name
		frozen       bool
		network      func() nets.Network
		shape        []int
		nodes        int
	}{
		{"lenet", architecture.LeNet, false, func() nets.Network { return nets.NewLeNet(1, 4) }, []int{1, 28, 28}, 15},
		{"mlp", architecture.MLP, false, func() nets.Network { return nets.NewMLP(6, []int{7, 5}, 8, 4, 0.5) }, []int{6}, 12},
		{"linear", architecture.Linear, false, func() nets.Network { return grown(t, architecture.Linear) }, []int{6}, 7},
		{"forest", architecture.Forest, false, func() nets.Network { return grown(t, architecture.Forest) }, []int{6}, 105},
		{"boosting", architecture.Boosting, false, func() nets.Network { return grown(t, architecture.Boosting) }, []int{6}, 87},
		{"resnet18", architecture.ResNet18, false, func() nets.Network { return nets.NewFineTuned(resnet(t, 18), 4) }, []int{3, 48, 48}, 75},
		{"resnet34, frozen", architecture.ResNet34, true, func() nets.Network { return nets.NewFrozen(resnet(t, 34), 4) }, []int{3, 33, 40}, 132},
		{"resnet50", architecture.ResNet50, false, func() nets.Network { return nets.NewFineTuned(resnet(t, 50), 4) }, []int{3, 32, 32}, 181},
	} {
		torch.Tidy(func() {
			torch.NoGrad(func() {
				torch.Seed(11)
				network := c.network()
				trees := 0
				switch learnt, _ := network.(learnt); of := learnt.Model.(type) {
				case forest.Forest:
					trees = of.Trees
				case boosting.Model:
					trees = of.Trees
				default:
					randomise(network.State())
				}
				const rows = 3
				mean, deviation := []float32{0.5, -0.25, 1, 0, 2, 3}[:c.shape[0]], []float32{2, 0.5, 1.5, 3, 1, 0.7}[:c.shape[0]]
				scales, shifts := []float64{0.5, 2, 1, 0.75}, []float64{0.5, -1, math.Inf(-1), 0.25}
				f := encode(t, onnx.Model{
					Architecture: c.architecture, Frozen: c.frozen, Trees: trees, Classes: 4, Parameters: parameters(network.State()), InputShape: c.shape,
					Normalisation: normalise.Channels(mean, deviation), Scales: scales, Shifts: shifts,
				})
				each := slices.Repeat([]int{1}, len(c.shape))
				each[0] = c.shape[0]
				x := torch.RandN(torch.Float32, append([]int{rows}, c.shape...)...)
				features, logits := network.Forward(x.Sub(torch.FromSlice(mean, each...)).Div(torch.FromSlice(deviation, each...)), false)
				probabilities := logits.To(torch.Float64, torch.CPU).Mul(torch.FromSlice(scales, 4)).Add(torch.FromSlice(shifts, 4)).Softmax(1).To(torch.Float32, torch.CPU)

				got := f.run(t, x)
				compare(t, c.name+": features", got["features"], features)
				compare(t, c.name+": logits", got["logits"], logits)
				compare(t, c.name+": probabilities", got["probabilities"], probabilities)

				if want := append([]int{-1}, c.shape...); len(f.inputs) != 1 || !slices.Equal(f.inputs["input"], want) {
					t.Errorf("%s: inputs %v, want one of shape %v", c.name, f.inputs, want)
				}
				if !slices.Equal(f.outputNames, []string{"features", "logits", "probabilities"}) {
					t.Errorf("%s: outputs %v", c.name, f.outputNames)
				}
				for name, size := range map[string]int{"features": network.FeatureSize(), "logits": 4, "probabilities": 4} {
					if !slices.Equal(f.outputs[name], []int{-1, size}) {
						t.Errorf("%s: %s has shape %v", c.name, name, f.outputs[name])
					}
				}
				if len(f.nodes) != c.nodes {
					t.Errorf("%s: %d nodes, want %d", c.name, len(f.nodes), c.nodes)
				}
				for name, p := range parameters(network.State()) {
					if constant, ok := f.constants[name]; !ok || !slices.Equal(torch.ToSlice[float32](constant), p.Values) {
						t.Errorf("%s: no constant %s of the same values", c.name, name)
					}
				}
			})
		})
	}
}

// learnt is a model of rows of six values and four classes as a network.
type learnt struct{ learners.Model }

func (l learnt) Forward(x torch.Tensor, _ bool) (features, logits torch.Tensor) {
	values := torch.ToSlice[float32](x)
	return x, torch.FromSlice(l.Logits(values, 6, 1), len(values)/6, 4).To(torch.Float32, torch.CPU)
}

func (l learnt) FeatureSize() int { return 6 }

func (l learnt) State() (state nets.State) {
	for _, t := range l.Tensors() {
		shape := []int{len(t.Values)}
		if t.Width > 0 {
			shape = []int{len(t.Values) / t.Width, t.Width}
		}
		state = append(state, nets.Entry{Name: t.Name, Tensor: torch.FromSlice(t.Values, shape...)})
	}
	return state
}

// grown is what is learnt of rows of six values and four classes.
func grown(t *testing.T, name architecture.Name) nets.Network {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	rows := learners.Rows{Classes: 4}
	for range 50 {
		for range 6 {
			rows.Values = append(rows.Values, float32(random.NormFloat64()))
		}
		rows.Labels = append(rows.Labels, random.IntN(4))
	}
	learn := forest.Fit
	switch name {
	case architecture.Linear:
		learn = regression.Fit
	case architecture.Boosting:
		settings := boosting.Usual()
		settings.Rounds, settings.Folds, settings.LeastRows = 5, 0, 3
		learn = settings.Fit
	}
	fitted := must.Have(learn(t.Context(), rows, nil, 1, rand.NewPCG(3, 4)))(t)
	return learnt{fitted.Model}
}

// none leaves rows as they are.
var none = normalise.Normalisation{Kind: normalise.None}

func mlp(t *testing.T) onnx.Model {
	t.Helper()
	return onnx.Model{Architecture: architecture.MLP, Normalisation: none, Parameters: parameters(nets.NewMLP(3, nil, 4, 2, 0).State()), InputShape: []int{3}}
}

func TestHeader(t *testing.T) {
	f := encodeAs(t, onnx.About{Version: "1.2.3", Properties: map[string]string{"classes": `["a","b"]`, "about": "x"}}, mlp(t))
	if !slices.Equal(f.model.ints(1), []int{8}) || !slices.Equal(parse(t, f.model[8][0].bytes).ints(2), []int{17}) {
		t.Errorf("IR version %v", f.model.ints(1))
	}
	if !slices.Equal(f.model.texts(2), []string{"iwda"}) || !slices.Equal(f.model.texts(3), []string{"1.2.3"}) {
		t.Errorf("made by %v %v", f.model.texts(2), f.model.texts(3))
	}
	for i, want := range [][2]string{{"about", "x"}, {"classes", `["a","b"]`}} {
		p := parse(t, f.model[14][i].bytes)
		if p.texts(1)[0] != want[0] || p.texts(2)[0] != want[1] {
			t.Errorf("property %v %v, want %v", p.texts(1), p.texts(2), want)
		}
	}
}

// Without normalisation and calibration the probabilities are the softmax of the logits,
// and there is no operator that does nothing.
func TestNormalisation(t *testing.T) {
	torch.Tidy(func() {
		m := mlp(t)
		plain := encode(t, m)
		if got := plain.nodes[0]; got.operator != "Gemm" {
			t.Errorf("the first operator is %s", got.operator)
		}
		m.Normalisation = normalise.Channels([]float32{0, 0, 0}, []float32{1, 1, 1})
		m.Normalisation.Target.Range = normalise.Range{Low: []float32{-1, -5, -3}, High: []float32{2, 5, 4}}
		clipped := encode(t, m).run(t, torch.FromSlice([]float32{3, 0, -4, -2, 9, 4.5}, 2, 3))
		bounded := plain.run(t, torch.FromSlice([]float32{2, 0, -3, -1, 5, 4}, 2, 3))
		compare(t, "logits of clipped rows", clipped["logits"], bounded["logits"])
		compare(t, "softmax", bounded["probabilities"], bounded["logits"].Softmax(1))
	})
}

func TestErrors(t *testing.T) {
	for want, change := range map[string]func(m *onnx.Model){
		"no parameter classifier.bias":                                func(m *onnx.Model) { delete(m.Parameters, "classifier.bias") },
		"no parameter bottleneck.weight":                              func(m *onnx.Model) { delete(m.Parameters, "bottleneck.weight") },
		"does not have: hidden2.weight":                               func(m *onnx.Model) { m.Parameters["hidden2.weight"] = onnx.Tensor{} },
		"bottleneck.weight has shape [4 3] and 12 values, want [4 5]": func(m *onnx.Model) { m.InputShape = []int{5} },
		"classifier.bias has shape [3] and 3 values, want [2]": func(m *onnx.Model) {
			m.Parameters["classifier.bias"] = onnx.Tensor{Shape: []int{3}, Values: make([]float32, 3)}
		},
		"classifier.weight has shape [2], want 2 dimensions": func(m *onnx.Model) { m.Parameters["classifier.weight"] = onnx.Tensor{Shape: []int{2}} },
		"rows of shape [3 2]":                                func(m *onnx.Model) { m.InputShape = []int{3, 2} },
		"rows of shape [1 28 28]":                            func(m *onnx.Model) { m.InputShape = []int{1, 28, 28} },
		"normalisation.target.mean has 2 values, want 3":     func(m *onnx.Model) { m.Normalisation = normalise.Channels([]float32{1, 2}, nil) },
		"normalisation.target.low and normalisation.target.high have 1 and 0 values, want 3": func(m *onnx.Model) {
			m.Normalisation = normalise.Channels([]float32{0, 0, 0}, []float32{1, 1, 1})
			m.Normalisation.Target.Low = []float32{1}
		},
		"1 probabilities.scales for 2 classes": func(m *onnx.Model) { m.Scales = []float64{2} },
		"3 probabilities.shifts for 2 classes": func(m *onnx.Model) { m.Shifts = []float64{1, 2, 3} },
	} {
		m := mlp(t)
		change(&m)
		var out bytes.Buffer
		if err := onnx.Write(&out, onnx.About{}, m); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("error %v, %d bytes, want one with %q", err, out.Len(), want)
		}
	}
	threeClasses := onnx.Model{Architecture: architecture.MLP, Normalisation: none, Parameters: parameters(nets.NewMLP(3, nil, 4, 3, 0).State()), InputShape: []int{3}}
	wide := onnx.Model{Architecture: architecture.MLP, Normalisation: none, Parameters: parameters(nets.NewMLP(4, nil, 4, 2, 0).State()), InputShape: []int{4}}
	broken := mlp(t)
	delete(broken.Parameters, "classifier.bias")
	for want, models := range map[string][]onnx.Model{
		"onnx: no model": nil,
		"member 2: 3 classes of rows of shape [3]; those of the first are 2 and [3]": {mlp(t), threeClasses},
		"member 3: 2 classes of rows of shape [4]":                                   {mlp(t), mlp(t), wide},
		"member 1: no parameter classifier.bias":                                     {broken, mlp(t)},
	} {
		var out bytes.Buffer
		if err := onnx.Write(&out, onnx.About{}, models...); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("error %v, %d bytes, want one with %q", err, out.Len(), want)
		}
	}
}

// A file of several models gives the mean of their probabilities, each with its own
// normalisation, calibration and size.
func TestSeveralModels(t *testing.T) {
	torch.Tidy(func() {
		small, large := mlp(t), onnx.Model{Architecture: architecture.MLP, Normalisation: none, Parameters: parameters(nets.NewMLP(3, []int{6}, 5, 2, 0).State()), InputShape: []int{3}}
		small.Normalisation = normalise.Channels([]float32{1, 2, 3}, []float32{1, 2, 1})
		small.Normalisation.Target.Range = normalise.Range{Low: []float32{-1, -1, -1}, High: []float32{1, 1, 1}}
		large.Normalisation = normalise.Channels([]float32{0, 0, 1}, []float32{3, 1, 2})
		large.Scales, large.Shifts = []float64{3, 2}, []float64{0.5, -0.5}
		x := torch.RandN(torch.Float32, 7, 3)
		var each []torch.Tensor
		for _, m := range []onnx.Model{small, large, small} {
			each = append(each, encode(t, m).run(t, x)["probabilities"])
		}
		together := encode(t, small, large, small)
		compare(t, "mean", together.run(t, x)["probabilities"], each[0].Add(each[1]).Add(each[2]).Scale(1./3))
		small.Vote, large.Vote = 0.3, 0.1
		compare(t, "votes", encode(t, small, large).run(t, x)["probabilities"], each[0].Scale(0.75).Add(each[1].Scale(0.25)))
		if !slices.Equal(together.outputNames, []string{"probabilities"}) || !slices.Equal(together.outputs["probabilities"], []int{-1, 2}) {
			t.Errorf("outputs %v of shapes %v", together.outputNames, together.outputs)
		}
		if _, ok := together.constants["member2.hidden1.weight"]; !ok {
			t.Error("no constant member2.hidden1.weight")
		}
	})
}

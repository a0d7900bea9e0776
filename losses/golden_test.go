package losses

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"iwda/internal/golden"
	"iwda/losses/form"
	"iwda/nets"
	"iwda/torch"

	"gonum.org/v1/gonum/floats"
)

// tolerances are relative to the largest element of what is compared.
var tolerances = map[torch.DType]float64{torch.Float64: 1e-9, torch.Float32: 1e-4}

// gradient returns the gradient of a leaf, zeros where none flowed.
func gradient(leaf torch.Tensor) torch.Tensor {
	if g, ok := leaf.Grad(); ok {
		return g
	}
	return torch.Full(0, leaf.DType(), torch.CPU, leaf.Shape()...)
}

// inputs reads the tensors of one golden case; leaf makes one that takes gradients.
type inputs struct {
	t     *testing.T
	file  golden.File
	group string
	dtype torch.DType
	// device is the CPU or, where there is one, the first GPU.
	device torch.Device
}

func (in inputs) array(key string) golden.Array { return in.file.Get(in.t, in.group+"/"+key) }

func (in inputs) tensor(key string) torch.Tensor {
	a := in.array(key)
	return torch.FromSlice(a.Data, a.Shape...).To(in.dtype, in.device)
}

func (in inputs) leaf(key string) torch.Tensor { return in.tensor(key).SetRequiresGrad(true) }

func (in inputs) labels() torch.Tensor {
	a := in.array("labels")
	return torch.FromSlice(a.Data, a.Shape...).To(torch.Int64, in.device)
}

func (in inputs) rowWeights() torch.Tensor { return in.tensor("weights").IndexSelect(0, in.labels()) }

// near compares with an array of the case, by the tolerance relative to its largest element.
func (in inputs) near(what string, got torch.Tensor, key string) {
	in.t.Helper()
	values, want := torch.ToSlice[float64](got.To(torch.Float64, torch.CPU)), in.array(key).Data
	if len(values) != len(want) {
		in.t.Fatalf("%s: %d values, want %d", what, len(values), len(want))
	}
	limit := tolerances[in.dtype] * floats.Norm(want, math.Inf(1))
	for i, v := range values {
		if !(math.Abs(v-want[i]) <= limit) {
			in.t.Errorf("%s: element %d is %v, want %v", what, i, v, want[i])
			return
		}
	}
}

// eachCase runs f for both sizes of a golden file in both precisions on every kind of
// device that there is.
func eachCase(t *testing.T, name string, f func(t *testing.T, in inputs)) {
	file := golden.Open(t, name)
	for _, group := range file.Groups() {
		for dtype := range tolerances {
			for _, device := range devices() {
				t.Run(fmt.Sprintf("%s/%v/%v", group, dtype, device), func(t *testing.T) {
					torch.Tidy(func() { f(t, inputs{t, file, group, dtype, device}) })
				})
			}
		}
	}
}

func devices() []torch.Device {
	if torch.CUDADevices() > 0 {
		return []torch.Device{torch.CPU, torch.CUDA(0)}
	}
	return []torch.Device{torch.CPU}
}

func TestClassificationGolden(t *testing.T) {
	eachCase(t, "losses", func(t *testing.T, in inputs) {
		labels, distribution := in.labels(), in.tensor("source_label_distribution")
		rows, rowWeights := labels.Len(), in.rowWeights()
		for key, loss := range map[string]func(logits torch.Tensor) torch.Tensor{
			"ce": func(l torch.Tensor) torch.Tensor { return CrossEntropy(l, labels) },
			"ce-balanced": func(l torch.Tensor) torch.Tensor {
				return BalancedCrossEntropy(l, labels, distribution, torch.Tensor{})
			},
			"ce-weighted": func(l torch.Tensor) torch.Tensor {
				return BalancedCrossEntropy(l, labels, distribution, rowWeights)
			},
			"ce-weighted-released": func(l torch.Tensor) torch.Tensor {
				return ReleasedBalancedCrossEntropy(l, labels, distribution, rowWeights)
			},
		} {
			logits := in.tensor("logits").Narrow(0, 0, rows).Clone().SetRequiresGrad(true)
			l := loss(logits)
			l.Backward()
			in.near(key, l, key+"/loss")
			in.near(key+": gradient of the logits", gradient(logits), key+"/grad_logits")
		}
	})
}

// adversarialCases are the golden losses with a discriminator. What they have in
// common is in TestAdversarialGolden.
var adversarialCases = []struct {
	name          string
	discriminator string
	weighted      bool
	entropy       bool
}{
	{name: "dann", discriminator: "dann"},
	{name: "iwdan", discriminator: "dann", weighted: true},
	{name: "cdan", discriminator: "cdan"},
	{name: "iwcdan", discriminator: "cdan", weighted: true},
	{name: "cdan-e", discriminator: "cdan", entropy: true},
	{name: "iwcdan-e", discriminator: "cdan", weighted: true, entropy: true},
	{name: "cdan-random", discriminator: "random"},
	{name: "iwcdan-random", discriminator: "random", weighted: true},
}

func TestAdversarialGolden(t *testing.T) {
	eachCase(t, "losses", func(t *testing.T, in inputs) {
		rows := in.labels().Len()
		for _, c := range adversarialCases {
			features, logits := in.leaf("features"), in.leaf("logits")
			d, state := in.discriminator(c.discriminator)
			input := features
			switch c.discriminator {
			case "cdan":
				input = Conditioned(features, logits.Softmax(1))
			case "random":
				projection := &nets.RandomProjection{Features: in.tensor("random/feature_matrix"), Predictions: in.tensor("random/prediction_matrix")}
				input = projection.Forward(features, logits.Softmax(1).Detach())
			}
			out := d.Forward(input.ReverseGradient(torch.Number(in.array("grl_coefficient").Scalar())), false)
			source, target := out.Narrow(0, 0, rows), out.Narrow(0, rows, rows)
			var rowWeights, loss torch.Tensor
			if c.weighted {
				rowWeights = in.rowWeights()
			}
			if c.entropy {
				e := Certainty(logits.Softmax(1), torch.Number(in.array("entropy_coefficient").Scalar()))
				loss = EntropyConditioned(source, target, e.Narrow(0, 0, rows), e.Narrow(0, rows, rows), rowWeights)
			} else {
				loss = Adversarial(source, target, rowWeights)
			}
			loss.Backward()
			in.near(c.name, loss, c.name+"/loss")
			in.near(c.name+": gradient of the features", gradient(features), c.name+"/grad_features")
			in.near(c.name+": gradient of the logits", gradient(logits), c.name+"/grad_logits")
			for _, e := range state {
				in.near(c.name+": gradient of "+e.Name, gradient(e.Tensor), c.name+"/grad_"+e.Name)
			}
		}
	})
}

// discriminator builds the golden discriminator of that name.
func (in inputs) discriminator(name string) (*nets.Discriminator, nets.State) {
	first := in.array(name + "/layer1.weight").Shape
	d := nets.NewDiscriminator(first[1], first[0], 0)
	state := d.State()
	state.Move(in.dtype, in.device)
	values := make(map[string]torch.Tensor)
	for _, e := range state {
		values[e.Name] = in.tensor(name + "/" + e.Name)
	}
	if err := state.Load(values); err != nil {
		in.t.Fatal(err)
	}
	return d, state
}

func TestMMDGolden(t *testing.T) {
	eachCase(t, "mmd", func(t *testing.T, in inputs) {
		for _, name := range []string{"dan", "jan", "iwjan"} {
			leaves := map[string]torch.Tensor{}
			for _, key := range []string{"source_features", "target_features", "source_logits", "target_logits"} {
				leaves[key] = in.leaf(key)
			}
			features := Layer{leaves["source_features"], leaves["target_features"], FeatureKernel}
			predictions := Layer{leaves["source_logits"].Softmax(1), leaves["target_logits"].Softmax(1), PredictionKernel}
			var loss torch.Tensor
			switch name {
			case "dan":
				loss = MaximumMeanDiscrepancy(form.Unbiased, torch.Tensor{}, features)
			case "jan":
				loss = MaximumMeanDiscrepancy(form.Unbiased, torch.Tensor{}, features, predictions)
			case "iwjan":
				loss = MaximumMeanDiscrepancy(form.Unbiased, in.rowWeights(), features, predictions)
			}
			loss.Backward()
			in.near(name, loss, name+"/loss")
			for key, leaf := range leaves {
				in.near(name+": gradient of "+key, gradient(leaf), name+"/grad_"+key)
			}
		}
	})
}

// TestConfusionGolden: values and gradients of minimum class confusion. What float32 has left of
// that of sure classifiers is rounding.
func TestConfusionGolden(t *testing.T) {
	eachCase(t, "mcc", func(t *testing.T, in inputs) {
		if in.dtype == torch.Float32 && strings.Contains(in.group, "sure") {
			return
		}
		for key, loss := range map[string]func(torch.Tensor) torch.Tensor{
			"mcc-t1":   func(l torch.Tensor) torch.Tensor { return ClassConfusion(l, 1) },
			"mcc-t2":   func(l torch.Tensor) torch.Tensor { return ClassConfusion(l, 2) },
			"mcc-t2.5": func(l torch.Tensor) torch.Tensor { return ClassConfusion(l, 2.5) },
		} {
			logits := in.leaf("logits")
			l := loss(logits)
			l.Backward()
			in.near(key, l, key+"/loss")
			in.near(key+": gradient of the logits", gradient(logits), key+"/gradient")
		}
	})
}

package nets

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"iwda/internal/must"
	"iwda/learners"
	"iwda/learners/perceptron"
	"iwda/nets/architecture"
	"iwda/torch"
)

// Every name makes a network that takes the rows that its architecture says.
func TestEveryArchitecture(t *testing.T) {
	inputs := map[architecture.Input]struct {
		shape  []int
		script string
	}{
		architecture.SmallImages: {[]int{1, 28, 28}, ""},
		architecture.Vectors:     {[]int{6}, "shared.pt"},
		architecture.Photographs: {[]int{3, 32, 32}, "backbone.pt"},
	}
	for input, rows := range inputs {
		for _, word := range architecture.Taking(input) {
			name := must.Have(architecture.Parse(word))(t)
			if name.Learnt() {
				continue
			}
			shape := rows.shape
			if name == architecture.LeNet {
				shape = []int{rows.shape[0], architecture.LeNetSide, architecture.LeNetSide}
			}
			torch.Tidy(func() {
				settings := Settings{Classes: 5, RowShape: shape, HiddenLayers: 2, HiddenSize: 7, Frozen: name == architecture.ResNet34}
				if name == architecture.TorchScript {
					settings.Weights = filepath.Join(scripts, rows.script)
				}
				n, sum := must.Both(New(name, settings))(t)
				if settings.Weights != "" {
					if want := checksum(t, settings.Weights); sum != want {
						t.Errorf("%s: SHA-256 %s, want %s", settings.Weights, sum, want)
					}
				}
				features, logits := n.Forward(torch.RandN(torch.Float32, append([]int{2}, shape...)...), false)
				if !slices.Equal(features.Shape(), []int{2, n.FeatureSize()}) || !slices.Equal(logits.Shape(), []int{2, 5}) {
					t.Errorf("%s: features %v, logits %v", name, features.Shape(), logits.Shape())
				}
				if _, frozen := n.(*Frozen); frozen != (name == architecture.ResNet34) {
					t.Errorf("%s is a %T", name, n)
				}
			})
		}
	}
}

func TestSettingsOfAnMLP(t *testing.T) {
	torch.Tidy(func() {
		n, _ := must.Both(New(architecture.MLP, Settings{Classes: 5, RowShape: []int{9}, HiddenLayers: 3, HiddenSize: 7}))(t)
		var shapes [][]int
		for _, p := range n.State().Parameters() {
			shapes = append(shapes, p.Shape())
		}
		want := [][]int{{7, 9}, {7}, {7, 7}, {7}, {7, 7}, {7}, {5, 7}, {5}}
		if !slices.EqualFunc(shapes, want, slices.Equal[[]int]) {
			t.Errorf("shapes %v, want %v", shapes, want)
		}
	})
}

// A layer beyond all memory is an error that says so, not gotorch's panic.
func TestLayersBeyondMemory(t *testing.T) {
	for what, construct := range map[string]func(){
		"linear layer of 64 × 1000000000000": func() { newLinear(64, 1e12) },
		"convolution of 20 to 1000000000000": func() { newConv2D(20, 1e12, 5) },
	} {
		must.Fail(t, torch.Try(construct), what)
	}
}

// Models of learners say the same as the networks that have their tensors.
func TestModelsAreNetworks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := learners.Rows{Classes: 3}
	for i := range 90 {
		for range 4 {
			rows.Values = append(rows.Values, float32(random.NormFloat64()))
		}
		rows.Labels = append(rows.Labels, i%3)
	}
	settings := perceptron.Usual()
	settings.Rounds = 3
	for name, c := range map[string]struct {
		learner learners.Learner
		network Network
	}{
		"perceptron": {settings.Fit, NewMLP(4, nil, settings.Folds*settings.Hidden, 3, 0.5)},
	} {
		fitted := must.Have(c.learner(t.Context(), rows, nil, 1, rand.NewPCG(1, 2)))(t)
		torch.Tidy(func() {
			tensors := map[string]torch.Tensor{}
			for _, part := range fitted.Model.Tensors() {
				shape := []int{len(part.Values) / max(1, part.Width), part.Width}
				if part.Width == 0 {
					shape = shape[:1]
				}
				tensors[part.Name] = torch.FromSlice(part.Values, shape...)
			}
			must.Do(t, c.network.State().Load(tensors))
			_, logits := c.network.Forward(torch.FromSlice(rows.Values, 90, 4), false)
			want := fitted.Model.Logits(rows.Values, 4, 1)
			for i, got := range torch.ToSlice[float32](logits) {
				if math.Abs(float64(got)-want[i]) > 1e-5 {
					t.Fatalf("%s: logit %d is %v as a network, %v as a model", name, i, got, want[i])
				}
			}
		})
	}
}

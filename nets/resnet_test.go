package nets

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/golden"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/torch"
)

// hashed returns number n of the golden ResNets: one value in [-1, 1) an element,
// from splitmix64's finaliser on the element's address.
func hashed(seed, n uint64, scale float64, shape ...int) torch.Tensor {
	size := 1
	for _, d := range shape {
		size *= d
	}
	values := make([]float64, size)
	for i := range values {
		values[i] = scale * unit(seed, n, uint64(i))
	}
	return torch.FromSlice(values, shape...)
}

func unit(seed, n, i uint64) float64 {
	z := seed<<56 + n<<40 + i + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11)*0x1p-52 - 1
}

func TestHash(t *testing.T) {
	for _, c := range []struct {
		n, i uint64
		want float64
	}{{0, 0, 0.577563}, {0, 1, 0.960691}, {0, 2, -0.574708}, {1000, 5, 0.061120}} {
		if got := unit(1, c.n, c.i); math.Abs(got-c.want) > 5e-7 {
			t.Errorf("u(%d, %d) is %v, want %v", c.n, c.i, got, c.want)
		}
	}
}

// named is one line of a …-state-dict.json file: a name and a shape.
type named struct {
	name  string
	shape []int
}

func (n *named) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&n.name, &n.shape})
}

// dictionary reads names and shapes of torchvision's ResNet.
func dictionary(t *testing.T, depth int) []named {
	var names []named
	testfiles.ReadJSON(t, filepath.Join(golden.Folder(t), fmt.Sprintf("resnet%d-state-dict.json", depth)), &names)
	return names
}

// hashedState gives every entry of torchvision's dictionary its values.
func hashedState(t *testing.T, depth int, seed uint64) map[string]torch.Tensor {
	values := make(map[string]torch.Tensor)
	number := uint64(0)
	for _, e := range dictionary(t, depth) {
		if strings.HasSuffix(e.name, "num_batches_tracked") {
			values[e.name] = torch.Full(0, torch.Int64, torch.CPU)
			continue
		}
		var v torch.Tensor
		switch {
		case strings.HasSuffix(e.name, "running_mean"), strings.HasSuffix(e.name, "bias"):
			v = hashed(seed, number, 0.1, e.shape...)
		case strings.HasSuffix(e.name, "running_var"):
			v = hashed(seed, number, 0.2, e.shape...).Affine(1, 1)
		case len(e.shape) > 1:
			v = hashed(seed, number, 1, e.shape...)
			v = v.Scale(math.Sqrt(6 / float64(v.Len()/e.shape[0])))
		default:
			v = hashed(seed, number, 0.1, e.shape...).Affine(1, 1)
		}
		values[e.name] = v
		number++
	}
	return values
}

// goldenResNet is a backbone and torchvision's classifier with the golden weights.
type goldenResNet struct {
	*ResNet
	classifier layer
	file       golden.File
	seed       uint64
	dtype      torch.DType
	device     torch.Device
}

func (n *goldenResNet) State() State { return append(n.ResNet.State(), n.classifier.state("fc")...) }

func (n *goldenResNet) images(number uint64, shape ...int) torch.Tensor {
	return hashed(n.seed, number, 1.7, shape...).To(n.dtype, n.device)
}

// eachGoldenResNet runs f for both depths in float32, for the deep one in float64 too, which takes long, and in
// float64 on a GPU where there is one: in float32 its convolutions round their inputs to TF32.
func eachGoldenResNet(t *testing.T, f func(t *testing.T, n *goldenResNet, prefix string)) {
	file := golden.Open(t, "resnet")
	seed := uint64(file.Get(t, "seed").Scalar())
	type form struct {
		dtype  torch.DType
		device torch.Device
	}
	forms := []form{{torch.Float64, torch.CPU}, {torch.Float32, torch.CPU}}
	if torch.CUDADevices() > 0 {
		forms = append(forms, form{torch.Float64, torch.CUDA(0)})
	}
	for _, depth := range []int{18, 50} {
		for _, c := range forms {
			if depth == 18 && c == forms[0] {
				continue
			}
			t.Run(fmt.Sprintf("resnet%d/%v on %v", depth, c.dtype, c.device), func(t *testing.T) {
				torch.Tidy(func() {
					backbone := must.Have(NewResNet(depth))(t)
					n := &goldenResNet{backbone, newLinear(backbone.FeatureSize(), 1000), file, seed, c.dtype, c.device}
					// The golden networks compute in float64 with weights that were
					// rounded to float32.
					must.Do(t, n.State().Load(hashedState(t, depth, seed)))
					n.State().Move(c.dtype, c.device)
					f(t, n, fmt.Sprintf("resnet%d/", depth))
				})
			})
		}
	}
}

// Float32 may differ from the golden float64 by ten times what PyTorch's does.
func (n *goldenResNet) tolerance(ofPyTorch float64) float64 {
	if n.dtype == torch.Float32 {
		return 10 * ofPyTorch
	}
	return 1e-6
}

func TestResNetEvaluationGolden(t *testing.T) {
	eachGoldenResNet(t, func(t *testing.T, n *goldenResNet, prefix string) {
		torch.NoGrad(func() {
			features := n.Forward(n.images(1000, 2, 3, 224, 224), false)
			near(t, "features", features, n.file.Get(t, prefix+"eval/features"), n.tolerance(1e-6))
			near(t, "logits", n.classifier.linear(features), n.file.Get(t, prefix+"eval/logits"), n.tolerance(1e-6))
		})
		for _, e := range n.State() {
			if strings.HasSuffix(e.Name, "num_batches_tracked") && e.Tensor.Item() != 0 {
				t.Fatalf("evaluation counted a batch: %s", e.Name)
			}
		}
	})
}

func TestResNetTrainingGolden(t *testing.T) {
	eachGoldenResNet(t, func(t *testing.T, n *goldenResNet, prefix string) {
		prefix += "train/"
		features := n.Forward(n.images(1001, 8, 3, 128, 128), true)
		near(t, "features", features, n.file.Get(t, prefix+"features"), n.tolerance(2e-4))

		labels := torch.FromSlice([]int64{0, 7, 14, 21, 28, 35, 42, 49}, 8, 1).To(torch.Int64, n.device)
		loss := n.classifier.linear(features).LogSoftmax(1).Gather(1, labels).Mean().Neg()
		near(t, "loss", loss, n.file.Get(t, prefix+"loss"), n.tolerance(2e-4))
		loss.Backward()

		state := n.State()
		find := func(name string) torch.Tensor {
			i := slices.IndexFunc(state, func(e Entry) bool { return e.Name == name })
			if i < 0 {
				t.Fatalf("no entry %q", name)
			}
			return state[i].Tensor
		}
		checked := 0
		for key, want := range n.file {
			if name, ok := strings.CutPrefix(key, prefix+"gradnorm/"); ok {
				gradient, _ := find(name).Grad()
				squares := gradient.To(torch.Float64, torch.CPU).Square().Sum().Item()
				near(t, key, torch.FromSlice([]float64{math.Sqrt(squares)}), want, n.tolerance(1e-3))
				checked++
			}
			if name, ok := strings.CutPrefix(key, prefix+"grad/"); ok {
				gradient, _ := find(name).Grad()
				near(t, key, gradient.Reshape(-1).Narrow(0, 0, 64), want, n.tolerance(6e-2))
				checked++
			}
			if name, ok := strings.CutPrefix(key, prefix+"after/"); ok {
				near(t, key, find(name), want, n.tolerance(2e-4))
				checked++
			}
		}
		if checked == 0 {
			t.Errorf("no gradients and statistics under %s", prefix)
		}
		for _, e := range state {
			if strings.HasSuffix(e.Name, "num_batches_tracked") && e.Tensor.Item() != 1 {
				t.Fatalf("%s is %v after one batch", e.Name, e.Tensor.Item())
			}
		}
	})
}

func TestResNetState(t *testing.T) {
	for _, depth := range []int{18, 50} {
		n := must.Have(NewResNet(depth))(t)
		want := dictionary(t, depth)
		want = want[:len(want)-2] // without fc
		state := n.State()
		if len(state) != len(want) {
			t.Fatalf("ResNet-%d: %d entries, want %d", depth, len(state), len(want))
		}
		for i, e := range state {
			if e.Name != want[i].name || !slices.Equal(e.Tensor.Shape(), want[i].shape) {
				t.Errorf("ResNet-%d: entry %d is %s %v, want %s %v", depth, i, e.Name, e.Tensor.Shape(), want[i].name, want[i].shape)
			}
			buffer := strings.Contains(e.Name, "running_") || strings.HasSuffix(e.Name, "num_batches_tracked")
			if e.Trained == buffer || e.Tensor.RequiresGrad() == buffer {
				t.Errorf("%s: trained is %v, requires a gradient is %v", e.Name, e.Trained, e.Tensor.RequiresGrad())
			}
		}
	}
}

// The numbers of parameters are torchvision's, less the classifier's.
func TestResNetSizes(t *testing.T) {
	for _, c := range []struct{ depth, features, parameters int }{
		{18, 512, 11689512}, {34, 512, 21797672}, {50, 2048, 25557032}, {101, 2048, 44549160}, {152, 2048, 60192808},
	} {
		n := must.Have(NewResNet(c.depth))(t)
		total := 1000*c.features + 1000
		for _, p := range n.State().Parameters() {
			total += p.Len()
		}
		if total != c.parameters || n.FeatureSize() != c.features {
			t.Errorf("ResNet-%d: %d parameters and %d features, want %d and %d", c.depth, total, n.FeatureSize(), c.parameters, c.features)
		}
	}
	must.Refuse(NewResNet(20))(t, "20")
}

func TestResNetInitialisation(t *testing.T) {
	torch.Tidy(func() {
		torch.Seed(4)
		n := small(t)
		for _, e := range n.State() {
			values := torch.ToSlice[float64](e.Tensor.To(torch.Float64, torch.CPU))
			var mean, squares float64
			for _, v := range values {
				mean += v / float64(len(values))
				squares += v * v / float64(len(values))
			}
			want := 0.0
			switch shape := e.Tensor.Shape(); {
			case len(shape) == 4:
				variance := 2 / float64(shape[0]*shape[2]*shape[3])
				if noise := 5 / math.Sqrt(float64(len(values))); math.Abs(squares/variance-1) > noise || math.Abs(mean) > noise*math.Sqrt(variance) {
					t.Errorf("%s: mean %v, mean square %v, want 0 and %v", e.Name, mean, squares, variance)
				}
				continue
			case strings.HasSuffix(e.Name, "weight"), strings.HasSuffix(e.Name, "running_var"):
				want = 1
			}
			for _, v := range values {
				if v != want {
					t.Fatalf("%s is %v, want %v", e.Name, v, want)
				}
			}
		}
	})
}

// small returns a ResNet-18.
func small(t testing.TB) *ResNet {
	t.Helper()
	return must.Have(NewResNet(18))(t)
}

// No intermediate result outlives the forward pass, so that evaluation takes no more
// memory than its largest block.
func TestResNetReleases(t *testing.T) {
	torch.Tidy(func() {
		n, images := small(t), torch.RandN(torch.Float32, 2, 3, 32, 32)
		torch.NoGrad(func() {
			before := torch.LiveTensors()
			n.Forward(images, false)
			if got := torch.LiveTensors() - before; got > 1 {
				t.Errorf("%d tensors are left of a forward pass, want 1", got)
			}
		})
		images.Sum() // not released
	})
}

package nets

import (
	"math"
	"slices"
	"strings"
	"testing"

	"iwda/torch"
)

// moments returns mean and mean square.
func moments(t torch.Tensor) (mean, squares float64) {
	return t.Mean().Item(), t.Square().Mean().Item()
}

// checkNormal compares a weight's mean square with the variance it was drawn with.
func checkNormal(t *testing.T, what string, l layer, variance, bias float64) {
	t.Helper()
	mean, squares := moments(l.weight)
	noise := 5 / math.Sqrt(float64(l.weight.Len()))
	if math.Abs(squares/variance-1) > 2*noise || math.Abs(mean) > noise*math.Sqrt(variance) {
		t.Errorf("%s: mean %v, mean square %v, want 0 and %v", what, mean, squares, variance)
	}
	for _, v := range torch.ToSlice[float32](l.bias) {
		if v != float32(bias) {
			t.Fatalf("%s: bias %v, want %v", what, v, bias)
		}
	}
}

func TestHeadInitialisation(t *testing.T) {
	torch.Tidy(func() {
		torch.Seed(5)
		tuned := NewFineTuned(small(t), 31)
		checkNormal(t, "bottleneck", tuned.head.bottleneck, 2./(512+256), 0)
		checkNormal(t, "classifier", tuned.head.classifier, 2./(256+31), 0)
		frozen := NewFrozen(small(t), 31)
		checkNormal(t, "frozen bottleneck", frozen.head.bottleneck, 0.005*0.005, 0.1)
		checkNormal(t, "frozen classifier", frozen.head.classifier, 0.01*0.01, 0)
		mlp := NewMLP(300, []int{200}, 100, 40, 0.5)
		checkNormal(t, "hidden", mlp.hidden[0], 2./(300+200), 0)
		checkNormal(t, "MLP bottleneck", mlp.bottleneck, 2./(200+100), 0)
		checkNormal(t, "MLP classifier", mlp.classifier, 2./(100+40), 0)
	})
}

func names(s State) []string {
	var names []string
	for _, e := range s {
		names = append(names, e.Name)
	}
	return names
}

func TestGroups(t *testing.T) {
	torch.Tidy(func() {
		head := []string{"bottleneck.weight", "bottleneck.bias", "classifier.weight", "classifier.bias"}
		for _, n := range []Grouped{NewFineTuned(small(t), 3), NewFrozen(small(t), 3)} {
			if got := names(n.Head()); !slices.Equal(got, head) {
				t.Errorf("%T: head is %v", n, got)
			}
			for _, name := range names(n.Backbone()) {
				if !strings.HasPrefix(name, "backbone.") {
					t.Errorf("%T: %s in the backbone", n, name)
				}
			}
			if got := names(n.State()); !slices.Equal(got, slices.Concat(names(n.Backbone()), head)) {
				t.Errorf("%T: state is %v", n, got)
			}
		}
		if got := len(NewFrozen(small(t), 3).State().Parameters()); got != 4 {
			t.Errorf("%d tensors of a frozen network are trained, want 4", got)
		}
		if got := len(NewFineTuned(small(t), 3).State().Parameters()); got != 60+4 {
			t.Errorf("%d tensors of a network are trained, want 64", got)
		}
	})
}

// The passes of source and target, one after the other, give the gradients of the sum
// of two losses, and each updates the running statistics.
func TestFineTunedTrains(t *testing.T) {
	torch.Tidy(func() {
		torch.Seed(6)
		backbone := small(t)
		n := NewFineTuned(backbone, 3)
		source, target := torch.RandN(torch.Float32, 4, 3, 32, 32), torch.RandN(torch.Float32, 4, 3, 32, 32).Scale(2)
		conv, batches := backbone.stem.weight, backbone.stem.batches
		gradient := func(images ...torch.Tensor) torch.Tensor {
			total := torch.Full(0, torch.Float32, torch.CPU)
			for _, x := range images {
				_, logits := n.Forward(x, true)
				total = total.Add(logits.LogSoftmax(1).Narrow(1, 0, 1).Mean())
			}
			if g, ok := conv.Grad(); ok {
				torch.CopyFromSlice(g, make([]float32, g.Len()))
			}
			total.Backward()
			g, _ := conv.Grad()
			return g.Clone()
		}
		both, first, second := gradient(source, target), gradient(source), gradient(target)
		difference := both.Sub(first).Sub(second).Square().Sum().Item()
		if scale := both.Square().Sum().Item(); scale == 0 || difference > 1e-6*scale {
			t.Errorf("squared difference of gradients %v of %v", difference, scale)
		}
		if got := batches.Item(); got != 4 {
			t.Errorf("%v batches counted, want 4", got)
		}
		features, logits := n.Forward(source, false)
		if !slices.Equal(features.Shape(), []int{4, n.FeatureSize()}) || !slices.Equal(logits.Shape(), []int{4, 3}) {
			t.Errorf("shapes %v and %v", features.Shape(), logits.Shape())
		}
		if got := features.ReLU().Sub(features).Square().Sum().Item(); got == 0 {
			t.Error("no feature is negative: the bottleneck is not linear")
		}
	})
}

// Backbones of the same numbers become one, others stay as they are.
func TestShareBackbone(t *testing.T) {
	torch.Tidy(func() {
		made := func(seed uint64) *Frozen {
			torch.Seed(seed)
			return NewFrozen(small(t), 3)
		}
		first, second, other := made(7), made(7), made(8)
		images := torch.RandN(torch.Float32, 2, 3, 32, 32)
		second.head.classifier.bias.Set(second.head.classifier.bias.Affine(1, 1))
		_, before := second.Forward(images, false)
		if first.SharesBackbone(second) || !second.ShareBackbone(first) || !first.SharesBackbone(second) {
			t.Error("two backbones of the same numbers are not shared")
		}
		if _, after := second.Forward(images, false); !slices.Equal(torch.ToSlice[float32](before), torch.ToSlice[float32](after)) {
			t.Error("other logits with the shared backbone")
		}
		if other.ShareBackbone(first) || other.SharesBackbone(first) {
			t.Error("two backbones of other numbers are shared")
		}
		// A counter of batches is a number too.
		third := made(7)
		third.backbone.(*ResNet).stem.batches.Increment()
		if third.ShareBackbone(first) {
			t.Error("a backbone with another counter is shared")
		}
	})
}

func TestFrozen(t *testing.T) {
	torch.Tidy(func() {
		torch.Seed(7)
		backbone := small(t)
		n := NewFrozen(backbone, 3)
		images := torch.RandN(torch.Float32, 4, 3, 32, 32)
		before := torch.ToSlice[float32](backbone.stem.running.Mean)
		_, logits := n.Forward(images, true)
		logits.Square().Sum().Backward()
		for _, e := range n.State() {
			if _, ok := e.Tensor.Grad(); ok != e.Trained {
				t.Errorf("%s: trained is %v, has a gradient is %v", e.Name, e.Trained, ok)
			}
		}
		if !slices.Equal(before, torch.ToSlice[float32](backbone.stem.running.Mean)) || backbone.stem.batches.Item() != 0 {
			t.Error("training changed the running statistics of a frozen backbone")
		}

		pooled := n.Pooled(images)
		if pooled.RequiresGrad() || !slices.Equal(pooled.Shape(), []int{4, 512}) {
			t.Errorf("pooled features: shape %v, gradient %v", pooled.Shape(), pooled.RequiresGrad())
		}
		torch.Seed(8)
		features, logits := n.Forward(images, true)
		torch.Seed(8)
		again, same := n.OnPooled().Forward(pooled, true)
		if d := features.Sub(again).Square().Sum().Add(logits.Sub(same).Square().Sum()).Item(); d != 0 {
			t.Errorf("the head on pooled features differs by %v", d)
		}
		zeros := 0
		for _, v := range torch.ToSlice[float32](features) {
			if v == 0 {
				zeros++
			}
		}
		if share := float64(zeros) / float64(features.Len()); share < 0.4 {
			t.Errorf("%.2f of the features are 0 in training", share)
		}
	})
}

func TestMLP(t *testing.T) {
	torch.Tidy(func() {
		n := NewMLP(2, []int{2}, 2, 1, 0.5)
		if got, want := names(n.State()), []string{
			"hidden1.weight", "hidden1.bias", "bottleneck.weight", "bottleneck.bias", "classifier.weight", "classifier.bias",
		}; !slices.Equal(got, want) {
			t.Errorf("state %v", got)
		}
		for i, v := range [][]float32{{1, 2, 3, -4}, {0.5, 1}, {1, -1, 2, 0}, {0, -1}, {2, 3}, {-1}} {
			torch.CopyFromSlice(n.State()[i].Tensor, v)
		}
		// hidden (5.5, 0), bottleneck (5.5, 10), classifier 2·5.5 + 3·10 - 1.
		features, logits := n.Forward(torch.FromSlice([]float32{1, 2}, 1, 2), false)
		if got := torch.ToSlice[float32](features); !slices.Equal(got, []float32{5.5, 10}) {
			t.Errorf("features %v", got)
		}
		if got := logits.Item(); got != 40 {
			t.Errorf("logits %v", got)
		}
		if n.FeatureSize() != 2 {
			t.Errorf("feature size %d", n.FeatureSize())
		}
		wide := NewMLP(4, nil, 1000, 2, 0.5)
		x := torch.Full(1, torch.Float32, torch.CPU, 1, 4)
		zeros := func(training bool) (count int) {
			features, _ := wide.Forward(x, training)
			for _, v := range torch.ToSlice[float32](features) {
				if v == 0 {
					count++
				}
			}
			return count
		}
		if evaluation, training := zeros(false), zeros(true); evaluation > 600 || training < 650 {
			t.Errorf("%d of 1000 features are 0 in evaluation, %d in training", evaluation, training)
		}
	})
}

// Tensors of every type that a module may have are compared, numbers of 64 bits exactly.
func TestEqual(t *testing.T) {
	torch.Tidy(func() {
		large := torch.FromSlice([]int64{1 << 60}, 1)
		for _, dtype := range []torch.DType{torch.Float32, torch.Float64, torch.BFloat16, torch.Int64, torch.Uint8, torch.Bool} {
			ones, zeros := torch.Full(1, dtype, torch.CPU, 2), torch.Full(0, dtype, torch.CPU, 2)
			if !equal(ones, ones.Clone()) || equal(ones, zeros) || equal(ones, large) {
				t.Errorf("tensors of %v are not compared", dtype)
			}
		}
		if equal(large, torch.FromSlice([]int64{1<<60 + 1}, 1)) {
			t.Error("integers are compared as if they were real numbers")
		}
	})
}

package torch

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// refused runs f and returns the *Error that it must panic with.
func refused(t *testing.T, what string, f func()) *Error {
	t.Helper()
	var e *Error
	if err := Try(f); !errors.As(err, &e) {
		t.Fatalf("%s: not refused", what)
	}
	if e.Op == "" || e.Msg == "" {
		t.Errorf("%s: empty error %q", what, e)
	}
	return e
}

func TestMisuseIsAnError(t *testing.T) {
	Tidy(func() {
		a, b := Full(1, Float64, CPU, 2, 3), Full(1, Float64, CPU, 4, 5)
		images := Full(1, Float64, CPU, 32, 3, 6, 6).BlockBatch()
		kernel, bias := Full(1, Float64, CPU, 4, 3, 3, 3), Full(1, Float64, CPU, 4)
		for _, c := range []struct {
			what, op string
			f        func()
		}{
			{"shapes that do not multiply", "MatMul", func() { a.MatMul(b) }},
			{"shapes that do not broadcast", "Add", func() { a.Add(b) }},
			{"types that do not multiply", "MatMul", func() { a.MatMul(Full(1, Float32, CPU, 3, 3)) }},
			{"an index that is no integer", "Gather", func() { a.Gather(1, Full(0, Float64, CPU, 2, 1)) }},
			{"an index out of range", "IndexSelect", func() { a.IndexSelect(0, FromSlice([]int64{7}, 1)) }},
			{"a gradient of integers", "SetRequiresGrad", func() { FromSlice([]int64{1}, 1).SetRequiresGrad(true) }},
			{"backward from a matrix", "Backward", func() { a.Clone().SetRequiresGrad(true).Backward() }},
			{"backward without a graph", "Backward", func() { a.Sum().Backward() }},
			{"too few elements", "FromSlice", func() { FromSlice([]float32{1, 2}, 3) }},
			{"a slice of another type", "CopyToSlice", func() { CopyToSlice(make([]float32, 6), a) }},
			{"a slice of another length", "CopyToSlice", func() { CopyToSlice(make([]float64, 5), a) }},
			{"copying in another length", "CopyFromSlice", func() { CopyFromSlice(a, make([]float64, 5)) }},
			{"an item of many", "Item", func() { a.Item() }},
			{"setting another shape", "Set", func() { a.Set(b) }},
			{"the zero tensor", "Add", func() { Tensor{}.Add(a) }},
			{"too many dimensions", "shape", func() { a.Reshape(1, 1, 1, 1, 1, 1, 1, 2, 3) }},
			{"kernels of no rows", "GaussianKernelSum", func() { bias.GaussianKernelSum(Full(1, Float64, CPU), 1) }},
			{"bandwidths for each row", "GaussianKernelSum", func() { a.GaussianKernelSum(Full(1, Float64, CPU, 2), 1) }},
			{"no kernel", "GaussianKernelSum", func() { a.GaussianKernelSum(Full(1, Float64, CPU), 0) }},
			{"no images", "BlockBatch", func() { a.BlockBatch() }},
			{"more rows than the blocks have", "UnblockBatch", func() { images.UnblockBatch(33) }},
			{"fewer rows than the blocks have", "UnblockBatch", func() { images.UnblockBatch(16) }},
			{"blocks of another size", "ConvMaxPoolReLU", func() { images.Narrow(4, 0, 8).ConvMaxPoolReLU(kernel, bias) }},
			{"a kernel for other channels", "ConvMaxPoolReLU", func() { images.ConvMaxPoolReLU(Full(1, Float64, CPU, 4, 2, 3, 3), bias) }},
			{"a kernel of another type", "ConvMaxPoolReLU", func() { images.ConvMaxPoolReLU(kernel.To(Float32, CPU), bias) }},
			{"a kernel that is not square", "ConvMaxPoolReLU", func() { images.ConvMaxPoolReLU(Full(1, Float64, CPU, 4, 3, 3, 2), bias) }},
			{"a kernel of the images' size", "ConvMaxPoolReLU", func() { images.ConvMaxPoolReLU(Full(1, Float64, CPU, 4, 3, 6, 6), bias) }},
			{"a bias of another size", "ConvMaxPoolReLU", func() { images.ConvMaxPoolReLU(kernel, Full(1, Float64, CPU, 5)) }},
			{"zero threads", "SetThreads", func() { SetThreads(0) }},
			{"a damaged generator state", "SetGeneratorState", func() { SetGeneratorState(CPU, []byte{1, 2, 3}) }},
			{"an optimiser of constants", "NewSGD", func() { NewSGD([]Tensor{a}) }},
			{"a generator of no device", "GeneratorState", func() { GeneratorState(CUDA(99)) }},
		} {
			if e := refused(t, c.what, c.f); e.Op != c.op {
				t.Errorf("%s: error of %q, want %q: %v", c.what, e.Op, c.op, e)
			}
		}
		x := Full(2, Float64, CPU, 1).SetRequiresGrad(true)
		y := x.Square().Sum()
		y.Backward()
		if e := refused(t, "backward twice", func() { y.Backward() }); !strings.Contains(e.Msg, "second time") {
			t.Errorf("backward twice: %v", e)
		}
	})
}

func TestTryPassesOtherPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = Try(func() { panic("other") })
}

func TestScopes(t *testing.T) {
	before := LiveTensors()
	var inner, kept, outer Tensor
	Tidy(func() {
		outer = Full(1, Float64, CPU, 2)
		Tidy(func() {
			inner = outer.Scale(2)
			kept = Keep(outer.Scale(3))
		})
		if LiveTensors() > before+2 {
			t.Errorf("%d live tensors after the inner scope, want %d", LiveTensors(), before+2)
		}
		if e := refused(t, "use after the scope", func() { inner.Sum() }); !strings.Contains(e.Msg, "released") {
			t.Errorf("use after the scope: %v", e)
		}
		refused(t, "a released bias", func() { Full(1, Float64, CPU, 1, 2).Linear(Full(1, Float64, CPU, 1, 2), inner) })
		outer.Sum()
	})
	refused(t, "use after the outer scope", func() { outer.Sum() })
	if got := kept.Sum().Item(); got != 6 {
		t.Errorf("kept tensor sums to %v, want 6", got)
	}
	kept.Release()
	kept.Release()
	refused(t, "use after release", func() { kept.Sum() })
}

func TestScopeEndsOnPanic(t *testing.T) {
	before := LiveTensors()
	refused(t, "panic in a scope", func() {
		Tidy(func() {
			a := Full(1, Float64, CPU, 2, 3)
			a.MatMul(a)
		})
	})
	if LiveTensors() > before {
		t.Errorf("%d live tensors, want %d", LiveTensors(), before)
	}
	Tidy(func() { Full(1, Float64, CPU, 1) })
	if LiveTensors() > before {
		t.Error("the scope after a panic does not release")
	}
}

// Each goroutine has scopes of its own: what one makes, another's end must not free.
func TestScopesOfGoroutines(t *testing.T) {
	inside, leave := make(chan Tensor), make(chan bool)
	done := make(chan bool)
	go func() {
		defer close(done)
		Tidy(func() {
			inside <- Full(4, Float64, CPU, 1)
			<-leave
		})
	}()
	other := <-inside
	Tidy(func() { Full(1, Float64, CPU, 1) })
	if got := other.Item(); got != 4 {
		t.Errorf("the other goroutine's tensor is %v", got)
	}
	leave <- true
	<-done
	refused(t, "a tensor of an ended goroutine's scope", func() { other.Sum() })
}

func TestNoGradRestores(t *testing.T) {
	Tidy(func() {
		x := Full(1, Float64, CPU, 1).SetRequiresGrad(true)
		_ = Try(func() {
			NoGrad(func() {
				NoGrad(func() {})
				if x.Scale(2).RequiresGrad() {
					t.Error("a graph was recorded after an inner NoGrad")
				}
				x.Sum().Backward()
			})
		})
		if !x.Scale(2).RequiresGrad() {
			t.Error("gradients stay off after a panic")
		}
	})
}

// Dropout drops the share that it is asked for, each element without regard to its
// neighbours or to the draw before, and keeps the mean.
func TestDropoutStatistics(t *testing.T) {
	Tidy(func() {
		Seed(3)
		const n = 1 << 20
		ones := Full(1, Float32, CPU, n)
		var before []float32
		for _, p := range []float64{0.1, 0.5, 0.75} {
			kept := ToSlice[float32](ones.Dropout(p))
			distances := [5]int{1, 16, 256, 4096, 65536}
			var dropped, again float64
			var together [len(distances)]float64 // dropped here and that many elements later
			for i, v := range kept {
				if v != 0 && math.Abs(float64(v)-1/(1-p)) > 1e-6 {
					t.Fatalf("probability %v: an element became %v", p, v)
				}
				if v != 0 {
					continue
				}
				dropped++
				for lag, distance := range distances {
					if j := i + distance; j < n && kept[j] == 0 {
						together[lag]++
					}
				}
				if before != nil && before[i] == 0 {
					again++
				}
			}
			deviation := func(count, trials, share float64) float64 {
				return (count - trials*share) / math.Sqrt(trials*share*(1-share))
			}
			if d := deviation(dropped, n, p); math.Abs(d) > 4 {
				t.Errorf("probability %v: %v of %d dropped, %.1f deviations", p, dropped, n, d)
			}
			for lag, count := range together {
				if d := deviation(count, float64(n-distances[lag]), p*p); math.Abs(d) > 6 {
					t.Errorf("probability %v: elements %d apart go together, %.1f deviations", p, distances[lag], d)
				}
			}
			if before != nil {
				share := dropped / n
				if d := deviation(again, dropped, 1-float64(nonZero(before))/n); math.Abs(d) > 5 {
					t.Errorf("probability %v: a draw depends on the one before, %.1f deviations of share %.3f", p, d, share)
				}
			}
			before = kept
		}
		for p, want := range map[float64]float32{0: n, 1: 0} {
			if got := ToSlice[float32](ones.Dropout(p).Sum()); got[0] != want {
				t.Errorf("probability %v keeps %v of %d", p, got[0], n)
			}
		}
	})
}

func nonZero(values []float32) int {
	n := 0
	for _, v := range values {
		if v != 0 {
			n++
		}
	}
	return n
}

func TestGeneratorStateRepeatsDropout(t *testing.T) {
	Tidy(func() {
		Seed(11)
		x := Full(1, Float32, CPU, 1000)
		x.Dropout(0.5)
		state := GeneratorState(CPU)
		first := ToSlice[float32](x.Dropout(0.5))
		second := ToSlice[float32](x.Dropout(0.5))
		SetGeneratorState(CPU, state)
		if !slices.Equal(first, ToSlice[float32](x.Dropout(0.5))) {
			t.Error("dropout differs after restoring the generator")
		}
		if slices.Equal(first, second) {
			t.Error("dropout repeats itself")
		}
	})
}

func TestSGD(t *testing.T) {
	for _, o := range []SGDOptions{
		{LearningRate: 0.1},
		{LearningRate: 0.1, Momentum: 0.9},
		{LearningRate: 0.1, Momentum: 0.9, WeightDecay: 0.01},
		{LearningRate: 0.1, Momentum: 0.9, WeightDecay: 0.01, Nesterov: true},
	} {
		Tidy(func() {
			p := FromSlice([]float64{1, -2}, 2).SetRequiresGrad(true)
			optimizer := NewSGD([]Tensor{p})
			defer optimizer.Close()
			value, buffer := []float64{1, -2}, []float64{0, 0}
			for step := range 4 {
				optimizer.ZeroGrad()
				p.Square().Mul(FromSlice([]float64{1, 3}, 2)).Sum().Backward()
				options := o
				options.LearningRate = o.LearningRate / float64(step+1)
				optimizer.Step(options)
				for i := range value {
					g := 2*value[i]*[]float64{1, 3}[i] + o.WeightDecay*value[i]
					buffer[i] = o.Momentum*buffer[i] + g
					update := buffer[i]
					if o.Nesterov {
						update = g + o.Momentum*buffer[i]
					}
					value[i] -= options.LearningRate * update
				}
				for i, v := range ToSlice[float64](p) {
					if math.Abs(v-value[i]) > 1e-14 {
						t.Fatalf("%+v: step %d: parameter %d is %v, want %v", o, step, i, v, value[i])
					}
				}
			}
		})
	}
}

// The path for parameters and gradients that lie differently in memory must make the
// same steps.
func TestSGDWithOtherLayouts(t *testing.T) {
	Tidy(func() {
		values := []float64{1, 2, 3, 4, 5, 6}
		train := func(p Tensor, view func(Tensor) Tensor) []float64 {
			optimizer := NewSGD([]Tensor{p})
			defer optimizer.Close()
			for range 3 {
				optimizer.ZeroGrad()
				x := view(p)
				x.Square().Mul(FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3)).Sum().Backward()
				optimizer.Step(SGDOptions{LearningRate: 0.01, Momentum: 0.9, WeightDecay: 0.1, Nesterov: true})
			}
			return ToSlice[float64](view(p).Clone())
		}
		plain := train(FromSlice(values, 2, 3).SetRequiresGrad(true), func(p Tensor) Tensor { return p })
		columns := FromSlice([]float64{1, 4, 2, 5, 3, 6}, 3, 2).Transpose(0, 1).SetRequiresGrad(true)
		transposed := train(columns, func(p Tensor) Tensor { return p })
		for i := range plain {
			if math.Abs(plain[i]-transposed[i]) > 1e-14 {
				t.Fatalf("element %d: %v and %v", i, plain[i], transposed[i])
			}
		}
	})
}

func TestSGDMomentumInAndOut(t *testing.T) {
	Tidy(func() {
		o := SGDOptions{LearningRate: 0.1, Momentum: 0.9}
		step := func(p Tensor, s *SGD) {
			s.ZeroGrad()
			p.Square().Sum().Backward()
			s.Step(o)
		}
		a := Full(1, Float32, CPU, 3).SetRequiresGrad(true)
		first := NewSGD([]Tensor{a})
		if !first.Momentum()[0].IsZero() {
			t.Error("momentum before the first step")
		}
		step(a, first)
		b := a.Detach().Clone().SetRequiresGrad(true)
		second := NewSGD([]Tensor{b})
		second.SetMomentum(first.Momentum())
		step(a, first)
		step(b, second)
		if !slices.Equal(ToSlice[float32](a), ToSlice[float32](b)) {
			t.Error("a restored optimiser makes another step")
		}
		refused(t, "momentum of another shape", func() { second.SetMomentum([]Tensor{Full(0, Float32, CPU, 4)}) })
		refused(t, "too many buffers", func() { second.SetMomentum(make([]Tensor, 2)) })
		second.Close()
		second.Close()
		refused(t, "a closed optimiser", func() { second.Step(o) })
	})
}

// A training loop must not grow: neither the number of tensors nor the memory.
func TestTrainingDoesNotLeak(t *testing.T) {
	var weight, bias Tensor
	Tidy(func() {
		Seed(1)
		weight = Keep(RandN(Float32, 10, 784).Scale(0.01).Detach()).SetRequiresGrad(true)
		bias = Keep(Full(0, Float32, CPU, 10)).SetRequiresGrad(true)
	})
	optimizer := NewSGD([]Tensor{weight, bias})
	defer optimizer.Close()
	batch := make([]float32, 64*784)
	step := func() {
		Tidy(func() {
			logits := FromSlice(batch, 64, 784).Dropout(0.5).Linear(weight, bias)
			optimizer.ZeroGrad()
			logits.LogSoftmax(1).Narrow(1, 0, 1).Mean().Neg().Backward()
			optimizer.Step(SGDOptions{LearningRate: 0.01, Momentum: 0.9})
		})
	}
	for range 200 {
		step()
	}
	tensors, memory := LiveTensors(), residentBytes(t)
	for range 2000 {
		step()
		// Fewer are possible: the collector may find what an earlier test left.
		if LiveTensors() > tensors {
			t.Fatalf("%d live tensors, %d before", LiveTensors(), tensors)
		}
	}
	if grown := residentBytes(t) - memory; grown > 20<<20 {
		t.Errorf("resident memory grew by %d bytes in 2000 steps", grown)
	}
}

// residentBytes reads the second field of /proc/self/statm: pages in memory.
func residentBytes(t *testing.T) int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, c := range strings.Fields(string(data))[1] {
		pages = 10*pages + int(c-'0')
	}
	return pages * os.Getpagesize()
}

func TestTensorFiles(t *testing.T) {
	Tidy(func() {
		path := filepath.Join(t.TempDir(), "weights.safetensors")
		var buffer bytes.Buffer
		err := WriteTensors(&buffer, []Named{
			{"b", FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3).Transpose(0, 1)},
			{"a", FromSlice([]float64{math.Pi}, 1)},
			{"n", FromSlice([]int64{-1, 1 << 40}, 2)},
			{"state", FromSlice([]uint8{7, 8}, 2)},
			{"scalar", Full(3, Float32, CPU)},
		}, map[string]string{"epoch": "3"})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, buffer.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		tensors, metadata, err := ReadTensors(path)
		if err != nil {
			t.Fatal(err)
		}
		if metadata["epoch"] != "3" || len(tensors) != 5 {
			t.Errorf("read %d tensors and %v", len(tensors), metadata)
		}
		if got := ToSlice[float32](tensors["b"]); !slices.Equal(got, []float32{1, 4, 2, 5, 3, 6}) || !slices.Equal(tensors["b"].Shape(), []int{3, 2}) {
			t.Errorf("b is %v of shape %v", got, tensors["b"].Shape())
		}
		if got := ToSlice[int64](tensors["n"]); got[1] != 1<<40 {
			t.Errorf("n is %v", got)
		}
		if got := tensors["scalar"]; got.Item() != 3 || len(got.Shape()) != 0 {
			t.Errorf("scalar is %v", got)
		}

		for name, content := range map[string][]byte{
			"missing": nil, "cut": buffer.Bytes()[:buffer.Len()-3], "empty": {}, "other": []byte("GIF89a, no tensors in here"),
		} {
			bad := filepath.Join(t.TempDir(), name)
			if name != "missing" {
				if err := os.WriteFile(bad, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := ReadTensors(bad)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), bad) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	})
}

func TestChannelsLast(t *testing.T) {
	Tidy(func() {
		for _, channels := range []int{1, 3} {
			x := RandN(Float32, 2, channels, 4, 4)
			y := x.ChannelsLast()
			if !y.IsChannelsLast() || !slices.Equal(ToSlice[float32](x), ToSlice[float32](y)) {
				t.Errorf("%d channels: order or values differ", channels)
			}
			w := RandN(Float32, 5, channels, 3, 3)
			if !y.Conv2D(w, Tensor{}, 1, 0).IsChannelsLast() {
				t.Errorf("%d channels: the convolution leaves channels-last order", channels)
			}
		}
	})
}

func TestParseDevice(t *testing.T) {
	if d, err := ParseDevice("cpu"); err != nil || d != CPU {
		t.Errorf("cpu: %v, %v", d, err)
	}
	for _, name := range []string{"gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:99", ""} {
		if _, err := ParseDevice(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: error %v", name, err)
		}
	}
	if got := CUDA(2).String(); got != "cuda:2" {
		t.Errorf("CUDA(2) is %q", got)
	}
}

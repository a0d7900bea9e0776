package torch

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
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
			{"too few elements to upload", "Upload", func() { Upload([]uint8{1, 2}, CPU, 3) }},
			{"too few elements", "FromSlice", func() { FromSlice([]float32{1, 2}, 3) }},
			{"a slice of another type", "CopyToSlice", func() { CopyToSlice(make([]float32, 6), a) }},
			{"a slice of another length", "CopyToSlice", func() { CopyToSlice(make([]float64, 5), a) }},
			{"copying in another length", "CopyFromSlice", func() { CopyFromSlice(a, make([]float64, 5)) }},
			{"an item of many", "Item", func() { a.Item() }},
			{"setting another shape", "Set", func() { a.Set(b) }},
			{"the zero tensor", "Add", func() { Tensor{}.Add(a) }},
			{"too many dimensions", "Reshape", func() { a.Reshape(1, 1, 1, 1, 1, 1, 1, 2, 3) }},
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
			{"a damaged state of random numbers", "Random.SetState", func() { NewRandom(1).SetState([]byte{1, 2, 3}) }},
			{"an optimiser of constants", "NewSGD", func() { NewSGD([]Tensor{a}) }},
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
			optimizer.Step(SGDOptions{LearningRate: Number(0.01), Momentum: 0.9})
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
	data := testfiles.Read(t, "/proc/self/statm")
	pages := 0
	for _, c := range strings.Fields(string(data))[1] {
		pages = 10*pages + int(c-'0')
	}
	return pages * os.Getpagesize()
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
		must.Refuse(ParseDevice(name))(t, name)
	}
	if got := CUDA(2).String(); got != "cuda:2" {
		t.Errorf("CUDA(2) is %q", got)
	}
}

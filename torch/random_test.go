package torch

import (
	"slices"
	"sync"
	"testing"
)

// A Random draws what libtorch's generator of the CPU draws after the same seed, and goes on
// where its state was taken.
func TestRandomIsLibtorchs(t *testing.T) {
	Tidy(func() {
		x := Full(1, Float32, CPU, 4, 50, 3, 3)
		draws := func() []float32 {
			return slices.Concat(ToSlice[float32](x.Dropout(0.5)), ToSlice[float32](x.Dropout2D(0.25)), ToSlice[float32](x.Dropout(0.1)))
		}
		Seed(11)
		want := slices.Concat(draws(), draws())
		random := NewRandom(3)
		random.Seed(11)
		var got []float32
		random.Use(func() { got = draws() })
		state := random.State()
		Seed(5) // nothing of libtorch's matters
		random.Use(func() { got = append(got, draws()...) })
		if !slices.Equal(got, want) {
			t.Error("other numbers than libtorch's generator")
		}
		if slices.Equal(got[:len(got)/2], got[len(got)/2:]) {
			t.Error("dropout repeats itself")
		}
		random.SetState(state)
		random.Use(func() {
			if !slices.Equal(draws(), want[len(want)/2:]) {
				t.Error("other numbers after the state was set")
			}
		})
	})
}

// What draws from libtorch's generator alone draws a source's numbers while that is lent, and
// the generator's own ones afterwards.
func TestRandomIsLent(t *testing.T) {
	Tidy(func() {
		draw := func() float32 { return ToSlice[float32](RandN(Float32, 1))[0] }
		Seed(11)
		want := []float32{draw(), draw(), draw()}
		random := NewRandom(11)
		Seed(4)
		before := draw()
		var got []float32
		for range want {
			random.Lend(func() { got = append(got, draw()) })
		}
		after := draw()
		if !slices.Equal(got, want) {
			t.Errorf("lent: %v, want %v", got, want)
		}
		if Seed(4); before != draw() || after != draw() {
			t.Error("libtorch's generator did not get its own state back")
		}
	})
}

// Goroutines that draw at once each draw what they would alone.
func TestRandomAtOnce(t *testing.T) {
	const rounds = 50
	draw := func(seed uint64) (drawn []float32) {
		random := NewRandom(seed)
		Tidy(func() {
			x := Full(1, Float32, CPU, 40)
			for range rounds {
				random.Use(func() { drawn = append(drawn, ToSlice[float32](x.Dropout(0.5))...) })
				random.Lend(func() { drawn = append(drawn, ToSlice[float32](RandN(Float32, 3))...) })
			}
		})
		return drawn
	}
	var alone, together [4][]float32
	for i := range alone {
		alone[i] = draw(uint64(i))
	}
	var drawing sync.WaitGroup
	for i := range together {
		drawing.Go(func() { together[i] = draw(uint64(i)) })
	}
	drawing.Wait()
	for i := range alone {
		if !slices.Equal(alone[i], together[i]) {
			t.Errorf("source %d drew other numbers beside others", i)
		}
	}
}

// Dropout that follows from a seed does so wherever the seed is, each call from another part of
// it, and drops whole channels where that is asked.
func TestSeededDropout(t *testing.T) {
	Tidy(func() {
		x := Full(1, Float32, CPU, 3, 200, 2, 2)
		random := NewRandom(1)
		step := random.DeviceSeed()
		place := Full(step, Float64, CPU)
		repeat := func() (first, second, channels []float32) {
			random.UseSeed(Scalar(place), func() {
				first, second, channels = ToSlice[float32](x.Dropout(0.5)), ToSlice[float32](x.Dropout(0.5)), ToSlice[float32](x.Dropout2D(0.5))
			})
			return first, second, channels
		}
		first, second, channels := repeat()
		if slices.Equal(first, second) {
			t.Error("two calls of a repetition drop the same")
		}
		if again, _, _ := repeat(); !slices.Equal(first, again) {
			t.Error("the same seed does not drop the same")
		}
		random.UseSeed(Number(step), func() {
			if !slices.Equal(first, ToSlice[float32](x.Dropout(0.5))) || !slices.Equal(second, ToSlice[float32](x.Dropout(0.5))) {
				t.Error("a seed that is a number does not drop the same")
			}
		})
		place.Set(Full(random.DeviceSeed(), Float64, CPU))
		if other, _, _ := repeat(); slices.Equal(first, other) {
			t.Error("another seed drops the same")
		}
		for i := 0; i < len(channels); i += 4 {
			if channel := channels[i : i+4]; channel[0] != channel[1] || channel[0] != channel[2] || channel[0] != channel[3] {
				t.Fatalf("a channel is %v", channel)
			}
		}
		if n := nonZero(channels); n < 4*220 || n > 4*380 {
			t.Errorf("%d of 600 channels are kept at probability 0.5", n/4)
		}
	})
}

// The gradient of dropout is its mask.
func TestSeededDropoutGradient(t *testing.T) {
	Tidy(func() {
		x := Full(1, Float64, CPU, 5, 40).SetRequiresGrad(true)
		random := NewRandom(1)
		random.UseSeed(Number(12345), func() {
			y := x.Dropout(0.25)
			y.Sum().Backward()
			gradient, ok := x.Grad()
			if !ok || !slices.Equal(ToSlice[float64](gradient), ToSlice[float64](y)) {
				t.Error("the gradient is not the mask")
			}
		})
	})
}

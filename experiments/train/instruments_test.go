package train

import (
	"context"
	"math"
	"testing"

	"iwda/internal/must"
	"iwda/torch"
)

func TestDiscriminatorAccuracy(t *testing.T) {
	// Three of four source rows and one of two target rows, of different numbers.
	got := discriminatorAccuracy([]float32{1, 0.1, 7, -2}, []float32{-0.5, 3})
	if got != (0.75+0.5)/2 {
		t.Errorf("%v", got)
	}
}

// Every line of metrics has the means of the steps since the line before.
func TestInstruments(t *testing.T) {
	for method, discriminated := range map[string]bool{"iwdan": true, "jan": false, "source-only": false} {
		dir, _ := train(t, resolve(t, "subsampled", method, 1))
		metrics := metricsOf(t, dir)
		updates := must.Have(dir.ReadWeights())(t)
		for i, m := range metrics {
			for name, read := range map[string]struct {
				measured bool
				value    float64
				want     bool
				most     float64
			}{
				"feature norm":           {m.FeatureNorm.Measured, m.FeatureNorm.Value, i > 0, 1e3},
				"logit norm":             {m.LogitNorm.Measured, m.LogitNorm.Value, i > 0, 1e3},
				"network gradient":       {m.NetworkGradient.Measured, m.NetworkGradient.Value, i > 0, 1e3},
				"discriminator gradient": {m.DiscriminatorGradient.Measured, m.DiscriminatorGradient.Value, i > 1 && discriminated, 1e3},
				"discriminator accuracy": {m.DiscriminatorAccuracy.Measured, m.DiscriminatorAccuracy.Value, i > 1 && discriminated, 1},
			} {
				if read.measured != read.want || read.measured && !(read.value > 0 && read.value <= read.most) {
					t.Errorf("%s, epoch %d: %s %+v", method, i, name, read)
				}
			}
			largest, size := 1.0, 1.0
			if i > 0 {
				largest, size = 0, updates[i-1].EffectiveSampleSize
				for _, w := range updates[i-1].Weights {
					largest = max(largest, w)
				}
			}
			if m.LargestWeight.OrNaN() != largest || math.Abs(m.EffectiveSampleSize.OrNaN()-size) > 1e-12 {
				t.Errorf("%s, epoch %d: largest weight %v, effective sample size %v, want %v and %v",
					method, i, m.LargestWeight.OrNaN(), m.EffectiveSampleSize.OrNaN(), largest, size)
			}
		}
	}
}

// gradientNorm is that of a group's parameters together.
func gradientNorm(t *testing.T, state interface{ Parameters() []torch.Tensor }) float64 {
	t.Helper()
	var squares float64
	for _, p := range state.Parameters() {
		if g, ok := p.Grad(); ok {
			squares += g.Square().Sum().Item()
		}
	}
	return math.Sqrt(squares)
}

// The norms that are recorded are those of the gradients of network and discriminator, each
// of its own.
func TestGradientNorms(t *testing.T) {
	run := resolve(t, "subsampled", "iwdan", 1)
	trainer := makeTrainer(t, run, Options{Threads: 1})
	torch.Tidy(func() {
		b := must.Have(trainer.data.feed.next(context.Background()))(t)
		at := position{epoch: 2}
		l := lossesAt(trainer, trainer.model.forward(trainer.model.inputs(b), true), at)
		norms := trainer.optimisation.step(numbers(trainer.optimisation.rates(at)), l.minimised)
		for name, of := range map[string]struct{ norm, want float64 }{
			"network":       {norms.network[0].Item(), gradientNorm(t, trainer.model.state())},
			"discriminator": {norms.alignment[0].Item(), gradientNorm(t, trainer.objective.state())},
		} {
			if !(of.want > 0.02) || math.Abs(of.norm-of.want) > 1e-4*of.want {
				t.Errorf("%s: the norm %v, of the gradients %v", name, of.norm, of.want)
			}
		}
	})
	if err := trainer.close(); err != nil {
		t.Error(err)
	}
}

// The discriminator's input does not depend on the scale of the features.
func TestUnitFeatures(t *testing.T) {
	run := resolve(t, "subsampled", "iwdan-o", 1, "discriminator.normalise=rows")
	trainer := makeTrainer(t, run, Options{Threads: 1})
	torch.Tidy(func() {
		b := must.Have(trainer.data.feed.next(context.Background()))(t)
		f := trainer.model.forward(trainer.model.inputs(b), true)
		seen := &spy{alignment: trainer.objective.pairs[0].alignment}
		trainer.objective.pairs[0].alignment = seen
		domain := func() float64 {
			torch.Seed(1) // the discriminator's dropout
			return lossesAt(trainer, f, position{epoch: 2}).domain.Item()
		}
		first := domain()
		f.features = f.features.Scale(100)
		if again := domain(); math.Abs(again-first) > 1e-4 {
			t.Errorf("domain loss %v, of larger features %v", first, again)
		}
	})
	if err := trainer.close(); err != nil {
		t.Error(err)
	}
}

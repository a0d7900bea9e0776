package train

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"iwda/experiments/config"
	"iwda/internal/convert"
	"iwda/internal/must"
	"iwda/torch"
)

// spy is an alignment that keeps what it was last given.
type spy struct {
	alignment
	outputs stepOutputs
}

func (s *spy) loss(f stepOutputs, coefficients []torch.Coefficient) domainLoss {
	s.outputs = f
	return s.alignment.loss(f, coefficients)
}

// lossesAt are those of a step there.
func lossesAt(t *trainer, f stepOutputs, at position) lossTensors {
	aligned, coefficients := t.objective.next(at)
	return t.objective.losses(f, aligned, numbers(coefficients), t.classWeights.inLosses)
}

// What a method's losses use: estimated weights after the second epoch, the true ones
// from the start, and the right losses.
func TestWeightsInTheLosses(t *testing.T) {
	for method, want := range map[string]struct{ estimated, oracle, rows, balanced bool }{
		"dann":       {},
		"iwdan":      {estimated: true, rows: true, balanced: true},
		"iwdan-o":    {oracle: true, rows: true, balanced: true},
		"dann+wc":    {estimated: true, balanced: true},
		"dann+wda-o": {oracle: true, rows: true},
	} {
		run := resolve(t, "subsampled", method, 1, "train.epochs=3", "dataset.train_per_class=10")
		torch.Seed(1)
		trainer := makeTrainer(t, run, Options{Threads: 1, Log: &bytes.Buffer{}})
		must.Do(t, trainer.train(context.Background()))
		used := torch.ToSlice[float32](trainer.classWeights.inLosses[0])
		switch {
		case want.oracle:
			if !slices.Equal(used, convert.Slice[float32](trainer.classWeights.Truth)) {
				t.Errorf("%s: weights %v, true ones %v", method, used, trainer.classWeights.Truth)
			}
		case want.estimated:
			if !slices.Equal(used, convert.Slice[float32](trainer.classWeights.sources[0].tracker.Weights())) || used[0] == 1 {
				t.Errorf("%s: weights %v, estimated %v", method, used, trainer.classWeights.sources[0].tracker.Weights())
			}
		default:
			if used[0] != 1 || used[9] != 1 {
				t.Errorf("%s: weights %v", method, used)
			}
		}
		torch.Tidy(func() {
			b := must.Have(trainer.data.feed.next(context.Background()))(t)
			f := trainer.model.forward(trainer.model.inputs(b), true)
			seen := &spy{alignment: trainer.objective.pairs[0].alignment}
			trainer.objective.pairs[0].alignment = seen
			l := lossesAt(trainer, f, position{epoch: 2})
			if seen.outputs.rowWeights.IsZero() == want.rows {
				t.Errorf("%s: row weights absent %v", method, seen.outputs.rowWeights.IsZero())
			}
			if want.rows {
				rows := torch.ToSlice[float32](seen.outputs.rowWeights)
				for i, label := range b.labels {
					if rows[i] != used[label] {
						t.Fatalf("%s: row %d of class %d has weight %v, want %v", method, i, label, rows[i], used[label])
					}
				}
			}
			entropy := f.logits.Narrow(0, 0, 16).LogSoftmax(1).Gather(1, f.labels.Reshape(-1, 1)).Mean().Neg().Item()
			if balanced := math.Abs(l.classification.Item()-entropy) > 1e-6; balanced != want.balanced {
				t.Errorf("%s: classification loss %v, cross entropy %v", method, l.classification.Item(), entropy)
			}
		})
		if err := trainer.close(); err != nil {
			t.Error(err)
		}
	}
}

// A slower reversal is another run from the first step with a domain loss on, and so is one
// scale for a batch in the place of one for each row.
func TestScaleAndReversalOfRuns(t *testing.T) {
	losses := func(set ...string) []float64 {
		t.Helper()
		set = append(set, "train.epochs=3", "train.domain_from_epoch=2", "dataset.train_per_class=10")
		dir, result := train(t, resolve(t, "subsampled", "cdan", 1, set...))
		metrics, err := dir.ReadMetrics()
		if err != nil || result.Steps != 18 {
			t.Fatal(result.Steps, err)
		}
		return []float64{metrics[1].ClassificationLoss, metrics[2].DomainLoss, metrics[3].DomainLoss}
	}
	steps := losses("discriminator.normalise=rows", "discriminator.reversal.iterations=18")
	slower := losses("discriminator.normalise=rows", "discriminator.reversal.iterations=180")
	shared := losses("discriminator.normalise=shared", "discriminator.reversal.iterations=18")
	for what, other := range map[string][]float64{"ten times as slow": slower, "one scale": shared} {
		if other[0] != steps[0] || other[1] == steps[1] || other[2] == steps[2] {
			t.Errorf("%s: losses %v, beside %v", what, other, steps)
		}
	}
}

// Every alignment trains, and with the same first epoch.
func TestEveryAlignment(t *testing.T) {
	first := math.NaN()
	type made struct {
		method string
		set    []string
	}
	cases := []made{
		{"cdan", []string{"discriminator.random_projection=64"}}, {"iwdan", []string{"discriminator.normalise=shared"}}, {"jan", []string{"losses.mmd=biased"}},
		{"iwcdan", nil}, {"iwcdan-e-o", nil}, {"iwjan", nil}, {"cdan+wda", nil}, {"cdan+wc-o", nil},
	}
	for _, name := range config.MethodNames() {
		if method, _ := config.ParseMethod(name); method.Base() == "" && method.Alignment != config.NoAlignment {
			cases = append(cases, made{name, nil})
		}
	}
	for _, c := range cases {
		run := resolve(t, "subsampled", c.method, 1, append(c.set, "train.epochs=2", "dataset.train_per_class=10")...)
		dir, result := train(t, run)
		metrics := metricsOf(t, dir)
		if math.IsNaN(metrics[2].DomainLoss) || result.Steps != 12 {
			t.Errorf("%s %v: %+v", c.method, c.set, metrics[2])
		}
		method, _ := config.ParseMethod(c.method)
		if method.WeightClassification {
			continue
		}
		if math.IsNaN(first) {
			first = metrics[1].ClassificationLoss
		}
		if metrics[1].ClassificationLoss != first {
			t.Errorf("%s %v: the first epoch's loss is %v, not %v", c.method, c.set, metrics[1].ClassificationLoss, first)
		}
	}
}

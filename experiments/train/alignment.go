package train

import (
	"fmt"
	"slices"

	"iwda/experiments/config"
	"iwda/losses"
	"iwda/losses/form"
	"iwda/nets"
	"iwda/torch"
)

// alignment is the loss that draws the two domains together.
type alignment interface {
	// coefficients are the numbers that the loss takes, as those of gradient reversal, after some
	// steps and with that many passes of rows through the alignment, this one included.
	coefficients(steps, passes int) []float64
	// loss returns the domain loss of a step with its coefficients.
	loss(f stepOutputs, coefficients []torch.Coefficient) domainLoss
	// state holds what the loss itself trains, empty if nothing.
	state() nets.State
}

// domainLoss is the loss of an alignment on one step's rows.
type domainLoss struct {
	value torch.Tensor
	// logits are the discriminator's of the source and of the target rows; none where there
	// is no discriminator.
	logits []torch.Tensor
}

// newAlignment makes the alignment of a method, nil for none. Parameters are drawn
// from libtorch's generator.
func newAlignment(run config.Resolved, method config.Method, featureSize, classes int) alignment {
	d := run.Discriminator
	discriminated := func(input conditioning) adversarial {
		return adversarial{
			input:         input,
			scaled:        scaling(d.Normalise),
			discriminator: nets.NewDiscriminator(input.size, d.Hidden, d.Dropout),
			reversal:      nets.Reversal{Iterations: d.Reversal.Iterations},
		}
	}
	conditional := func() adversarial {
		if d.RandomProjection > 0 {
			return discriminated(projected(nets.NewRandomProjection(featureSize, classes, d.RandomProjection), d.RandomProjection))
		}
		return discriminated(conditioning{size: featureSize * classes, of: outerProduct})
	}
	mmd := form.MMD(run.Losses.MMD)
	switch method.Alignment {
	case config.NoAlignment:
		return nil
	case config.DANN:
		return discriminated(conditioning{size: featureSize, of: featuresAlone})
	case config.CDAN:
		return conditional()
	case config.CDANE:
		return entropyConditioned{conditional()}
	case config.DAN:
		return untrained(func(f stepOutputs) torch.Tensor {
			return losses.MaximumMeanDiscrepancy(mmd, f.rowWeights, featureLayer(f))
		})
	case config.JAN:
		return untrained(func(f stepOutputs) torch.Tensor {
			return losses.MaximumMeanDiscrepancy(mmd, f.rowWeights, featureLayer(f), predictionLayer(f))
		})
	case config.MCC:
		const temperature = 2.5 // that of the publication
		return untrained(func(f stepOutputs) torch.Tensor {
			_, target := f.split(f.logits)
			return losses.ClassConfusion(target, temperature)
		})
	}
	panic(fmt.Sprintf("train: method %s: no alignment %q", method.Name, method.Alignment))
}

// conditioning makes a discriminator's input of features and predictions.
type conditioning struct {
	size  int // of a row
	of    func(features, logits torch.Tensor) torch.Tensor
	state nets.State // what was drawn for it
}

// featuresAlone are DANN's input.
func featuresAlone(features, _ torch.Tensor) torch.Tensor { return features }

// outerProduct is CDAN's: p ⊗ z.
func outerProduct(features, logits torch.Tensor) torch.Tensor {
	return losses.Conditioned(features, logits.Softmax(1))
}

// projected is CDAN's for many classes: a random projection in the place of p ⊗ z.
func projected(projection *nets.RandomProjection, size int) conditioning {
	of := func(features, logits torch.Tensor) torch.Tensor {
		return projection.Forward(features, logits.Softmax(1).Detach())
	}
	return conditioning{size, of, projection.State().Prefixed("projection")}
}

// adversarial is the alignment by a discriminator behind a gradient reversal: DANN
// and CDAN.
type adversarial struct {
	input         conditioning
	scaled        func(features torch.Tensor) torch.Tensor // before they are an input
	discriminator *nets.Discriminator
	reversal      nets.Reversal
}

// scaling returns what features go through before they are a discriminator's input, by the
// way of discriminator.normalise.
func scaling(way string) func(torch.Tensor) torch.Tensor {
	switch way {
	case config.RowScale:
		return nets.UnitScale
	case config.SharedScale:
		return nets.CommonScale
	}
	return func(features torch.Tensor) torch.Tensor { return features }
}

// discriminate returns the discriminator's logits of the source and target rows.
func (a adversarial) discriminate(f stepOutputs, reversal torch.Coefficient) (source, target torch.Tensor) {
	// Predictions are constants in an input, so that what is reversed may be the features,
	// which are many times smaller.
	input := a.input.of(a.scaled(f.features).ReverseGradient(reversal), f.logits)
	return f.split(a.discriminator.Forward(input, true))
}

// discriminatorAccuracy is the mean over the domains of the share of rows whose domain
// the discriminator's logits tell, without class weights.
func discriminatorAccuracy(source, target []float32) float64 {
	right := func(logits []float32, sign float32) float64 {
		count := 0
		for _, v := range logits {
			if sign*v > 0 {
				count++
			}
		}
		return float64(count) / float64(len(logits))
	}
	return (right(source, 1) + right(target, -1)) / 2
}

func (a adversarial) coefficients(_, passes int) []float64 {
	return []float64{a.reversal.Coefficient(passes)}
}

func (a adversarial) loss(f stepOutputs, coefficients []torch.Coefficient) domainLoss {
	source, target := a.discriminate(f, coefficients[0])
	return domainLoss{losses.Adversarial(source, target, f.rowWeights), []torch.Tensor{source, target}}
}

func (a adversarial) state() nets.State {
	return slices.Concat(a.discriminator.State(), a.input.state)
}

// entropyConditioned is CDAN-E: rows count by how sure the classifier is of them.
type entropyConditioned struct{ adversarial }

func (a entropyConditioned) coefficients(steps, passes int) []float64 {
	return []float64{a.reversal.Coefficient(passes), a.reversal.Coefficient(steps)}
}

func (a entropyConditioned) loss(f stepOutputs, coefficients []torch.Coefficient) domainLoss {
	source, target := a.discriminate(f, coefficients[0])
	certainty := losses.Certainty(f.logits.Softmax(1), coefficients[1])
	sourceCertainty, targetCertainty := f.split(certainty)
	value := losses.EntropyConditioned(source, target, sourceCertainty, targetCertainty, f.rowWeights)
	return domainLoss{value, []torch.Tensor{source, target}}
}

// untrained is a domain loss that trains nothing itself: the maximum mean discrepancy between the
// domains' features (DAN), or between features and predictions jointly (JAN), and losses of the
// target's logits alone.
type untrained func(f stepOutputs) torch.Tensor

func (untrained) coefficients(_, _ int) []float64 { return nil }
func (untrained) state() nets.State               { return nil }

func (l untrained) loss(f stepOutputs, _ []torch.Coefficient) domainLoss {
	return domainLoss{value: l(f)}
}

func featureLayer(f stepOutputs) losses.Layer {
	source, target := f.split(f.features)
	return losses.Layer{Source: source, Target: target, Kernel: losses.FeatureKernel}
}

func predictionLayer(f stepOutputs) losses.Layer {
	source, target := f.split(f.logits.Softmax(1))
	return losses.Layer{Source: source, Target: target, Kernel: losses.PredictionKernel}
}

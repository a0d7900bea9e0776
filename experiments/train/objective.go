package train

import (
	"fmt"
	"slices"

	"iwda/experiments/config"
	"iwda/internal/convert"
	"iwda/losses"
	"iwda/losses/form"
	"iwda/nets"
	"iwda/torch"
)

// objective is what a run minimises: a classification loss on the labels of each source and,
// from an epoch on, a loss that aligns it with the target.
type objective struct {
	pairs        []pair
	fromEpoch    int     // with the domain loss
	tradeOff     float64 // factor of the domain loss
	weightDomain bool    // the rows of the domain loss count by their class weights
	passes       int     // steps with a domain loss so far
}

// pair is a source with the target.
type pair struct {
	classification classification
	alignment      alignment // nil for source-only
}

// newObjective makes that of sources with these label distributions D_S, tensors (k) that outlive the run.
func newObjective(run config.Resolved, method config.Method, featureSize int, sources []torch.Tensor) *objective {
	o := &objective{
		fromEpoch:    run.Train.DomainFromEpoch,
		tradeOff:     run.Losses.TradeOff,
		weightDomain: method.WeightDomain,
	}
	for _, shares := range sources {
		o.pairs = append(o.pairs, pair{newClassification(run, method, shares), newAlignment(run, method, featureSize, shares.Len())})
	}
	return o
}

// lossTensors are the losses of one step on its device.
type lossTensors struct {
	classification, domain torch.Tensor
	aligned                bool           // there is a domain loss
	discriminator          []torch.Tensor // see domainLoss
	minimised              torch.Tensor   // the total, with its gradient
}

// aligned tells whether the total of a step in that epoch includes the domain loss.
func (o *objective) aligned(epoch int) bool {
	return o.pairs[0].alignment != nil && epoch >= o.fromEpoch
}

// next counts a step and returns whether its total includes the domain loss, and the
// coefficients of that.
func (o *objective) next(p position) (aligned bool, coefficients []float64) {
	if !o.aligned(p.epoch) {
		return false, nil
	}
	o.passes++
	return true, o.pairs[0].alignment.coefficients(p.step, o.passes)
}

// losses computes the losses of a step, with these coefficients where the domains are
// aligned and these class weights (k) of each source.
func (o *objective) losses(f stepOutputs, aligned bool, coefficients []torch.Coefficient, classWeights []torch.Tensor) lossTensors {
	l := lossTensors{aligned: aligned}
	var classification, domain []torch.Tensor
	for i, pair := range o.pairs {
		f := f.ofSource(i, len(o.pairs))
		source, _ := f.split(f.logits)
		classification = append(classification, pair.classification(source, f.labels, classWeights[i]))
		if aligned {
			if o.weightDomain {
				f.rowWeights = classWeights[i].IndexSelect(0, f.labels)
			}
			loss := pair.alignment.loss(f, coefficients)
			domain, l.discriminator = append(domain, loss.value), append(l.discriminator, loss.logits...)
		}
	}
	mean := meanBySource(classification)
	l.classification = mean(classification)
	if l.minimised = l.classification; aligned {
		l.domain = mean(domain)
		l.minimised = l.classification.Add(l.domain.Scale(o.tradeOff))
	}
	return l
}

// meanBySource returns the mean of losses of all sources in which each counts by the classification loss L that the
// classifier has on it: in proportion to exp(-L), the geometric mean of the probabilities of the right classes,
// and without a gradient. See docs/reference/methods.md#several-sources.
func meanBySource(classification []torch.Tensor) func(losses []torch.Tensor) torch.Tensor {
	if len(classification) == 1 {
		return func(losses []torch.Tensor) torch.Tensor { return losses[0] }
	}
	all := func(losses []torch.Tensor) torch.Tensor {
		return torch.Cat(0, convert.Each(losses, func(loss torch.Tensor) torch.Tensor { return loss.Reshape(1) })...)
	}
	counts := all(classification).Detach().Scale(-1).Softmax(0)
	return func(losses []torch.Tensor) torch.Tensor { return all(losses).Mul(counts).Sum() }
}

// state is that of all alignments.
func (o *objective) state() (state nets.State) {
	for i, pair := range o.pairs {
		if pair.alignment != nil {
			state = append(state, pair.alignment.state().Prefixed(nameOfSource(alignmentPrefix, i))...)
		}
	}
	return state
}

// nameOfSource is the name in a checkpoint of what there is of each source.
func nameOfSource(name string, source int) string {
	if source == 0 {
		return name
	}
	return fmt.Sprintf("%s.source%d", name, source+1)
}

// alignmentPrefix stands before the names of the tensors that an alignment trains.
const alignmentPrefix = "alignment"

func (o *objective) save(s *saving) {
	s.Passes = o.passes
	s.addAll(o.state())
}

func (o *objective) restore(r *restoring) error {
	if r.Passes < 0 || r.Passes > r.Step {
		return fmt.Errorf("%d of its %d steps have a domain loss", r.Passes, r.Step)
	}
	o.passes = r.Passes
	return r.takeAll(o.state(), alignmentPrefix)
}

// classification is the loss on the source's labels.
type classification func(logits, labels, weights torch.Tensor) torch.Tensor

// newClassification returns the classification loss of a method; sourceDistribution
// is D_S, a tensor (k) that outlives the run.
func newClassification(run config.Resolved, method config.Method, sourceDistribution torch.Tensor) classification {
	if !method.WeightClassification {
		return func(logits, labels, _ torch.Tensor) torch.Tensor { return losses.CrossEntropy(logits, labels) }
	}
	loss := losses.ClassificationOf(form.Classification(run.Losses.Classification))
	return func(logits, labels, weights torch.Tensor) torch.Tensor {
		return loss(logits, labels, sourceDistribution, weights.IndexSelect(0, labels))
	}
}

// DivergedError is a loss or gradient that became NaN or infinite, or a classification loss from which
// nothing is learned any more: training has diverged.
type DivergedError struct {
	Term  string // classification loss, domain loss, network's gradient, discriminator's gradient
	Value float64
	Step  int // from 1
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the %s is %v; training has diverged: try recipe: robust, train.restarts or a lower train.optimizer.lr", e.Term, e.Value)
}

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
		if m := d.RandomProjection; m > 0 {
			return discriminated(projected(&nets.RandomProjection{Features: torch.RandN(torch.Float32, featureSize, m), Predictions: torch.RandN(torch.Float32, classes, m)}, m))
		}
		return discriminated(conditioning{size: featureSize * classes, of: func(features, logits torch.Tensor) torch.Tensor {
			return losses.Conditioned(features, logits.Softmax(1)) // p ⊗ z
		}})
	}
	mmd := form.MMD(run.Losses.MMD)
	switch method.Alignment {
	case config.NoAlignment:
		return nil
	case config.DANN:
		return discriminated(conditioning{size: featureSize, of: func(features, _ torch.Tensor) torch.Tensor { return features }})
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

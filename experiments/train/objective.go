package train

import (
	"fmt"

	"iwda/experiments/config"
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
		values := make([]torch.Tensor, len(losses))
		for i, loss := range losses {
			values[i] = loss.Reshape(1)
		}
		return torch.Cat(0, values...)
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

package train

import (
	"fmt"

	"iwda/experiments/config"
	"iwda/losses"
	"iwda/losses/form"
	"iwda/nets"
	"iwda/torch"
)

// objective is what a run minimises: a classification loss on the source's labels and,
// from an epoch on, a loss that aligns the domains.
type objective struct {
	classification classification
	alignment      alignment // nil for source-only
	fromEpoch      int       // with the domain loss
	tradeOff       float64   // factor of the domain loss
	weightDomain   bool      // the rows of the domain loss count by their class weights
	passes         int       // steps with a domain loss so far
}

func newObjective(run config.Resolved, method config.Method, alignment alignment, sourceDistribution torch.Tensor) *objective {
	return &objective{
		classification: newClassification(run, method, sourceDistribution),
		alignment:      alignment,
		fromEpoch:      run.Train.DomainFromEpoch,
		tradeOff:       run.Losses.TradeOff,
		weightDomain:   method.WeightDomain,
	}
}

// lossTensors are the losses of one step on its device.
type lossTensors struct {
	classification, domain torch.Tensor
	aligned                bool           // there is a domain loss
	discriminator          []torch.Tensor // see domainLoss
	minimised              torch.Tensor   // the total, with its gradient
}

// aligned tells whether the total of a step in that epoch includes the domain loss.
func (o *objective) aligned(epoch int) bool { return o.alignment != nil && epoch >= o.fromEpoch }

// next counts a step and returns whether its total includes the domain loss, and the
// coefficients of that.
func (o *objective) next(p position) (aligned bool, coefficients []float64) {
	if !o.aligned(p.epoch) {
		return false, nil
	}
	o.passes++
	return true, o.alignment.coefficients(p.step, o.passes)
}

// losses computes the losses of a step, with these coefficients where the domains are
// aligned and these class weights (k).
func (o *objective) losses(f stepOutputs, aligned bool, coefficients []torch.Coefficient, classWeights torch.Tensor) lossTensors {
	source, _ := f.split(f.logits)
	loss := o.classification(source, f.labels, classWeights)
	l := lossTensors{aligned: aligned, minimised: loss, classification: loss}
	if l.aligned {
		if o.weightDomain {
			f.classWeights, f.rowWeights = classWeights, classWeights.IndexSelect(0, f.labels)
		}
		domain := o.alignment.loss(f, coefficients)
		l.domain, l.discriminator = domain.value, domain.logits
		l.minimised = loss.Add(domain.value.Scale(o.tradeOff))
	}
	return l
}

func (o *objective) state() nets.State {
	if o.alignment == nil {
		return nil
	}
	return o.alignment.state().Prefixed(alignmentPrefix)
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

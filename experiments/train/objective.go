package train

import (
	"fmt"
	"math"

	"iwda/experiments/config"
	"iwda/experiments/store"
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
	batchWeights   bool      // these weights have the mean one in every batch
	passes         int       // steps with a domain loss so far
	processes      processes // that share the batch
}

func newObjective(run config.Resolved, method config.Method, alignment alignment, sourceDistribution torch.Tensor, processes processes) *objective {
	return &objective{
		classification: newClassification(run, method, sourceDistribution, processes),
		processes:      processes,
		alignment:      alignment,
		fromEpoch:      run.Train.DomainFromEpoch,
		tradeOff:       run.Losses.TradeOff,
		weightDomain:   method.WeightDomain,
		batchWeights:   run.Losses.BatchWeights,
	}
}

// stepLosses are those of one step.
type stepLosses struct {
	classification, domain, total float64
	aligned                       bool                    // total includes domain
	discriminatorAccuracy         store.Optional[float64] // see domainLoss
	minimised                     torch.Tensor            // total, with its gradient
}

// aligned tells whether the total of a step in that epoch includes the domain loss.
func (o *objective) aligned(epoch int) bool { return o.alignment != nil && epoch >= o.fromEpoch }

// losses computes the losses of a step with these class weights (k): their values are
// those of the whole batch, what is minimised is this process's part, which is such that
// the mean over the processes is the whole. A loss that is not finite is a
// [*NotFiniteError].
func (o *objective) losses(f stepOutputs, p position, classWeights torch.Tensor) (stepLosses, error) {
	source, _ := f.split(f.logits)
	loss := o.classification(source, f.labels, classWeights)
	l := stepLosses{aligned: o.aligned(p.epoch), minimised: loss}
	values := []torch.Tensor{o.processes.mean(loss)}
	if l.aligned {
		if o.weightDomain {
			f.rowWeights = classWeights.IndexSelect(0, f.labels)
			if o.batchWeights {
				mean := o.processes.mean(f.rowWeights.Mean())
				f.rowWeights = f.rowWeights.Div(mean.ClampMin(leastWeight))
			}
		}
		o.passes++
		domain := o.alignment.loss(f, age{steps: p.step, passes: o.passes}, o.processes)
		values = append(append(values, o.processes.mean(domain.value)), domain.logits...)
		l.minimised = loss.Add(domain.value.Scale(o.tradeOff))
	}
	return l, l.read(fetch(values...), o.tradeOff)
}

// read takes the values of the classification loss and, where the step has them, of the
// domain loss and of the discriminator's logits.
func (l *stepLosses) read(values [][]float32, tradeOff float64) error {
	l.classification = float64(values[0][0])
	if err := checkFinite("classification loss", l.classification); err != nil {
		return err
	}
	if l.aligned {
		l.domain = float64(values[1][0])
		if err := checkFinite("domain loss", l.domain); err != nil {
			return err
		}
		if logits := values[2:]; len(logits) > 0 {
			l.discriminatorAccuracy = discriminatorAccuracy(logits[0], logits[1])
		}
	}
	l.total = l.classification + tradeOff*l.domain
	return nil
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
func newClassification(run config.Resolved, method config.Method, sourceDistribution torch.Tensor, processes processes) classification {
	if !method.WeightClassification {
		return func(logits, labels, _ torch.Tensor) torch.Tensor { return losses.CrossEntropy(logits, labels) }
	}
	name := form.Classification(run.Losses.Classification)
	loss := losses.ClassificationOf(name)
	return func(logits, labels, weights torch.Tensor) torch.Tensor {
		rowWeights := weights.IndexSelect(0, labels)
		if name == form.ReleasedWeightedBalanced {
			rowWeights = processes.allMean(rowWeights)
		}
		return loss(logits, labels, sourceDistribution, rowWeights)
	}
}

// NotFiniteError is a loss or gradient that became NaN or infinite: training has diverged.
type NotFiniteError struct {
	Term  string // classification loss, domain loss, network's gradient, discriminator's gradient
	Value float64
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("the %s is %v; training has diverged: try recipe: robust, train.restarts or a lower train.optimizer.lr", e.Term, e.Value)
}

func checkFinite(term string, value float64) error {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return &NotFiniteError{term, value}
	}
	return nil
}

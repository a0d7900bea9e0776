package train

import (
	"context"

	"iwda/torch"
)

// step takes a batch and makes one step of all optimisers. A loss that is not finite
// is an error before anything was changed.
func (t *trainer) step(ctx context.Context, p Position) error {
	b, err := t.data.feed.next(ctx)
	if err != nil {
		return err
	}
	torch.Tidy(func() { err = t.learn(p, b) })
	return err
}

func (t *trainer) learn(p Position, b batch) error {
	f, probabilities := t.forward(p, b)
	classification := t.classification(f.logits.Narrow(0, 0, b.rows()), f.labels, t.lossWeights)
	total := classification
	classificationValue, domainValue := classification.Item(), 0.0
	if err := checkFinite("classification", classificationValue); err != nil {
		return err
	}
	aligned := t.aligned(p)
	if aligned {
		t.passes++
		domain := t.alignment.loss(f, age{steps: p.Step, passes: t.passes})
		domainValue = domain.Item()
		if err := checkFinite("domain", domainValue); err != nil {
			return err
		}
		total = total.Add(domain.Scale(t.run.Losses.TradeOff))
	}
	t.optimise(p, total)
	half := len(probabilities) / 2
	if err := t.statistics.Add(probabilities[:half], b.classes(), probabilities[half:]); err != nil {
		return err
	}
	t.lastLoss = classificationValue + t.run.Losses.TradeOff*domainValue
	t.losses.add(classificationValue, domainValue, t.lastLoss, aligned)
	return nil
}

// aligned tells whether a step's total includes the domain loss.
func (t *trainer) aligned(p Position) bool {
	return t.alignment != nil && p.Epoch >= t.run.Train.DomainFromEpoch
}

// forward passes the batch through the network in training mode. probabilities are
// the predictions of all rows, source first, for the statistics behind the class
// weights.
func (t *trainer) forward(p Position, b batch) (f forward, probabilities []float32) {
	device := t.options.Device
	source, target := b.images(device)
	f.labels = torch.FromSlice(b.labels, b.rows()).To(torch.Int64, device)
	var logits torch.Tensor // of all rows
	switch {
	case !t.aligned(p):
		// The target serves the statistics alone: no gradient is needed of it.
		f.features, f.logits = t.network.Forward(source, true)
		torch.NoGrad(func() {
			_, ofTarget := t.network.Forward(target, true)
			logits = torch.Cat(0, f.logits.Detach(), ofTarget)
		})
	case t.apart:
		sourceFeatures, sourceLogits := t.network.Forward(source, true)
		targetFeatures, targetLogits := t.network.Forward(target, true)
		f.features, f.logits = torch.Cat(0, sourceFeatures, targetFeatures), torch.Cat(0, sourceLogits, targetLogits)
		logits = f.logits
	default:
		f.features, f.logits = t.network.Forward(torch.Cat(0, source, target), true)
		logits = f.logits
	}
	if t.method.WeightDomain {
		f.rowWeights = t.lossWeights.IndexSelect(0, f.labels)
	}
	torch.NoGrad(func() { probabilities = torch.ToSlice[float32](logits.Softmax(1)) })
	return f, probabilities
}

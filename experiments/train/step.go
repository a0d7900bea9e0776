package train

import (
	"iwda/datasets"
	"iwda/torch"
)

// batch is the memory of one step's images of both domains, source first.
type batch struct {
	rows    int // of each domain
	shape   []int
	rowSize int
	indices []int
	values  []float32
	labels  []int64
}

func newBatch(rows int, shape []int) batch {
	size := 1
	for _, n := range shape {
		size *= n
	}
	return batch{
		rows: rows, shape: shape, rowSize: size,
		indices: make([]int, rows),
		values:  make([]float32, 2*rows*size),
		labels:  make([]int64, 2*rows),
	}
}

// draw fills the batch.
func (b *batch) draw(task Task, source, target *datasets.WithReplacement) {
	source.Next(b.indices)
	datasets.CopyRows(b.values[:b.rows*b.rowSize], b.labels[:b.rows], task.Source, b.indices)
	target.Next(b.indices)
	datasets.CopyRows(b.values[b.rows*b.rowSize:], b.labels[b.rows:], task.Target, b.indices)
}

// classes returns the source labels.
func (b *batch) classes() []int {
	classes := make([]int, b.rows)
	for i := range classes {
		classes[i] = int(b.labels[i])
	}
	return classes
}

func (b *batch) images(device torch.Device) torch.Tensor {
	shape := append([]int{2 * b.rows}, b.shape...)
	return torch.FromSlice(b.values, shape...).To(torch.Float32, device)
}

func (b *batch) sourceLabels(device torch.Device) torch.Tensor {
	return torch.FromSlice(b.labels[:b.rows], b.rows).To(torch.Int64, device)
}

// step draws a batch and makes one step of all optimisers. A loss that is not finite
// is an error before anything was changed.
func (t *trainer) step(p Position) (err error) {
	t.batch.draw(t.task, t.source, t.target)
	torch.Tidy(func() {
		f, probabilities := t.forward(p)
		classification := t.classification(f.logits.Narrow(0, 0, t.batch.rows), f.labels, t.lossWeights)
		total := classification
		classificationValue, domainValue := classification.Item(), 0.0
		if err = checkFinite("classification", classificationValue); err != nil {
			return
		}
		aligned := t.aligned(p)
		if aligned {
			domain := t.alignment.loss(f, p.Step)
			domainValue = domain.Item()
			if err = checkFinite("domain", domainValue); err != nil {
				return
			}
			total = total.Add(domain.Scale(t.run.Losses.TradeOff))
		}
		t.networkSGD.ZeroGrad()
		if t.alignmentSGD != nil {
			t.alignmentSGD.ZeroGrad()
		}
		total.Backward()
		o := t.run.Train.Optimizer
		options := torch.SGDOptions{LearningRate: t.learningRate, Momentum: o.Momentum, WeightDecay: o.WeightDecay, Nesterov: o.Nesterov}
		t.networkSGD.Step(options)
		if t.alignmentSGD != nil {
			options.LearningRate = o.LR
			t.alignmentSGD.Step(options)
		}

		b := t.batch.rows
		classes := len(t.sourceDistribution)
		if err = t.statistics.Add(probabilities[:b*classes], t.batch.classes(), probabilities[b*classes:]); err != nil {
			return
		}
		t.lastLoss = classificationValue + t.run.Losses.TradeOff*domainValue
		t.losses.add(classificationValue, domainValue, t.lastLoss, aligned)
	})
	return err
}

// aligned tells whether a step's total includes the domain loss.
func (t *trainer) aligned(p Position) bool {
	return t.alignment != nil && p.Epoch >= t.run.Train.DomainFromEpoch
}

// forward passes the batch through the network in training mode. probabilities are
// the predictions of all rows, for the statistics behind the class weights.
func (t *trainer) forward(p Position) (f forward, probabilities []float32) {
	device, b := t.options.Device, t.batch.rows
	images := t.batch.images(device)
	f.labels = t.batch.sourceLabels(device)
	var logits torch.Tensor // of all rows
	if t.aligned(p) {
		f.features, f.logits = t.network.Forward(images, true)
		logits = f.logits
	} else {
		// The target serves the statistics alone: no gradient is needed of it.
		f.features, f.logits = t.network.Forward(images.Narrow(0, 0, b), true)
		torch.NoGrad(func() {
			_, target := t.network.Forward(images.Narrow(0, b, b), true)
			logits = torch.Cat(0, f.logits.Detach(), target)
		})
	}
	if t.method.WeightDomain {
		f.rowWeights = t.lossWeights.IndexSelect(0, f.labels)
	}
	torch.NoGrad(func() { probabilities = torch.ToSlice[float32](logits.Softmax(1)) })
	return f, probabilities
}

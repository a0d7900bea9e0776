package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"

	"iwda/datasets"
	"iwda/losses"
	"iwda/nets"
	"iwda/torch"
)

// Network is a perceptron and how it is trained: stochastic gradient descent on the mean
// cross entropy, at the rate LearningRate/(1 + Decay·s) in step s, counted from 0.
type Network struct {
	Hidden       []int   `yaml:"hidden,flow"` // units of each hidden layer, of which there is at least one
	Epochs       int     `yaml:"epochs"`
	Batch        int     `yaml:"batch"`
	LearningRate float64 `yaml:"learning_rate"`
	Momentum     float64 `yaml:"momentum"`
	Decay        float64 `yaml:"decay"`
}

func (n Network) check() error {
	switch {
	case len(n.Hidden) == 0 || slices.Min(n.Hidden) < 1:
		return invalid("network.hidden", n.Hidden, "a list of positive numbers")
	case n.Epochs < 1:
		return invalid("network.epochs", n.Epochs, "at least 1")
	case n.Batch < 1:
		return invalid("network.batch", n.Batch, "at least 1")
	case !(n.LearningRate > 0):
		return invalid("network.learning_rate", n.LearningRate, "above 0")
	case !(n.Momentum >= 0 && n.Momentum < 1):
		return invalid("network.momentum", n.Momentum, "from 0 to below 1")
	case !(n.Decay >= 0):
		return invalid("network.decay", n.Decay, "at least 0")
	}
	return nil
}

// images are a set as networks read it: pixels divided by 255, one row an image.
type images struct {
	inputs torch.Tensor // (n × pixels)
	labels []int
}

func newImages(set *datasets.Images) images {
	size := datasets.Size(set.Shape())
	values := make([]float32, 0, set.Len()*size)
	for i := range set.Len() {
		for _, pixel := range set.Pixels(i) {
			values = append(values, float32(pixel)/255)
		}
	}
	// Whoever trains first makes them, in a scope that ends before they do.
	return images{torch.Keep(torch.FromSlice(values, set.Len(), size)), datasets.LabelsOf(set).Classes()}
}

// batchOf returns the inputs and the labels of rows.
func (im images) batchOf(rows []int) (inputs, labels torch.Tensor) {
	index, classes := make([]int64, len(rows)), make([]int64, len(rows))
	for i, row := range rows {
		index[i], classes[i] = int64(row), int64(im.labels[row])
	}
	return im.inputs.IndexSelect(0, torch.FromSlice(index, len(index))), torch.FromSlice(classes, len(classes))
}

// initialised returns a network whose weights follow from the seed alone.
func (n Network) initialised(inputs, classes int, seed int64) (made *nets.MLP) {
	last := len(n.Hidden) - 1
	torch.NewRandom(uint64(seed)).Lend(func() { made = nets.NewMLP(inputs, n.Hidden[:last], n.Hidden[last], classes, 0) })
	return made
}

// onOneThread calls f in a scope of its own on an operating system's thread whose
// operations use no other, so that results do not depend on the number of cores.
func onOneThread(f func() error) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if failed := torch.Try(func() {
		torch.SetThreads(1)
		torch.Tidy(func() { err = f() })
	}); failed != nil {
		return failed
	}
	return err
}

// train returns a network trained on those rows of the images, in an order that follows
// from the seed. Weights, one a class, multiply the losses of the rows; nil stands for
// ones.
func (n Network) train(ctx context.Context, im images, rows []int, weights []float64, seed int64) (*nets.MLP, error) {
	model := n.initialised(im.inputs.Shape()[1], classes, seed)
	var parameters []torch.Tensor
	for _, entry := range model.State() {
		parameters = append(parameters, entry.Tensor.SetRequiresGrad(true))
	}
	optimiser := torch.NewSGD(parameters)
	defer optimiser.Close()
	order := rand.New(datasets.Stream(seed, "batches"))
	rows = slices.Clone(rows)
	step := 0
	for range n.Epochs {
		order.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for batch := range slices.Chunk(rows, n.Batch) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			torch.Tidy(func() {
				inputs, labels := im.batchOf(batch)
				_, logits := model.Forward(inputs, true)
				optimiser.ZeroGrad()
				weightedLoss(logits, labels, weights).Backward()
				optimiser.Step(torch.SGDOptions{LearningRate: torch.Number(n.LearningRate / (1 + n.Decay*float64(step))), Momentum: n.Momentum})
			})
			step++
		}
	}
	return model, nil
}

// weightedLoss returns the mean of -w_y log p_y over the rows.
func weightedLoss(logits, labels torch.Tensor, weights []float64) torch.Tensor {
	if weights == nil {
		return losses.CrossEntropy(logits, labels)
	}
	k := len(weights)
	narrow := make([]float32, k)
	for y, w := range weights {
		narrow[y] = float32(w)
	}
	equal := torch.Full(1/float64(k), torch.Float32, torch.CPU, k)
	return losses.BalancedCrossEntropy(logits, labels, equal, torch.FromSlice(narrow, k).IndexSelect(0, labels))
}

// logits returns what the network says of rows of the images, row-major.
func logits(model *nets.MLP, im images, rows []int) []float32 {
	const batch = 1000
	values := make([]float32, 0, len(rows)*classes)
	torch.NoGrad(func() {
		for part := range slices.Chunk(rows, batch) {
			torch.Tidy(func() {
				inputs, _ := im.batchOf(part)
				_, z := model.Forward(inputs, false)
				values = append(values, torch.ToSlice[float32](z)...)
			})
		}
	})
	return values
}

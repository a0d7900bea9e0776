package losses_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"iwda/losses"
	"iwda/nets"
	"iwda/torch"
	"iwda/weightest"
)

// IWDAN with a loop of one's own: a network, a discriminator, and class weights that are estimated
// anew after every epoch.
func Example() {
	const classes, inputs, features, rows, steps, epochs = 2, 3, 8, 32, 40, 3
	random := rand.New(rand.NewPCG(1, 2))
	// draw returns a batch in which class 1 has this share.
	draw := func(share float64) (values []float32, labels []int64) {
		for range rows {
			label := int64(0)
			if random.Float64() < share {
				label = 1
			}
			for range inputs {
				values = append(values, float32(3*float64(label)+random.NormFloat64()))
			}
			labels = append(labels, label)
		}
		return values, labels
	}
	sourceShares := []float64{0.8, 0.2}

	torch.SetThreads(1)
	torch.Seed(1)
	network := nets.NewMLP(inputs, nil, features, classes, 0)
	discriminator := nets.NewDiscriminator(features, 16, 0)
	ofNetwork, ofDiscriminator := torch.NewSGD(network.State().Parameters()), torch.NewSGD(discriminator.State().Parameters())
	reversal := nets.Reversal{Iterations: epochs * steps}
	statistics := weightest.NewAccumulator(classes)
	tracker, err := weightest.NewTracker(classes, weightest.TrackerSettings{EMA: 0.5})
	if err != nil {
		log.Fatal(err)
	}
	step := func(i int) error {
		source, labels := draw(sourceShares[1])
		target, _ := draw(0.7)
		shares := torch.FromSlice([]float32{0.8, 0.2}, classes)
		w := torch.FromSlice([]float32{float32(tracker.Weights()[0]), float32(tracker.Weights()[1])}, classes)
		y := torch.FromSlice(labels, rows)
		both := torch.Cat(0, torch.FromSlice(source, rows, inputs), torch.FromSlice(target, rows, inputs))

		z, logits := network.Forward(both, true)
		rowWeights := w.IndexSelect(0, y)
		d := discriminator.Forward(z.ReverseGradient(torch.Number(reversal.Coefficient(i))), true)
		loss := losses.BalancedCrossEntropy(logits.Narrow(0, 0, rows), y, shares, rowWeights).
			Add(losses.Adversarial(d.Narrow(0, 0, rows), d.Narrow(0, rows, rows), rowWeights))
		ofNetwork.ZeroGrad()
		ofDiscriminator.ZeroGrad()
		loss.Backward()
		options := torch.SGDOptions{LearningRate: torch.Number(0.02), Momentum: 0.9}
		ofNetwork.Step(options)
		ofDiscriminator.Step(options)

		p := torch.ToSlice[float32](logits.Softmax(1))
		known := make([]int, rows)
		for row, label := range labels {
			known[row] = int(label)
		}
		return statistics.Add(p[:rows*classes], known, p[rows*classes:])
	}
	for i := range epochs * steps {
		var failed error
		err := torch.Try(func() { torch.Tidy(func() { failed = step(i + 1) }) })
		if err != nil || failed != nil {
			log.Fatal(err, failed)
		}
		if (i+1)%steps == 0 {
			if _, err := tracker.Update(statistics, sourceShares); err != nil {
				log.Fatal(err)
			}
		}
	}
	// The true weights are 0.3/0.8 and 0.7/0.2.
	w := tracker.Weights()
	fmt.Println(w[0] < 0.75, w[1] > 2.5)
	// Output: true true
}

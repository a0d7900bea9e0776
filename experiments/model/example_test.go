package model_test

import (
	"fmt"
	"log"
	"os"

	"iwda/datasets/normalise"
	"iwda/experiments/model"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// Rows in memory, as a server gets them, through the models of a folder, such as that of iwrun adapt.
// Package predict does the same with files.
func ExampleOpenEnsemble() {
	folder := trained()
	defer os.RemoveAll(folder)
	models, err := model.OpenEnsemble(folder)
	if err != nil {
		log.Fatal(err)
	}
	torch.SetThreads(1)
	// predict returns probabilities, rows × classes. One goroutine at a time may compute.
	predict := func(rows []float32) ([]float64, error) {
		var mean []float64
		for _, m := range models {
			values := append([]float32{}, rows...)
			m.Normalise(values)
			shape := append([]int{len(rows) / m.Input.Shape[0]}, m.Input.Shape...) // of features
			var logits []float32
			err := torch.Try(func() {
				torch.NoGrad(func() {
					torch.Tidy(func() {
						_, of := m.Network.Forward(torch.FromSlice(values, shape...), false)
						logits = torch.ToSlice[float32](of)
					})
				})
			})
			if err != nil {
				return nil, err
			}
			shares := m.Shares.Target
			if m.Shares.Assumed != nil {
				shares = m.Shares.Assumed
			}
			probabilities, err := m.Probabilities(logits, shares)
			if err != nil {
				return nil, err
			}
			if mean == nil {
				mean = make([]float64, len(probabilities))
			}
			for i, p := range probabilities {
				mean[i] += p / float64(len(models))
			}
		}
		return mean, nil
	}
	probabilities, err := predict([]float32{1, 2, 3, 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v %.2f\n", models[0].Classes, probabilities)
	// Output: [cat dog] [0.29 0.71 0.52 0.48]
}

// trained saves a model of two features and two classes.
func trained() (folder string) {
	folder, err := os.MkdirTemp("", "model")
	if err != nil {
		log.Fatal(err)
	}
	network := nets.NewLinear(2, 2)
	network.Set([]float32{1, 0, 0, 1}, []float32{0, 0})
	m := model.Model{Network: network, Metadata: model.Metadata{
		Architecture: model.Architecture{Name: architecture.Linear},
		Input:        model.Input{Kind: model.Features, Shape: []int{2}},
		Classes:      []string{"cat", "dog"},
		Normalisation: normalise.Normalisation{Kind: normalise.Standard,
			Target: &normalise.Statistics{Mean: []float32{1, 1}, Deviation: []float32{2, 2}}},
		Shares: model.Shares{Source: []float64{0.5, 0.5}, Classifier: []float64{0.5, 0.5}, Target: []float64{0.4, 0.6}},
	}}
	if err := model.Save(folder, m); err != nil {
		log.Fatal(err)
	}
	return folder
}

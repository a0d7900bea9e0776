package predict_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/maruel/safetensors"

	"iwda/adaptation/predict"
	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/engine"
	"iwda/experiments/model"
	"iwda/nets/architecture"
	"iwda/nets/statedict"
)

// The rows of a file through the models of a folder, such as that of iwrun adapt.
func ExampleEnsemble() {
	folder := trained()
	defer os.RemoveAll(folder)
	models, err := model.Trust{}.OpenEnsemble(folder)
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(folder, "rows.csv")
	if err := os.WriteFile(file, []byte("width,height\n1,2\n3,2\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	rows, err := predict.Open(file, table.Roles{}, folder, models[0].Metadata)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	torch := &engine.Process{Log: os.Stderr}
	defer torch.Close()
	ensemble, inputs, ctx := predict.NewEnsemble(models, predict.Options{Torch: torch}), []predict.Input{rows}, context.Background()
	shares, err := ensemble.Shares(ctx, predict.ModelShares, inputs)
	if err != nil {
		log.Fatal(err)
	}
	err = ensemble.Each(ctx, inputs, shares, func(id string, probabilities []float32) error {
		_, err := fmt.Printf("%s %v %.2f\n", id, models[0].Classes, probabilities)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0 [cat dog] [0.29 0.71]
	// 1 [cat dog] [0.52 0.48]
}

// trained saves a model of two features and two classes.
func trained() (folder string) {
	folder, err := os.MkdirTemp("", "model")
	if err != nil {
		log.Fatal(err)
	}
	one := []byte{0, 0, 0x80, 0x3f} // as float32
	weights := []statedict.Tensor{
		{Name: "classifier.weight", DType: safetensors.F32, Shape: []uint64{2, 2}, Data: slices.Concat(one, make([]byte, 8), one)},
		{Name: "classifier.bias", DType: safetensors.F32, Shape: []uint64{2}, Data: make([]byte, 8)},
	}
	m := model.Model{Weights: weights, Metadata: model.Metadata{
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

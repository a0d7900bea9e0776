package config

import (
	"fmt"
	"reflect"

	"gopkg.in/yaml.v3"

	"iwda/datasets/catalogue"
	"iwda/losses/form"
	"iwda/nets/architecture"
)

// networksOf returns the networks that take rows of the kind.
func networksOf(kind catalogue.Kind) []string {
	switch kind {
	case catalogue.ImageFiles:
		return architecture.Taking(architecture.Photographs)
	case catalogue.Vectors:
		return architecture.Taking(architecture.Vectors)
	}
	return architecture.Taking(architecture.SmallImages)
}

// Default returns the settings of an experiment on a data set that says nothing but its
// name, or not even that: those of the paper's Digits experiments, or of its image experiments
// for image files, with what the data set has of its own. It names no experiment, tasks, variants
// (but full for a user's own files), methods or seeds: these have no default.
//
// Two settings are not the paper's. One update only clears the statistics (warmup 1), as
// in the released code. And min_singular_value is 1e-4: for k classes the confusion matrix of a perfect
// classifier on a balanced source has k equal singular values 1/k, so the limit
// lies far below those of any usable matrix up to hundreds of classes, and far
// above rounding errors.
func Default(data catalogue.Dataset) Config {
	settings := Settings{
		Dataset: Dataset{Name: data.Name, Root: data.Root, Fraction: 0.3},
		Network: Network{Name: string(architecture.LeNet)},
		Discriminator: Discriminator{
			Hidden: 500, Dropout: 0.5,
			Reversal: Reversal{Iterations: 10000},
		},
		Losses: Losses{Classification: string(form.Balanced), MMD: string(form.Unbiased), TradeOff: 1},
		Train: Train{
			Epochs: 70, Batch: 64, DomainFromEpoch: 2,
			Optimizer: Optimizer{LR: 0.02, Momentum: 0.9, WeightDecay: 5e-4},
			Schedule:  Schedule{Name: "step", Every: 5, Factor: 0.5},
			EvalBatch: 500, Graph: true,
		},
		Weights: Weights{EMA: 0.5, Every: 1, Warmup: 1, MinSingularValue: 1e-4},
	}
	expandVariables("dataset.root", reflect.ValueOf(&settings.Dataset.Root).Elem())
	if data.Kind == catalogue.ImageFiles {
		settings.images()
	}
	settings.merge("data set "+data.Name, data.Settings)
	c := Config{Settings: settings}
	if data.Named() { // subsampling is for published experiments
		c.Variants = []string{"full"}
	}
	return c
}

// merge sets what a part of an experiment file says, which belongs to the program: a
// mistake in it panics.
func (s *Settings) merge(name, text string) {
	if text == "" {
		return
	}
	root, err := parseYAML(name, []byte(text))
	if err == nil {
		d := newDecoder(func(n *yaml.Node) string { return place(name, n) })
		d.decodeInto("", root, s)
		err = d.errors.OrNil()
	}
	if err != nil {
		panic(fmt.Sprintf("config: settings of %v", err))
	}
}

// usualWeights is the file that the paper's ResNet-50 begins with.
const usualWeights = "${IWDA_DATA:-data}/weights/resnet50-19c8e357.pth"

// images sets what the paper's image experiments have in common. The weight decay is
// the paper's 5e-4 times the 2 that the released code multiplies it by.
func (s *Settings) images() {
	s.Dataset.Resize, s.Dataset.Crop = 256, 224
	s.Dataset.Workers, s.Dataset.Cache = 2, "memory"
	s.Network = Network{Name: string(architecture.ResNet50), Pretrained: usualWeights}
	expandVariables("network.pretrained", reflect.ValueOf(&s.Network.Pretrained).Elem())
	s.Discriminator.Hidden, s.Discriminator.Annealed = 1024, true
	s.Train = Train{
		Steps: 100000, EvalEvery: 500, Batch: 36, DomainFromEpoch: 1,
		Optimizer: Optimizer{LR: 1e-3, Momentum: 0.9, WeightDecay: 1e-3, Nesterov: true},
		Schedule:  Schedule{Name: "inverse", Gamma: 0.001, Power: 0.75},
		HeadRate:  10,
		EvalBatch: 36, Graph: true,
	}
	s.Weights.Every, s.Weights.Warmup = 15, 0
}

// recipes are the settings that a name stands for: defaults, before what a file says
// itself. docs/explanation/instability.md tells how they were chosen.
var recipes = map[string]string{
	"robust": "discriminator: {normalise: rows, dropout: 0}",
}

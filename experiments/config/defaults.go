package config

import "reflect"

// dataset is what the program knows about a data set by its name.
type dataset struct {
	name     string
	tasks    []string
	root     string // default of dataset.root; "" where the images are generated
	perClass [2]int // defaults of train_per_class and test_per_class; 0 where they are read
}

// datasets holds every data set; the first one is the paper's.
var datasets = []dataset{
	{name: "digits", tasks: []string{"mnist-usps", "usps-mnist"}, root: "${IWDA_DATA:-data}/digits"},
	{name: "glyphs", tasks: []string{"clean-warped", "warped-clean"}, perClass: [2]int{400, 100}},
}

func datasetNames() []string {
	var names []string
	for _, d := range datasets {
		names = append(names, d.name)
	}
	return names
}

func findDataset(name string) (dataset, bool) {
	for _, d := range datasets {
		if d.name == name {
			return d, true
		}
	}
	return dataset{}, false
}

// Default returns the settings of the paper's Digits experiments for a data set,
// digits or glyphs, with its own folder and sizes. It names no experiment, tasks,
// variants, methods or seeds: these have no default.
//
// Three settings are not the paper's. There is no cap on weights (0). One
// update only clears the statistics (warmup 1), as in the released code. And
// min_singular_value is 1e-4: for k classes the confusion matrix of a perfect
// classifier on a balanced source has k equal singular values 1/k, so the limit
// lies far below those of any usable matrix up to hundreds of classes, and far
// above rounding errors.
func Default(datasetName string) Config {
	settings := Settings{
		Dataset: Dataset{Name: datasetName, Fraction: 0.3},
		Network: Network{Name: "lenet"},
		Discriminator: Discriminator{
			Hidden: 500, Dropout: 0.5,
			Reversal: Reversal{Alpha: 10, High: 1, Iterations: 10000},
		},
		Losses: Losses{Classification: "balanced", MMD: "released", TradeOff: 1},
		Train: Train{
			Epochs: 70, Batch: 64, DomainFromEpoch: 2,
			Optimizer: Optimizer{Name: "sgd", LR: 0.02, Momentum: 0.9, WeightDecay: 5e-4},
			Schedule:  Schedule{Name: "step", Every: 5, Factor: 0.5},
			EvalBatch: 500,
		},
		Weights: Weights{Estimator: "qp", EMA: 0.5, Every: 1, Warmup: 1, MinSingularValue: 1e-4},
	}
	if data, ok := findDataset(datasetName); ok {
		settings.Dataset.Root = data.root
		settings.Dataset.TrainPerClass, settings.Dataset.TestPerClass = data.perClass[0], data.perClass[1]
		expandVariables("dataset.root", reflect.ValueOf(&settings.Dataset.Root).Elem())
	}
	return Config{Settings: settings}
}

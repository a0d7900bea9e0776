package config

import "reflect"

// dataset is what the program knows about a data set by its name.
type dataset struct {
	name     string
	tasks    []string
	classes  int
	root     string // default of dataset.root; "" where the images are generated
	perClass [2]int // defaults of train_per_class and test_per_class; 0 where they are read
	kind     kind
}

// kind is what the rows of a data set are, which decides on networks and defaults.
type kind int

const (
	smallImages kind = iota // 1×28×28, in memory
	imageFiles
	vectors
)

// networkNames holds the networks of every kind of data.
var networkNames = []string{"lenet", "mlp", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"}

// networks returns those that take rows of the kind.
func (k kind) networks() []string {
	switch k {
	case imageFiles:
		return networkNames[2:]
	case vectors:
		return networkNames[1:2]
	}
	return networkNames[:1]
}

// pairs returns the tasks between all domains.
func pairs(domains ...string) []string {
	var tasks []string
	for _, source := range domains {
		for _, target := range domains {
			if source != target {
				tasks = append(tasks, source+"-"+target)
			}
		}
	}
	return tasks
}

// datasets holds every data set; the first one is the paper's.
var datasets = []dataset{
	{name: "digits", tasks: []string{"mnist-usps", "usps-mnist"}, classes: 10, root: "${IWDA_DATA:-data}/digits"},
	{name: "glyphs", tasks: []string{"clean-warped", "warped-clean"}, classes: 10, perClass: [2]int{400, 100}},
	{name: "office31", tasks: pairs("amazon", "dslr", "webcam"), classes: 31, root: "${IWDA_DATA:-data}/office31", kind: imageFiles},
	{name: "officehome", tasks: pairs("art", "clipart", "product", "real"), classes: 65, root: "${IWDA_DATA:-data}/officehome", kind: imageFiles},
	{name: "visda", tasks: []string{"synthetic-real"}, classes: 12, root: "${IWDA_DATA:-data}/visda", kind: imageFiles},
	{name: "features", root: "${IWDA_DATA:-data}/features", kind: vectors},
}

func datasetNames() []string {
	var names []string
	for _, d := range datasets {
		names = append(names, d.name)
	}
	return names
}

// IsImageFiles reports whether a data set consists of image files.
func IsImageFiles(datasetName string) bool {
	data, ok := findDataset(datasetName)
	return ok && data.kind == imageFiles
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
	data, ok := findDataset(datasetName)
	switch {
	case ok && data.kind == imageFiles:
		settings.images()
	case ok && data.kind == vectors:
		settings.Network = Network{Name: "mlp", Features: 256, Layers: 1}
		settings.Train.Epochs = 20
	}
	if ok {
		settings.Dataset.Root = data.root
		settings.Dataset.TrainPerClass, settings.Dataset.TestPerClass = data.perClass[0], data.perClass[1]
		expandVariables("dataset.root", reflect.ValueOf(&settings.Dataset.Root).Elem())
	}
	return Config{Settings: settings}
}

// images sets what the paper's image experiments have in common. The weight decay is
// the paper's 5e-4 times the 2 that the released code multiplies it by.
func (s *Settings) images() {
	s.Dataset.Resize, s.Dataset.Crop = 256, 224
	s.Dataset.Workers, s.Dataset.Cache = 2, "disk"
	s.Network = Network{Name: "resnet50", Pretrained: "${IWDA_DATA:-data}/weights/resnet50-19c8e357.pth"}
	expandVariables("network.pretrained", reflect.ValueOf(&s.Network.Pretrained).Elem())
	s.Discriminator.Hidden, s.Discriminator.Annealed = 1024, true
	s.Train = Train{
		Steps: 100000, EvalEvery: 500, Batch: 36, DomainFromEpoch: 1,
		Optimizer: Optimizer{Name: "sgd", LR: 1e-3, Momentum: 0.9, WeightDecay: 1e-3, Nesterov: true},
		Schedule:  Schedule{Name: "inverse", Gamma: 0.001, Power: 0.75},
		HeadRate:  10,
		EvalBatch: 36,
	}
	s.Weights.Every, s.Weights.Warmup = 15, 0
}

package config

// Config is one experiment file: what is trained on what, how, and how often. A
// File holds one together with its overrides; File.Resolve turns it into the
// configuration of one run.
type Config struct {
	Experiment string   `yaml:"experiment"`    // names the result folder
	Title      string   `yaml:"title"`         // heads the table; the experiment's name where it is left out
	Tasks      []string `yaml:"tasks,flow"`    // source-target
	Variants   []string `yaml:"variants,flow"` // full, subsampled
	Methods    []string `yaml:"methods,flow"`  // names of presets, see ParseMethod
	Seeds      []int64  `yaml:"seeds,flow"`
	Settings   `yaml:",inline"`
}

// Settings are the parts of a configuration that one run uses as they are. An
// override may change any of them but dataset.name.
type Settings struct {
	Dataset       Dataset       `yaml:"dataset"`
	Network       Network       `yaml:"network"`
	Discriminator Discriminator `yaml:"discriminator"`
	Losses        Losses        `yaml:"losses"`
	Train         Train         `yaml:"train"`
	Weights       Weights       `yaml:"weights"`
}

// Dataset names the data and where they lie.
type Dataset struct {
	Name string `yaml:"name"` // digits, glyphs
	// Root is the folder that holds the data, relative to the working directory.
	// ${VARIABLE} and ${VARIABLE:-default} in it are expanded as in a shell.
	// Generated data sets (glyphs) do not use it.
	Root string `yaml:"root"`
	// Fraction is the share of each class of the first half of the label order
	// that the source keeps in the variant "subsampled".
	Fraction float64 `yaml:"fraction"`
	// TrainPerClass and TestPerClass are the numbers of images that generated data
	// sets (glyphs) draw per class and domain; others ignore them.
	TrainPerClass int `yaml:"train_per_class,omitempty"`
	TestPerClass  int `yaml:"test_per_class,omitempty"`
}

// Network is the feature extractor with its classifier.
type Network struct {
	Name string `yaml:"name"` // lenet
}

// Discriminator is the domain discriminator of the adversarial methods.
type Discriminator struct {
	Hidden  int     `yaml:"hidden"`  // width of both hidden layers
	Dropout float64 `yaml:"dropout"` // probability of zeroing a hidden unit
	// RandomProjection is the size m of the random projection that takes the place of
	// p ⊗ z, of size k·d, in CDAN and its variants; 0 keeps the product itself.
	RandomProjection int `yaml:"random_projection"`
	// Reversal is the schedule of the gradient reversal's coefficient.
	Reversal Reversal `yaml:"reversal"`
}

// Reversal is c(i) = 2·High/(1+exp(-Alpha·i/Iterations)) - High, where i counts
// the discriminator's training forward passes from 1 (Ganin et al. 2016).
type Reversal struct {
	Alpha      float64 `yaml:"alpha"`
	High       float64 `yaml:"high"`
	Iterations int     `yaml:"iterations"`
}

// Losses chooses between the forms that the paper and its released code give.
type Losses struct {
	// Classification is the loss of importance-weighted methods on the source:
	// balanced, weighted-balanced or weighted-balanced-released.
	Classification string `yaml:"classification"`
	// MMD is the form of the kernel losses of DAN and JAN: released leaves out the
	// pairs of a row with itself, biased is the paper's formula.
	MMD string `yaml:"mmd"`
	// TradeOff multiplies the domain loss in the total.
	TradeOff float64 `yaml:"trade_off"`
}

// Train is the training loop.
type Train struct {
	Epochs int `yaml:"epochs"`
	Batch  int `yaml:"batch"` // images of each domain in a step
	// DomainFromEpoch is the first epoch, counted from 1, whose total includes the
	// domain loss.
	DomainFromEpoch int       `yaml:"domain_from_epoch"`
	Optimizer       Optimizer `yaml:"optimizer"`
	// Schedule is the network's learning-rate schedule. The discriminator's rate is
	// constant.
	Schedule  Schedule `yaml:"schedule"`
	EvalBatch int      `yaml:"eval_batch"` // images a forward pass of an evaluation
}

// Optimizer is stochastic gradient descent as in PyTorch.
type Optimizer struct {
	Name        string  `yaml:"name"` // sgd
	LR          float64 `yaml:"lr"`
	Momentum    float64 `yaml:"momentum"`
	WeightDecay float64 `yaml:"weight_decay"`
	Nesterov    bool    `yaml:"nesterov"`
}

// Schedule changes the network's learning rate.
type Schedule struct {
	Name string `yaml:"name"` // constant, step
	// Every and Factor: the rate is multiplied by Factor before each epoch, counted
	// from 1, that is a multiple of Every.
	Every  int     `yaml:"every"`
	Factor float64 `yaml:"factor"`
}

// Weights says how class weights are estimated while training.
type Weights struct {
	Estimator string  `yaml:"estimator"` // qp, qp-released, inverse
	EMA       float64 `yaml:"ema"`       // share of the former weights that an update keeps
	Every     int     `yaml:"every"`     // passes over the source between updates
	// Warmup is the number of updates at the start that only clear the statistics:
	// 1 means that the weights change from the end of the second epoch on.
	Warmup int `yaml:"warmup"`
	// Cap is the largest value that a weight may take; 0 means no cap.
	Cap float64 `yaml:"cap"`
	// MinSingularValue: a confusion matrix whose smallest singular value is below it
	// leaves the weights as they are; 0 accepts every matrix.
	MinSingularValue float64 `yaml:"min_singular_value"`
}

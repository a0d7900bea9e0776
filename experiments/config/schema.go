package config

import (
	"cmp"

	"iwda/datasets/normalise"
	"iwda/experiments/learningrate"
	"iwda/selection"
)

// Config is one experiment file: what is trained on what, how, and how often. A
// File holds one together with its overrides; File.Resolve turns it into the
// configuration of one run.
type Config struct {
	Experiment string   `yaml:"experiment"`    // names the result folder
	Title      string   `yaml:"title"`         // heads the table; the experiment's name where it is left out
	Tasks      Tasks    `yaml:"tasks,flow"`    // source-target, or pairs
	Variants   []string `yaml:"variants,flow"` // full, subsampled, source-…, target-…
	Methods    []string `yaml:"methods,flow"`  // names of presets, see ParseMethod
	Seeds      []int64  `yaml:"seeds,flow"`
	// Recipe is the name of settings that take the place of defaults; see RecipeNames. The
	// configuration of a run holds these settings, not the name.
	Recipe   string `yaml:"recipe,omitempty"`
	Settings `yaml:",inline"`
}

// Selection is about choosing without a label of the target.
type Selection struct {
	// Rule chooses one of the runs of a file: one of selection.Names, target-risk where it is
	// empty.
	Rule string `yaml:"rule,omitempty"`
	// Choose says what iwrun adapt predicts with: the best run by the rule, run, or all seeds of
	// its method, method.
	Choose string `yaml:"choose,omitempty"`
	// Tolerance is the share by which the best run of a method may be worse by the rule than
	// the best of all, and the method be as good: iwrun adapt then takes the one that methods
	// lists last. 0 takes the best.
	Tolerance float64 `yaml:"tolerance,omitempty"`
	// Alike are methods that predict together, by the mean of their probabilities, if no rule is
	// given: those that take columns to mean the same in both domains. Moved are those that
	// take their place if that is not what the data say; see [judge.Comparison.Together].
	Alike []string `yaml:"alike,omitempty,flow"`
	Moved []string `yaml:"moved,omitempty,flow"`
}

// RuleOrDefault is the rule that counts.
func (s Selection) RuleOrDefault() string { return cmp.Or(s.Rule, selection.TargetRisk.Name) }

// ChooseMethod is the value of selection.choose with which all seeds of the best run's method
// predict together; that of the run alone is the empty text.
const ChooseMethod = "method"

// Settings are the parts of a configuration that one run uses as they are. An
// override may change any of them but dataset.name. The tag omitempty is for keys whose
// zero value is also their default wherever it is allowed.
type Settings struct {
	Selection     Selection     `yaml:"selection,omitempty"`
	Dataset       Dataset       `yaml:"dataset"`
	Network       Network       `yaml:"network"`
	Discriminator Discriminator `yaml:"discriminator"`
	Losses        Losses        `yaml:"losses"`
	Train         Train         `yaml:"train"`
	Weights       Weights       `yaml:"weights"`
}

// Dataset names the data and where they lie.
type Dataset struct {
	Name string `yaml:"name"` // one of catalogue.Names
	// Root is the folder that holds the data, relative to the working directory.
	// ${VARIABLE} and ${VARIABLE:-default} in it are expanded as in a shell.
	// Data sets that are drawn do not use it.
	Root string `yaml:"root"`
	// Domains are the user's own: names with the files of each, relative to Root.
	Domains Domains `yaml:"domains,omitempty"`
	// Fraction is the share of each class of the first half of the label order
	// that the source keeps in the variant "subsampled".
	Fraction float64 `yaml:"fraction"`
	// ClassFractions are the shares of each class, in label order, that a domain
	// keeps: the source in the variants source-…, the target, its test set too, in
	// the variants target-…; see FractionsDomain.
	ClassFractions []float64 `yaml:"class_fractions,omitempty,flow"`
	// TrainPerClass and TestPerClass are the numbers of rows of each class that are
	// drawn for a domain's training and test set; data sets that are read ignore them.
	TrainPerClass int `yaml:"train_per_class,omitempty"`
	TestPerClass  int `yaml:"test_per_class,omitempty"`
	// Resize and Crop are the sides in pixels to which images are scaled and of the
	// part that the network sees. Data sets that are no image files ignore them.
	Resize int `yaml:"resize,omitempty"`
	Crop   int `yaml:"crop,omitempty"`
	// Workers is the number of goroutines that decode images, and Cache where decoded
	// ones are kept: none, memory, disk. Neither changes a result.
	Workers int    `yaml:"workers,omitempty"`
	Cache   string `yaml:"cache,omitempty"`
}

// Network is the feature extractor with its classifier.
type Network struct {
	Name string `yaml:"name"` // one of package architecture
	// Pretrained is the file with a ResNet's weights, or none to train from scratch.
	// ${VARIABLE:-default} is expanded.
	Pretrained string `yaml:"pretrained,omitempty"`
	// File is that of the TorchScript module which is the backbone of torchscript, relative
	// to the working directory. ${VARIABLE:-default} is expanded.
	File string `yaml:"file,omitempty"`
	// Features is the size of each hidden layer of an mlp; the last one's units are z.
	Features int `yaml:"features,omitempty"`
	// Layers is the number of hidden layers of an mlp.
	Layers int `yaml:"layers,omitempty"`
	// Frozen keeps the backbone of a ResNet or of torchscript as it is, in evaluation
	// mode, and trains the layers after it alone: the protocol of JAN.
	Frozen bool `yaml:"frozen,omitempty"`
	// Views computes the features of a frozen backbone for this many augmented views
	// of each image once, before training; 0 computes them at every step.
	Views int `yaml:"views,omitempty"`
	// Normalise is what happens to rows of features before the network: none, source, standard,
	// matched or l2; see [normalise.Standard].
	Normalise string `yaml:"normalise,omitempty"`
	// Clip is the number of deviations from its column's mean beyond which a value of
	// features is brought back, before source, standard or matched, in columns most of whose
	// variance lies in a few values far from all others; 0 for never. See normalise.Ranges.
	Clip float64 `yaml:"clip,omitempty"`
}

// The values of discriminator.normalise.
const (
	SharedScale = "shared"
	RowScale    = "rows"
)

// Normalisation are the settings of network.normalise and clip.
func (n Network) Normalisation() normalise.Settings {
	return normalise.Settings{Way: n.Normalise, Clip: n.Clip}
}

// NotPretrained is the value of network.pretrained with which a ResNet is trained from
// scratch.
const NotPretrained = "none"

// Discriminator is the domain discriminator of the adversarial methods.
type Discriminator struct {
	Hidden  int     `yaml:"hidden"`  // width of both hidden layers
	Dropout float64 `yaml:"dropout"` // probability of zeroing a hidden unit
	// RandomProjection is the size m of the random projection that takes the place of
	// p ⊗ z, of size k·d, in CDAN and its variants; 0 keeps the product itself.
	RandomProjection int `yaml:"random_projection"`
	// Normalise is what features are divided by before the discriminator sees them, so that
	// the network cannot win by their size: each row by its own root mean square, rows, or all
	// rows of a batch, of both domains, by that of all of them, shared, so that they keep their
	// size beside each other; none, the empty text, leaves them.
	Normalise string `yaml:"normalise,omitempty"`
	// Annealed lets the discriminator's learning rate follow the schedule of the
	// network's; otherwise it is constant.
	Annealed bool `yaml:"annealed"`
	// Reversal is the schedule of the gradient reversal's coefficient.
	Reversal Reversal `yaml:"reversal"`
}

// Reversal is c(i) = 2/(1+exp(-10·i/Iterations)) - 1, where i counts the discriminator's
// training forward passes from 1 (Ganin et al. 2016).
type Reversal struct {
	Iterations int `yaml:"iterations"`
}

// Losses chooses between the forms that the paper and its released code give.
type Losses struct {
	// Classification is the loss of importance-weighted methods on the source, a
	// form.Classification.
	Classification string `yaml:"classification"`
	// MMD is the form of the kernel losses of DAN and JAN, a form.MMD.
	MMD string `yaml:"mmd"`
	// TradeOff multiplies the domain loss in the total.
	TradeOff float64 `yaml:"trade_off"`
}

// Train is the training loop.
type Train struct {
	// Epochs is the length of a run in epochs, of floor(max(n_S, n_T)/batch) steps,
	// with an evaluation after each. A run is given in epochs or in steps, not in both.
	Epochs int `yaml:"epochs,omitempty"`
	// Steps is the length of a run in steps, with an evaluation after every EvalEvery
	// of them: what is called an epoch elsewhere. Where it is not 0, Epochs has no effect.
	Steps     int `yaml:"steps,omitempty"`
	EvalEvery int `yaml:"eval_every,omitempty"`
	Batch     int `yaml:"batch"` // rows of each domain in a step
	// DomainFromEpoch is the first epoch, counted from 1, whose total includes the
	// domain loss.
	DomainFromEpoch int       `yaml:"domain_from_epoch"`
	Optimizer       Optimizer `yaml:"optimizer"`
	// Schedule is the network's learning-rate schedule.
	Schedule learningrate.Schedule `yaml:"schedule"`
	// HeadRate multiplies the learning rate of all that is not a pretrained backbone:
	// the layers after it and the discriminator. 0 means 1.
	HeadRate  float64 `yaml:"head_rate,omitempty"`
	EvalBatch int     `yaml:"eval_batch"` // rows of a forward pass of an evaluation
	// Precision is that of convolutions and linear maps in a ResNet's training passes: float32
	// or bf16. Parameters, normalisation's statistics, losses and evaluations are float32.
	Precision string `yaml:"precision,omitempty"`
	// Graph has a GPU record a step, with and without the domain loss, and repeat it as a
	// whole. Elsewhere it changes nothing.
	Graph bool `yaml:"graph,omitempty"`
	// Restarts is how often a run in which a loss or gradient is not finite, or a classification
	// loss above 1,000, begins again, each time with half the learning rates; after that it fails.
	Restarts int `yaml:"restarts,omitempty"`
	// Validation is the share of the source's rows that is held out, by class: training
	// does not see these rows, every evaluation measures the network on them.
	Validation float64 `yaml:"validation,omitempty"`
}

// BFloat16 is a value of train.precision; float32 is the empty text.
const BFloat16 = "bf16"

// Evaluations returns the number of evaluations after the one at the start: that of the
// run's epochs, of which each ends with one.
func (t Train) Evaluations() int {
	if t.Steps > 0 {
		return t.Steps / t.EvalEvery
	}
	return t.Epochs
}

// Optimizer is stochastic gradient descent as in PyTorch.
type Optimizer struct {
	LR          float64 `yaml:"lr"`
	Momentum    float64 `yaml:"momentum"`
	WeightDecay float64 `yaml:"weight_decay"`
	Nesterov    bool    `yaml:"nesterov"`
}

// Weights says how class weights are estimated while training.
type Weights struct {
	Estimator string  `yaml:"estimator"` // one of EstimatorNames
	EMA       float64 `yaml:"ema"`       // share of the former weights that an update keeps
	Every     int     `yaml:"every"`     // passes over the source between updates
	// Warmup is the number of updates at the start that only clear the statistics:
	// 1 means that the weights change from the end of the second epoch on.
	Warmup int `yaml:"warmup"`
	// MinSingularValue: a confusion matrix whose smallest singular value is below it
	// leaves the weights as they are; 0 accepts every matrix.
	MinSingularValue float64 `yaml:"min_singular_value"`
}

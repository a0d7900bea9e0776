// Package config reads experiment files: YAML that says which methods are trained
// on which tasks, how, and with which seeds.
//
// One file is one experiment:
//
//	experiment: digits
//	dataset: {name: digits, root: "${IWDA_DATA:-data}/digits"}
//	tasks: [mnist-usps, usps-mnist]
//	variants: [full, subsampled]
//	methods: [source-only, dann, iwdan]
//	seeds: [1, 2, 3]
//	train: {epochs: 70}
//	overrides:
//	  - when: {task: usps-mnist}
//	    train: {schedule: {every: 6}}
//
// The keys experiment, dataset.name, tasks, variants, methods and seeds must be
// there, but that variants are full where dataset.name is files; every other key has
// the default that Default returns. Names may be written in any case.
//
// # Precedence
//
// A setting is looked up in this order; the first that gives it wins:
//
//  1. assignments, as the command line's --set train.epochs=2 (File.Set), a later
//     one before an earlier one;
//  2. overrides whose condition fits the run, a later one before an earlier one;
//  3. the settings of the file;
//  4. Default.
//
// Settings below a key merge: an override of train.schedule.every leaves
// train.schedule.factor as it is. Lists do not merge; they are replaced.
//
// # Conditions
//
// The condition of an override names any of task, variant, method and seed, each
// with a value, a pattern as in path.Match, or a list of these. It fits a run that
// every named part fits. A pattern that fits nothing in the file is an error.
//
// # Errors
//
// Every function that reads settings returns all mistakes at once, as Errors. Each
// has its place (file:line:column, or the assignment), what is wrong there, and the
// nearest right key or name. Anchors, aliases, merge keys and files of several
// documents are errors too: overrides do what they are for.
package config

import (
	"cmp"
	"reflect"
	"strconv"

	"gopkg.in/yaml.v3"

	"iwda/inference/selection"
)

// Config is one experiment file: what is trained on what, how, and how often. A
// File holds one together with its overrides; File.Resolve turns it into the
// configuration of one run. The comments of keys are what docs/reference/configuration.md says.
type Config struct {
	// Experiment names the folder of results.
	Experiment string `yaml:"experiment"`
	// Title heads the table. Without it the experiment's name does.
	Title string `yaml:"title"`
	// Tasks are pairs of domains, source first: photos-sketches, or [photos, my-sketches] if
	// hyphens in names make that ambiguous. A task may have several sources: photos+scans-sketches,
	// or {source: [photos, scans], target: sketches}; see methods.md#several-sources.
	Tasks Tasks `yaml:"tasks,flow"`
	// Variants say which rows are kept: full keeps all of them, subsampled those that
	// dataset.fraction says, source-NAME and target-NAME those that dataset.class_fractions says.
	// Files of your own need none.
	Variants []string `yaml:"variants,flow"`
	// Methods are trained on each task; see methods.md. A word after @ names a group of settings
	// that overrides define.
	Methods []string `yaml:"methods,flow"`
	// Seeds are numbers that fix everything random in a run.
	Seeds []int64 `yaml:"seeds,flow"`
	// Recipe is the name of a group of settings that replace defaults. robust stands for
	// discriminator.normalise rows and discriminator.dropout 0.
	Recipe    string    `yaml:"recipe,omitempty"`
	Selection Selection `yaml:"selection,omitempty"`
	Settings  `yaml:",inline"`

	pairs map[string]pair // tasks that were given as pairs, by their names
}

// Selection is about choosing without a label of the target.
type Selection struct {
	// Rule is the criterion that chooses among runs without target labels; see criteria.md. If it
	// is left out, adapt uses alike and moved first, and then target-risk.
	Rule string `yaml:"rule,omitempty"`
	// Choose is what adapt predicts with: run means the best run by the rule, method all seeds of
	// its method.
	Choose string `yaml:"choose,omitempty"`
	// Tolerance is a fraction of the best value. Among methods whose best run is within it, adapt
	// takes the one that methods lists last.
	Tolerance float64 `yaml:"tolerance,omitempty"`
	// LabelShift says that you know that only the class shares differ: the methods of alike then
	// predict, whatever a test says. It needs alike, and no rule.
	LabelShift bool `yaml:"label_shift,omitempty"`
	// SameMeaning are methods that predict together if no rule is given and there is no sign that
	// columns have moved; see methods.md#the-choice-of-adapt.
	SameMeaning []string `yaml:"alike,omitempty,flow"`
	// ColumnsMoved are methods that predict together if columns have moved.
	ColumnsMoved []string `yaml:"moved,omitempty,flow"`
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
	Dataset       Dataset       `yaml:"dataset"`
	Network       Network       `yaml:"network"`
	Discriminator Discriminator `yaml:"discriminator"`
	Losses        Losses        `yaml:"losses"`
	Train         Train         `yaml:"train"`
	Weights       Weights       `yaml:"weights"`
}

// Dataset names the data and where they lie.
type Dataset struct {
	// Name is a known data set, or files for files of your own.
	Name string `yaml:"name"`
	// Root is the folder that holds the data, relative to the working directory. Generated data
	// sets do not use it.
	Root string `yaml:"root"`
	// Domains are your own domains, under names that you choose, such as photos: {path: photos.npz}.
	// Only the data set files has them.
	Domains Domains `yaml:"domains,omitempty"`
	// Fraction is the share of rows that the source keeps, in the variant subsampled, of each class
	// in the first half of the label order.
	Fraction float64 `yaml:"fraction"`
	// ClassFractions are the shares of rows that a domain keeps of each class, in label order: the
	// source in the variants source-NAME, the target and its test set in the variants target-NAME.
	ClassFractions []float64 `yaml:"class_fractions,omitempty,flow"`
	// Pool takes several sources of a task as one. Otherwise each has its own alignment and weights.
	Pool bool `yaml:"pool,omitempty"`
	// TrainPerClass is the number of training rows of each class, in generated data sets.
	TrainPerClass int `yaml:"train_per_class,omitempty"`
	// TestPerClass is the number of test rows of each class, in generated data sets.
	TestPerClass int `yaml:"test_per_class,omitempty"`
	// Resize is the side in pixels to which image files are scaled.
	Resize int `yaml:"resize,omitempty"`
	// Crop is the side in pixels of the part of an image file that the network sees.
	Crop int `yaml:"crop,omitempty"`
	// RandomCrop has training see a random part of each image, of 8 to 100% of its area, scaled to
	// crop. Otherwise it sees the central part, as evaluation does.
	RandomCrop Switch `yaml:"random_crop,omitempty"`
	// Mirror has training exchange left and right in half of the images. Set it to false if left
	// and right tell classes apart, as in b and d.
	Mirror Switch `yaml:"mirror,omitempty"`
	// Workers is the number of threads that decode image files. It changes no result.
	Workers int `yaml:"workers,omitempty"`
	// Cache is where decoded image files are kept, up to 256 MiB of each set: in memory, which is also what disk means. It
	// changes no result.
	Cache string `yaml:"cache,omitempty"`
}

// NoCache is the value of dataset.cache with which each image file is decoded whenever it is read.
const NoCache = "none"

// Switch is a truth value that files give. On is the zero value, so that a key of this type keeps
// the hashes of finished runs.
type Switch bool

// The values of a [Switch], true and false in files.
const (
	On  Switch = false
	Off Switch = true
)

// String returns the truth value.
func (s Switch) String() string { return strconv.FormatBool(s == On) }

// MarshalYAML writes the truth value.
func (s Switch) MarshalYAML() (any, error) { return s == On, nil }

// decodeNode reads the truth value.
func (s *Switch) decodeNode(d *decoder, path string, n *yaml.Node) {
	on := *s == On
	d.scalar(path, n, reflect.ValueOf(&on).Elem())
	*s = Switch(!on)
}

// Network is the feature extractor with its classifier.
type Network struct {
	// Name is the network. It must suit the rows: lenet takes images of 28 × 28; mlp, linear, forest,
	// boosting and perceptron take features; a ResNet takes image files; torchscript takes features or
	// image files. Those of features but mlp are made without
	// steps, and align nothing: they are for source-only.
	Name string `yaml:"name"`
	// Pretrained is the file with a ResNet's weights, or none to train all of it from scratch.
	Pretrained string `yaml:"pretrained,omitempty"`
	// File is the TorchScript module that is the backbone of torchscript. It is a program, which
	// iwrun run runs: look at this key in files of others.
	File string `yaml:"file,omitempty"`
	// Features is the size of each hidden layer of an mlp. The last one's units are the features
	// that an alignment sees.
	Features int `yaml:"features,omitempty"`
	// Layers is the number of hidden layers of an mlp.
	Layers int `yaml:"layers,omitempty"`
	// Frozen keeps the backbone of a ResNet or of torchscript as it is, and trains the layers
	// after it alone.
	Frozen bool `yaml:"frozen,omitempty"`
	// Views is the number of augmented views of each image whose features a frozen backbone
	// computes once, before training. 0 computes them at every step.
	Views int `yaml:"views,omitempty"`
	// Normalise is what happens to rows of features before the network. source: the source's
	// z-score for both domains. standard: each domain's own. matched: the source's, with the
	// target's columns moved and stretched towards it. See methods.md#columns.
	Normalise string `yaml:"normalise,omitempty"`
	// Clip is the number of deviations from a column's mean at which values are clipped. It acts
	// on columns whose variance comes from a few values far from all others. 0 never clips.
	Clip float64 `yaml:"clip,omitempty"`
	// Within clips values of the target that are further outside of the source's than so many times the width of
	// these. It acts with normalise: source, and without clip. 0 never clips.
	Within float64 `yaml:"within,omitempty"`
}

// The values of discriminator.normalise.
const (
	SharedScale = "shared"
	RowScale    = "rows"
)

// NotPretrained is the value of network.pretrained with which a ResNet is trained from
// scratch.
const NotPretrained = "none"

// Discriminator is the domain discriminator of the adversarial methods.
type Discriminator struct {
	// Hidden is the width of both hidden layers.
	Hidden int `yaml:"hidden"`
	// Dropout is the probability of zeroing a hidden unit.
	Dropout float64 `yaml:"dropout"`
	// RandomProjection is the size of the random projection that replaces the outer product of
	// predictions and features in CDAN and its variants. 0 keeps the product.
	RandomProjection int `yaml:"random_projection"`
	// Normalise is how features are scaled before the discriminator sees them: rows divides each
	// row by its root mean square, shared divides a whole batch by that of all its rows.
	Normalise string `yaml:"normalise,omitempty"`
	// Annealed lets the discriminator's learning rate follow the network's schedule. Otherwise it
	// is constant.
	Annealed bool `yaml:"annealed"`
	// Reversal is the schedule of the gradient reversal's coefficient.
	Reversal Reversal `yaml:"reversal"`
}

// Reversal is c(i) = 2/(1+exp(-10·i/Iterations)) - 1, where i counts the discriminator's
// training forward passes from 1 (Ganin et al. 2016).
type Reversal struct {
	// Iterations is the number of the discriminator's training passes over which the coefficient
	// of gradient reversal (GRL) grows: 2/(1+exp(-10·i/iterations)) - 1 at pass i.
	Iterations int `yaml:"iterations"`
}

// Losses chooses between the forms that the paper and its released code give.
type Losses struct {
	// Classification is the loss of importance-weighted methods on the source; see methods.md.
	Classification string `yaml:"classification"`
	// MMD is the form of the kernel losses of DAN and JAN; see methods.md.
	MMD string `yaml:"mmd"`
	// TradeOff is the factor of the domain loss in the total.
	TradeOff float64 `yaml:"trade_off"`
}

// Train is the training loop.
type Train struct {
	// Epochs is the length of a run, if steps is not given. An epoch has as many steps as the
	// larger domain has whole batches, and ends with an evaluation.
	Epochs int `yaml:"epochs,omitempty"`
	// Steps is the length of a run in steps. An evaluation after every eval_every of them ends
	// what is called an epoch elsewhere.
	Steps int `yaml:"steps,omitempty"`
	// EvalEvery is the number of steps between evaluations, if steps is given.
	EvalEvery int `yaml:"eval_every,omitempty"`
	// Batch is the number of rows of each domain in a step.
	Batch int `yaml:"batch"`
	// DomainFromEpoch is the first epoch, counted from 1, that trains on the domain loss too.
	DomainFromEpoch int       `yaml:"domain_from_epoch"`
	Optimizer       Optimizer `yaml:"optimizer"`
	// Schedule is the network's learning-rate schedule.
	Schedule Schedule `yaml:"schedule"`
	// HeadRate multiplies the learning rate of the discriminator and of the layers after the
	// backbone of a ResNet or of torchscript; for other networks, of all layers. If left out, it
	// is 1.
	HeadRate float64 `yaml:"head_rate,omitempty"`
	// EvalBatch is the number of rows in each forward pass of an evaluation.
	EvalBatch int `yaml:"eval_batch"`
	// Graph lets a GPU record a step and repeat it as a whole, which takes more of its memory. Steps of
	// torchscript are never recorded, nor are any on a CPU.
	Graph bool `yaml:"graph"`
	// Restarts is how often a run that diverges begins again, each time with half the learning
	// rates. It diverges if a loss or gradient is not finite, or a classification loss is above
	// 1,000.
	Restarts int `yaml:"restarts,omitempty"`
	// Validation is the share of each source class that is held out. Training does not see these
	// rows; every evaluation measures the network on them.
	Validation float64 `yaml:"validation,omitempty"`
}

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
	// LR is the learning rate before its schedule.
	LR float64 `yaml:"lr"`
	// Momentum is the share of the last step that the next one keeps.
	Momentum float64 `yaml:"momentum"`
	// WeightDecay is the factor with which parameters are added to their gradients.
	WeightDecay float64 `yaml:"weight_decay"`
	// Nesterov evaluates the gradient after the momentum's step.
	Nesterov bool `yaml:"nesterov"`
}

// Weights says how class weights are estimated while training, by the quadratic program.
type Weights struct {
	// EMA is the share of the previous weights that an update keeps.
	EMA float64 `yaml:"ema"`
	// Every is the number of passes between updates. For image files, a pass goes once over the
	// source; otherwise it has as many steps as the larger domain has whole batches.
	Every int `yaml:"every"`
	// Warmup is the number of updates at the start that only clear the statistics.
	Warmup int `yaml:"warmup"`
	// MinSingularValue is the least allowed value of a confusion matrix's smallest singular value.
	// Below it, weights stay as they are.
	MinSingularValue float64 `yaml:"min_singular_value"`
	// Shares are class shares of the target that you know: a list in label order, a mapping from
	// classes, or a CSV file of class and share. Methods with estimated weights then use these, and
	// predictions are corrected for them; the estimate is only shown.
	Shares Shares `yaml:"shares,omitempty,flow"`
}

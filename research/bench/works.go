package main

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
)

// work is one thing that is measured.
type work struct {
	name string
	goal goal
	ours side
	peer side // nil where there is nobody to compare with
}

// goal is what a work's value is compared with: at least the limit, or below it.
type goal struct {
	limit float64
	unit  string
	below bool
}

// times is a goal for the peer's time over ours.
func times(limit float64) goal { return goal{limit: limit, unit: ratioUnit} }

const ratioUnit = "ratio"

// side does a work in an environment and returns its numbers.
type side func(b *bench, environment []string) (numbers, error)

// numbers are what a side measured: the milliseconds "ms", a "value" where the goal is
// no ratio, and others, of which those that both sides return must agree.
type numbers map[string]float64

// works are all that is measured. Our side always comes first and leaves images and
// quadratic programs for the peer.
var works = []work{
	// A step from drawing 64 + 64 random images to the change of all parameters. Both
	// sides keep the statistics behind the class weights where the method needs them;
	// ours always.
	digitsStep("source-only", 60, 1.6),
	digitsStep("DANN", 60, 1.6),
	digitsStep("IWDAN", 60, 1.6),
	digitsStep("CDAN", 40, 1.4),
	digitsStep("IWCDAN", 40, 1.4),

	// The same on rows of 64 features, with 256 hidden units: the discriminator is that of iwrun
	// adapt, of 128 units without dropout behind features of one scale, or the paper's of 500. For
	// IWCDAN either sees the outer product.
	mlpStep("source-only", "adapt", 400, 2), mlpStep("IWDAN", "adapt", 200, 1.5), mlpStep("IWCDAN", "adapt", 200, 1.5),
	mlpStep("IWDAN", "paper", 100, 1.5), mlpStep("IWCDAN", "paper", 40, 1.5),

	// 94 of the 937 steps of an epoch of usps-mnist and 1,000 of the 10,000 test images:
	// the released code's loader gives one image at a time, ours 500.
	digitsEpoch("source-only"),
	digitsEpoch("IWDAN"),
	digitsEpoch("IWCDAN"),

	// The evaluation alone, ours 500 images at a time.
	{"10,000 digits evaluated, PyTorch one at a time", times(2.5), goBenchmark("experiments/train", "Evaluate", 3), script(3, "peer.py", "evaluate-one")},
	{"10,000 digits evaluated, both in batches", times(1), goBenchmark("experiments/train", "Evaluate", 3), script(3, "peer.py", "evaluate-batch")},

	// The loss of 36 + 36 rows, forward and backward, from 256 features and 31 logits on.
	mmd("JAN", "loop", 60), mmd("IWJAN", "loop", 60),
	mmd("JAN", "vectorised", 1), mmd("IWJAN", "vectorised", 1),

	// Rows of 512 features through 256 units to probabilities of 10 classes, standardised and
	// corrected for class shares, from a file of .npy, by processor time.
	{"predictions by a core, 512→256→10", goal{150_000, "rows/s", false}, goBenchmark("adaptation/predict", "Rows/standard", 5), nil},

	// From the confusion matrix to the class weights, the mean of three problems.
	quadraticProgram(10, 300, 5), quadraticProgram(65, 60, 5), quadraticProgram(345, 8, 3),

	// From the logits of 10,000 + 10,000 rows to the class weights: calibration and maximum
	// likelihood, ours always to the optimum.
	labelShift(10, "published", 30, 10), labelShift(100, "published", 10, 5),
	labelShift(10, "exact", 30, 3), labelShift(100, "exact", 10, 1),

	// Training batches from files of 300×300 pixels, cut and flipped at random. The
	// first pass decodes them; later ones find ours in a cache, which PyTorch's loader
	// does not have.
	imageLoader("first", "first pass", 1, 1), imageLoader("first", "first pass", 2, 1),
	imageLoader("later", "cached", 1, 1.5), imageLoader("later", "cached", 2, 1.5),

	// From the start of the process: data read, network made, ours evaluated too.
	{"start to the end of the first step", times(1), startWorker, startPython},
	// Two runs at once against one, by runs a minute.
	{"two runs at -j 2 against one: throughput", goal{1.8, "times", false}, throughput, nil},
	{"share of Go and cgo in a digits step, DANN", goal{3, "%", true}, overhead, nil},
	{"peak memory of a digits run, CDAN, mnist-usps", goal{450, "MB", true}, peakMemory, nil},

	// Whole commands. scikit-learn fits LogisticRegressionCV, RandomForest(100), HistGradientBoosting and three
	// MLPClassifiers to the rows of the source.
	{"iwrun --version, processor time", goal{0.05, "s", true}, startIwrun, nil},
	{"adapt, " + small.String() + ", processor time", goal{3, "s", true}, small.adapted(processorTime), nil},
	{"adapt, " + small.String() + ", to the first answer", goal{0.3, "s", true}, small.adapted(timeToAnswer), nil},
	{"adapt, " + small.String() + ", peer: scikit-learn's fits, by processor time", times(1), small.adapted(processorTime), small.fitted},
	{"adapt, " + middle.String(), goal{10, "s", true}, middle.adapted(wholeTime), nil},
	{"adapt, " + middle.String() + ", peer: scikit-learn's fits, by processor time", times(1), middle.adapted(processorTime), middle.fitted},
	{"adapt, " + array.String() + ", with libtorch", goal{35, "s", true}, array.adapted(wholeTime), nil},
	{"make iwrun from an empty cache", goal{90, "s", true}, buildIwrun, nil},
}

func digitsStep(method string, iterations int, limit float64) work {
	id := strings.ToLower(method)
	return work{"digits step, " + method, times(limit),
		goBenchmark("experiments/train", "Step/"+id, iterations), script(iterations, "peer.py", "step-"+id)}
}

func mlpStep(method, form string, iterations int, limit float64) work {
	id := strings.ReplaceAll(form, " ", "-")
	return work{fmt.Sprintf("mlp step, %s, %s", method, form), times(limit),
		goBenchmark("experiments/train", path.Join("MLPStep", id, strings.ToLower(method)), iterations),
		script(iterations, "peer.py", "mlp-"+id+"-"+strings.ToLower(method))}
}

func digitsEpoch(method string) work {
	id := strings.ToLower(method)
	return work{"digits epoch with evaluation (a tenth), " + method, times(2.5),
		goBenchmark("experiments/train", "TenthOfEpoch/"+id, 1), script(1, "peer.py", "epoch-"+id)}
}

func mmd(method, form string, limit float64) work {
	iterations := 200
	theirs := iterations
	if form == "loop" {
		theirs = 10
	}
	id := strings.ToLower(method)
	return work{method + " loss, PyTorch's form: " + form, times(limit),
		goBenchmark("losses", "JAN/"+id, iterations), script(theirs, "mmd_peer.py", form, id)}
}

func quadraticProgram(classes, iterations int, limit float64) work {
	k := strconv.Itoa(classes)
	return work{"quadratic program, k = " + k, times(limit),
		goBenchmark("weightest", "SolveQPs/k="+k, iterations), script(iterations, "qp_peer.py", problemsFolder, k)}
}

func labelShift(classes int, stopping string, ours, theirs int) work {
	k := strconv.Itoa(classes)
	return work{fmt.Sprintf("label shift from logits, BCTS and MLLS, k = %s, peer: %s", k, stopping), times(10),
		goBenchmark("weightest/calibration", "LabelShift/k="+k, ours), script(theirs, "labelshift_peer.py", problemsFolder, k, stopping)}
}

func imageLoader(epoch, name string, workers int, limit float64) work {
	n := strconv.Itoa(workers)
	of := map[string]string{"first": "first", "later": "cached"}[epoch]
	return work{fmt.Sprintf("batch of 36 JPEGs, %s, workers: %d", name, workers), times(limit),
		goBenchmark("datasets/images", path.Join("Loader", of, "workers="+n), 12),
		script(12, "loader_peer.py", epoch, imagesFolder, n)}
}

// agree tells whether two numbers are the same but for float32's rounding and the four
// digits that Go's benchmarks print.
func agree(a, b float64) bool {
	const tolerance = 2e-3
	return math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}

package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/convert"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/version"
	"iwda/torch"
	"iwda/weightest"
)

const tiny = `
experiment: tiny
dataset: {name: glyphs, train_per_class: 20, test_per_class: 6}
tasks: [clean-warped]
variants: [full, subsampled]
methods: [source-only, dann, iwdan, iwdan-o, "dann+wc", "dann+wda-o", cdan, iwcdan, "cdan+wda", "cdan+wc-o",
  cdan-e, iwcdan-e, iwcdan-e-o, dan, jan, iwjan, iwjan-o, mcc]
seeds: [1, 2]
train: {epochs: 3, batch: 16}
weights: {min_singular_value: 0} # a few steps make no classifier
`

func resolve(t testing.TB, variant, method string, seed int64, set ...string) config.Resolved {
	t.Helper()
	return resolveText(t, tiny, variant, method, seed, set...)
}

// resolveText is the run of an experiment's first task.
func resolveText(t testing.TB, text, variant, method string, seed int64, set ...string) config.Resolved {
	t.Helper()
	return must.Have(parse(text, variant, method, seed, set...))(t)
}

// parse is [resolveText] where no test is.
func parse(text, variant, method string, seed int64, set ...string) (config.Resolved, error) {
	file, err := config.Parse("tiny.yaml", []byte(text))
	if err != nil {
		return config.Resolved{}, err
	}
	if err := file.Set(set); err != nil {
		return config.Resolved{}, err
	}
	return file.Resolve(file.Config.Tasks[0], variant, method, seed)
}

// makeTrainer makes a run in a folder of its own.
func makeTrainer(t testing.TB, run config.Resolved, options Options) *trainer {
	t.Helper()
	return must.Have(newTrainer(t.Context(), run, begin(t, run), options, time.Now()))(t)
}

func begin(t testing.TB, run config.Resolved) store.Dir {
	t.Helper()
	dir := plan.Of(run).Dir(t.TempDir())
	must.Do(t, dir.Begin())
	return dir
}

func train(t *testing.T, run config.Resolved) (store.Dir, store.Result) {
	t.Helper()
	dir := begin(t, run)
	result := must.Have(Run(context.Background(), run, dir, Options{Threads: 1}))(t)
	return dir, result
}

// sum is that of counts.
func sum(counts []int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// timeless is a result without what differs between two runs of the same.
func timeless(r store.Result) store.Result {
	r.Seconds, r.PeakMemoryBytes = 0, 0
	return r
}

func TestMethodsShareTheStart(t *testing.T) {
	var accuracies []float64
	for _, method := range []string{"source-only", "dann", "iwdan-o"} {
		dir, result := train(t, resolve(t, "subsampled", method, 2, "train.epochs=1"))
		metrics := metricsOf(t, dir)
		if len(metrics) != 2 || metrics[0].Epoch != 0 || metrics[1].Epoch != 1 {
			t.Fatalf("%s: metrics %+v", method, metrics)
		}
		// The first epoch has no domain loss, so that all methods but the weighted
		// ones, whose classification loss differs, are the same until its end.
		if method != "iwdan-o" {
			accuracies = append(accuracies, metrics[0].Accuracy.Value, metrics[1].ClassificationLoss)
		} else if metrics[0].Accuracy.Value != accuracies[0] {
			t.Errorf("%s starts from another network", method)
		}
		if result.Steps != 200/16 {
			t.Errorf("%s: %d steps", method, result.Steps)
		}
	}
	if accuracies[0] != accuracies[2] {
		t.Error("methods start from different networks")
	}
}

func TestResultOfARun(t *testing.T) {
	run := resolve(t, "subsampled", "iwdan", 1)
	dir, result := train(t, run)
	stored, finished, err := dir.Finished(run.Hash())
	if err != nil || !finished {
		t.Fatalf("finished %v, %v", finished, err)
	}
	if stored.BestAccuracy != result.BestAccuracy || stored.ID != "subsampled/clean-warped/iwdan/seed-1" {
		t.Errorf("stored %+v", stored)
	}
	total := 0
	for c, row := range result.Confusion {
		for _, n := range row {
			total += n
		}
		if c < 5 != (result.TrueWeights[c] > 1) {
			t.Errorf("true weight of class %d is %v", c, result.TrueWeights[c])
		}
	}
	if total != 60 {
		t.Errorf("confusion of %d images, want 60", total)
	}
	for c, row := range result.SourceConfusion {
		sum := 0
		for _, n := range row {
			sum += n
		}
		if want := map[bool]int{true: 6, false: 20}[c < 5]; sum != want {
			t.Errorf("the source's confusion counts %d images of class %d, want %d", sum, c, want)
		}
	}
	// 6 of 20 images in five classes, 20 in the others.
	if got, want := result.LabelDistributions.Source[0], 6.0/130; got != want {
		t.Errorf("source share of class 0 is %v, want %v", got, want)
	}
	if got, want := result.TrueWeights[0], 0.1/(6.0/130); math.Abs(got-want) > 1e-12 {
		t.Errorf("true weight of class 0 is %v, want %v", got, want)
	}
	var distance float64
	for c := range result.Weights {
		distance += math.Pow(result.Weights[c]-result.TrueWeights[c], 2)
	}
	if math.Abs(math.Sqrt(distance)-result.WeightDistance.Value) > 1e-12 {
		t.Errorf("distance %v, want %v", result.WeightDistance.Value, math.Sqrt(distance))
	}
	updates := must.Have(dir.ReadWeights())(t)
	if len(updates) != 3 || updates[0].Weights[0] != 1 || !strings.Contains(updates[0].Note, "warm-up") {
		t.Errorf("updates %+v", updates)
	}
	if slices.Equal(updates[1].Weights, updates[0].Weights) {
		t.Error("the second update left the weights alone")
	}
	metrics := metricsOf(t, dir)
	if len(metrics) != 4 || metrics[3].Accuracy != result.LastAccuracy || metrics[2].DomainLoss != metrics[2].DomainLoss || !math.IsNaN(metrics[1].DomainLoss) {
		t.Errorf("metrics %+v", metrics)
	}
}

// The rate is halved before epoch e, from 1, when e is a multiple of the period; the
// line of an evaluation shows the rate of the epoch before it.
func TestLearningRateSchedule(t *testing.T) {
	run := resolve(t, "full", "dann", 1, "train.epochs=5", "train.schedule.every=2", "dataset.train_per_class=2", "train.batch=10")
	dir, _ := train(t, run)
	metrics := metricsOf(t, dir)
	for i, want := range []float64{0.02, 0.02, 0.01, 0.01, 0.005, 0.005} {
		if metrics[i].LearningRate != want {
			t.Errorf("after epoch %d the rate is %v, want %v", i, metrics[i].LearningRate, want)
		}
	}
}

// A confusion matrix that tells nothing leaves the weights alone and says so.
func TestIllConditionedStatisticsKeepTheWeights(t *testing.T) {
	run := resolve(t, "subsampled", "iwdan", 1, "weights.min_singular_value=0.5", "train.epochs=2")
	dir, log := begin(t, run), &bytes.Buffer{}
	must.Have(Run(context.Background(), run, dir, Options{Threads: 1, Log: log}))(t)
	updates := must.Have(dir.ReadWeights())(t)
	if last := updates[1]; last.Weights[0] != 1 || !strings.Contains(last.Note, "below the limit 0.5") || !strings.Contains(log.String(), last.Note) {
		t.Errorf("update %+v, log %s", last, log)
	}
}

func TestDivergenceIsAnError(t *testing.T) {
	run := resolve(t, "full", "dann", 1, "train.optimizer.lr=1e12")
	dir := begin(t, run)
	_, err := Run(context.Background(), run, dir, Options{Threads: 1})
	var diverged *DivergedError
	if !errors.As(err, &diverged) || diverged.Term != "classification loss" || !strings.Contains(err.Error(), "epoch 1, step 2") {
		t.Fatalf("error %v", err)
	}
	metrics, readErr := dir.ReadMetrics()
	if readErr != nil || len(metrics) != 1 {
		t.Errorf("metrics %v, %v", metrics, readErr)
	}
	if _, finished, _ := dir.Finished(run.Hash()); finished {
		t.Error("a diverged run counts as finished")
	}
}

func TestCancelKeepsWhatWasMeasured(t *testing.T) {
	run := resolve(t, "full", "dann", 1, "train.epochs=50")
	dir := begin(t, run)
	ctx, cancel := context.WithCancel(context.Background())
	options := Options{Threads: 1, Progress: func(p plan.Progress) {
		if p.Steps != 50*(200/16) {
			t.Errorf("progress %+v", p)
		}
		if p.Step > 2*(200/16) { // in the third epoch
			cancel()
		}
	}}
	if _, err := Run(ctx, run, dir, options); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	metrics, err := dir.ReadMetrics()
	if err != nil || len(metrics) < 3 {
		t.Fatalf("%d metrics, %v", len(metrics), err)
	}
	file, err := checkpoint.Read(dir.Path(store.CheckpointFile))
	if err != nil || file.Record.Version != version.Version {
		t.Fatalf("checkpoint %+v, %v", file.Record, err)
	}
	tensors, _ := must.Both(torch.ParseTensors(file.Content))(t)
	if _, ok := tensors["network.conv_params.0.weight"]; !ok || tensors["alignment.layer3.bias"].IsZero() {
		t.Error("the checkpoint lacks a parameter")
	}
}

func TestMissingClassAndMissingData(t *testing.T) {
	run := resolve(t, "subsampled", "dann", 1, "dataset.fraction=0.01")
	must.Refuse(Run(context.Background(), run, begin(t, run), Options{Threads: 1}))(t, `no row of class "0"`)
	file, err := config.Parse("digits.yaml", []byte("experiment: e\ndataset: {name: digits, root: "+t.TempDir()+
		"}\ntasks: [mnist-usps]\nvariants: [full]\nmethods: [dann]\nseeds: [1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	run = must.Have(file.Resolve("mnist-usps", "full", "dann", 1))(t)
	must.Refuse(Run(context.Background(), run, begin(t, run), Options{Threads: 1}))(t, "train-images-idx3-ubyte")
}

// A run that ends before the first estimate of its weights says so, if its losses use them.
func TestWeightsThatWereNeverUpdated(t *testing.T) {
	for _, c := range []struct {
		method, set string
		warned      bool
	}{{"iwdan", "weights.every=2", true}, {"iwdan", "weights.every=1", false}, {"dann", "weights.every=2", false}} {
		run, log := resolve(t, "subsampled", c.method, 1, "train.epochs=3", c.set), &strings.Builder{}
		must.Have(Run(t.Context(), run, begin(t, run), Options{Threads: 1, Log: log}))(t)
		const warning = "warning: no update changed the class weights, all are 1; weights.every and weights.warmup leave 0 updates in "
		if got := strings.Contains(log.String(), warning); got != c.warned {
			t.Errorf("%s, %s: warned %v\n%s", c.method, c.set, got, log)
		}
	}
}

// keptStatistics are those that a run has left.
func keptStatistics(t *testing.T, dir store.Dir) (s store.Statistics) {
	t.Helper()
	torch.Tidy(func() {
		tensors, _ := must.Both(torch.ParseTensors([]byte(testfiles.Read(t, dir.Path(store.StatisticsFile)))))(t)
		s.Steps = torch.ToSlice[int64](tensors["steps"])
		s.Confusion, s.TargetPredictions = torch.ToSlice[float32](tensors["confusion"]), torch.ToSlice[float32](tensors["target_predictions"])
	})
	return s
}

// What a run keeps of its updates of the class weights gives the weights once more.
func TestStatisticsGiveTheWeights(t *testing.T) {
	run := resolve(t, "subsampled", "iwdan", 1, "train.epochs=5")
	dir, result := train(t, run)
	kept := keptStatistics(t, dir)
	updates, err := dir.ReadWeights()
	if err != nil || len(updates) != len(kept.Steps) || len(updates) < 4 {
		t.Fatalf("%v: %d updates, statistics of %d", err, len(updates), len(kept.Steps))
	}
	k := len(result.Classes)
	former := slices.Repeat([]float64{1}, k)
	for i, u := range updates {
		if kept.Steps[i] != int64(u.Step) {
			t.Fatalf("statistics after step %d of an update after %d", kept.Steps[i], u.Step)
		}
		estimate, err := weightest.QP{}.Estimate(weightest.Problem{
			Confusion:         mat.NewDense(k, k, convert.Slice[float64](kept.Confusion[i*k*k:(i+1)*k*k])),
			TargetPredictions: convert.Slice[float64](kept.TargetPredictions[i*k : (i+1)*k]), SourceDistribution: result.LabelDistributions.Source,
		})
		if err != nil {
			t.Fatal(err)
		}
		for y, w := range u.Weights {
			want := former[y]
			if u.Note == "" { // it changed the weights
				want = run.Weights.EMA*former[y] + (1-run.Weights.EMA)*estimate.Weights[y]
			}
			if math.Abs(w-want) > 1e-3 {
				t.Errorf("update %d: the weight of class %d is %v, by the statistics %v", i, y, w, want)
			}
		}
		former = u.Weights
	}
}

// The length that a cost is multiplied from is that of the run.
func TestLengthsOfRuns(t *testing.T) {
	office := drawOffice(t, 2)
	for name, run := range map[string]config.Resolved{
		"whole": resolve(t, "full", "dann", 1), "subsampled": resolve(t, "subsampled", "dann", 1),
		"held out": resolve(t, "full", "dann", 1, "train.validation=0.3"), "images": resolveOffice(t, office, "full", "source-only", "train.steps=2", "train.eval_every=1"),
	} {
		_, result := train(t, run)
		l := lengthOf(run)
		evaluated := 0
		for _, row := range result.Confusion {
			evaluated += sum(row)
		}
		if l.err != nil || l.steps != result.Steps || l.rows < (1+run.Train.Evaluations())*evaluated {
			t.Errorf("%s: %+v, the run made %d steps", name, l, result.Steps)
		}
	}
}

func TestCosts(t *testing.T) {
	known := []plan.Run{plan.Of(resolve(t, "full", "dann", 1)), plan.Of(resolve(t, "subsampled", "iwdan", 2))}
	if c := EstimateCost(t.Context(), known, Options{}); c.Unknown != "" || c.Runs != 2 || c.Time <= 0 {
		t.Errorf("%+v", c)
	}
	for name, run := range map[string]config.Resolved{
		"images that are not there": resolveOffice(t, t.TempDir(), "full", "source-only"),
		"a frozen backbone":         resolveOffice(t, drawOffice(t, 1), "full", "jan"),
	} {
		if c := EstimateCost(t.Context(), append(known, plan.Of(run)), Options{}); c.Unknown == "" || c.Runs != 2 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// With the true shares given, a method with estimated weights is its oracle, bit for bit, and its predictions
// are corrected for the shares that were given; it needs no label of the target.
func TestKnownSharesAreTheOracle(t *testing.T) {
	oracle, known := train(t, resolve(t, "subsampled", "iwdan-o", 1))
	shares := fmt.Sprint(known.LabelDistributions.Target)
	dir, result := train(t, resolve(t, "subsampled", "iwdan", 1, "weights.shares="+strings.ReplaceAll(shares, " ", ", ")))
	a, b := outcomeOf(t, oracle), outcomeOf(t, dir)
	if !slices.EqualFunc(a.Metrics, b.Metrics, func(x, y store.Metrics) bool { return fmt.Sprint(x) == fmt.Sprint(y) }) {
		t.Errorf("metrics differ:\n%v\n%v", a.Metrics, b.Metrics)
	}
	if got, want := fmt.Sprint(result.Confusion), fmt.Sprint(known.Confusion); got != want {
		t.Errorf("confusion %v, of the oracle %v", got, want)
	}
	about, err := savedmodel.ReadMetadata(dir.String())
	if err != nil || !floats.EqualApprox(about.Shares.Target, known.LabelDistributions.Target, 1e-12) {
		t.Errorf("%v: the model corrects for %v", err, about.Shares.Target)
	}
	text, _ := gaussians(t)
	must.Refuse(Run(t.Context(), resolveText(t, text, "full", "iwdan", 1, "weights.shares=[1, 2, 3, 4, 5, 6, 7, 8]"), begin(t, resolveText(t, text, "full", "iwdan", 1)), Options{}))(t, "weights.shares: 8 shares of")
}

func metricsOf(t testing.TB, dir store.Dir) []store.Metrics {
	t.Helper()
	return must.Have(dir.ReadMetrics())(t)
}

func opened(t testing.TB, run config.Resolved) *data {
	t.Helper()
	return must.Have(openData(run))(t)
}

package intervals

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/clusters"
	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/internal/sampletest"
	"iwda/weightest/internal/weighttest"
)

func estimatorOf(t testing.TB, name string) weightest.Estimator {
	t.Helper()
	return must.Have(weightest.NewEstimator(name))(t)
}

func TestBootstrapIsTheSameOnAnyProcessors(t *testing.T) {
	s := sampletest.Gaussian(t, gaussians.Rising(4), 300, 250, 2)
	for _, name := range []string{"bbse-soft", "mlls"} {
		var results []Uncertainty
		for _, processors := range []int{1, 3, 8} {
			before := runtime.GOMAXPROCS(processors)
			u, err := Bootstrap(s, estimatorOf(t, name), BootstrapSettings{Replicas: 50, Seed: 3})
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, u)
		}
		if !reflect.DeepEqual(results[0], results[1]) || !reflect.DeepEqual(results[0], results[2]) {
			t.Errorf("%s: %v", name, results)
		}
	}
}

// The golden percentiles are the means over ten bootstraps of 1000 resamples with the
// rows' number fixed; their standard deviation is that of one bootstrap.
func TestBootstrapGolden(t *testing.T) {
	const count = 1500
	for _, name := range []string{"k3", "k10"} {
		g := weighttest.Golden(t, name)
		s := sampletest.Of(g.T)(g.Rows())
		full := must.Have(s.Problem())(t)
		counted := func(of domain, rows, replica int) []int {
			keys, counts := make([]uint64, rows), make([]int, rows)
			rowKeys(keys, 1, of, numbers(rows, nil))
			poissonCounts(counts, keys, replica)
			return counts
		}
		_, labels := s.Source()
		draws := make(map[string][][]float64)
		for i := range count {
			counts := counted(targetDomain, len(s.Target())/s.Classes(), i)
			p := must.Have(s.Counted(counted(sourceDomain, len(labels), i), counts).Problem())(t)
			draws["pcc"] = append(draws["pcc"], p.TargetPredictions)
			estimate := must.Have(weightest.BBSE{}.Estimate(p))(t)
			draws["bbse-soft-raw"] = append(draws["bbse-soft-raw"], estimate.Raw)
			if i < 600 {
				p.Confusion = full.Confusion
				p.Rows = &weightest.Rows{Probabilities: s.Target(), Counts: counts}
				estimate := must.Have(weightest.MLLS{}.Estimate(p))(t)
				draws["mlls-target-only"] = append(draws["mlls-target-only"], estimate.Weights)
			}
		}
		for estimator, values := range draws {
			bounds := drawnIntervals(values, 0.95, math.Inf(1), normalReach(0.95), asDrawn).Each
			low, high := g.Get("bootstrap/"+estimator+"/low"), g.Get("bootstrap/"+estimator+"/high")
			lowDeviation, highDeviation := g.Get("bootstrap/"+estimator+"/low_sd"), g.Get("bootstrap/"+estimator+"/high_sd")
			for y, bound := range bounds {
				if math.Abs(bound.Low-low[y]) > 5*lowDeviation[y] || math.Abs(bound.High-high[y]) > 5*highDeviation[y] {
					t.Errorf("%s, %s, class %d: %v, want %v to %v", name, estimator, y, bound, low[y], high[y])
				}
			}
		}
	}
}

func TestBootstrapWithoutEstimates(t *testing.T) {
	// One source row of class 1: 37% of the resamples lack it.
	s := sampletest.Of(t)(2, []float64{0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.1, 0.9}, []int{0, 0, 0, 1}, []float64{0.9, 0.1, 0.3, 0.7, 0.8, 0.2})
	u := must.Have(Bootstrap(s, estimatorOf(t, "bbse-soft"), BootstrapSettings{Replicas: 200}))(t)
	if !strings.Contains(u.Warning, "of 200 resamples have no estimate") {
		t.Errorf("warning %q", u.Warning)
	}
	requireIntervals(t, u)
	absent := sampletest.Of(t)(3, []float64{0.9, 0.1, 0, 0.1, 0.9, 0}, []int{0, 1}, []float64{0.2, 0.5, 0.3})
	if _, err := Bootstrap(absent, estimatorOf(t, "bbse-soft"), BootstrapSettings{}); !errors.Is(err, weightest.ErrMissingClass) {
		t.Errorf("a class without source rows: %v", err)
	}
}

func TestBootstrapHardCases(t *testing.T) {
	one := sampletest.Of(t)(1, []float64{1, 1}, []int{0, 0}, []float64{1, 1, 1})
	samples := map[string]*weightest.Sample{"one class": one}
	for _, name := range []string{"absent", "never", "tiny", "twins"} {
		samples[name] = sampletest.Of(t)(weighttest.Golden(t, name).Rows())
	}
	for name, s := range samples {
		for _, estimator := range []string{"bbse-hard", "bbse-soft", "mlls"} {
			u, err := Bootstrap(s, estimatorOf(t, estimator), BootstrapSettings{Replicas: 40})
			if err != nil {
				t.Errorf("%s, %s: %v", name, estimator, err)
				continue
			}
			requireIntervals(t, u)
			if name == "one class" && (u.Shares.Joint[0] != Interval{1, 1} || u.Weights.Joint[0] != Interval{1, 1}) {
				t.Errorf("%s, %s: %v", name, estimator, u)
			}
		}
	}
}

// requireIntervals fails where a bound is NaN, the bounds are not in order, a share is not
// between 0 and 1, or a joint interval does not contain that of its class.
func requireIntervals(t *testing.T, u Uncertainty) {
	t.Helper()
	for name, intervals := range map[string]Intervals{"share": u.Shares, "weight": u.Weights} {
		for y, each := range intervals.Each {
			joint := intervals.Joint[y]
			if !(0 <= joint.Low && joint.Low <= each.Low && each.Low <= each.High && each.High <= joint.High) ||
				name == "share" && joint.High > 1 {
				t.Errorf("%s of class %d: %v, jointly %v", name, y, each, joint)
			}
		}
	}
}

// A few hundred draws of nominal 95% intervals; research/bench/coverage does it with many.
func TestIntervalsCover(t *testing.T) {
	const k, samples = 3, 80
	problem := gaussians.Rising(k)
	held := make(map[string]float64)
	for seed := range uint64(samples) {
		s := sampletest.Gaussian(t, problem, 250, 250, 1000+seed)
		bounds := make(map[string]Uncertainty)
		for _, name := range []string{"bbse-hard", "bbse-soft", "mlls"} {
			u := must.Have(Bootstrap(s, estimatorOf(t, name), BootstrapSettings{Replicas: 250, Seed: seed}))(t)
			bounds[name] = u
		}
		for name, u := range bounds {
			joint := 1.0
			for y, q := range problem.Target {
				if e := u.Shares.Each[y]; e.Low <= q && q <= e.High {
					held[name+" share"] += 1. / k / samples
				}
				if e, w := u.Weights.Each[y], q/problem.Source[y]; e.Low <= w && w <= e.High {
					held[name+" weight"] += 1. / k / samples
				}
				if e := u.Shares.Joint[y]; q < e.Low || q > e.High {
					joint = 0
				}
			}
			held[name+" jointly"] += joint / samples
		}
	}
	if len(held) != 9 {
		t.Fatalf("covered: %v", held)
	}
	for name, share := range held {
		// The standard error of a joint interval's share is 2.4%, that of three classes'
		// less.
		if share < 0.88 {
			t.Errorf("%s: %v", name, share)
		}
	}
}

// The bootstrap sees only how an estimate varies, not that others are as good.
func TestIntervalsOfAmbiguousShares(t *testing.T) {
	s := altered(t, 5, 4000, 300, func(row []float64) {
		mean := (row[0] + row[1]) / 2
		row[0], row[1] = mean, mean
	})
	u := must.Have(Bootstrap(s, weightest.MLLS{}, BootstrapSettings{Replicas: 40}))(t)
	if !strings.Contains(u.Warning, "other class shares explain the predictions as well") {
		t.Errorf("warning %q", u.Warning)
	}
	for j := range 5 {
		for _, share := range []Interval{u.Shares.Each[j], u.Shares.Joint[j]} {
			if open := share == (Interval{0, 1}); open != (j < 2) {
				t.Errorf("class %d: share %v", j, share)
			}
		}
		if weight := u.Weights.Each[j]; j < 2 && (weight.Low != 0 || math.Abs(weight.High-5) > 0.5) {
			t.Errorf("class %d: weight %v, its source share is near a fifth", j, weight)
		}
	}
	constant := altered(t, 3, 90, 60, func(row []float64) {
		for i := range row {
			row[i] = 1 / float64(len(row))
		}
	})
	u = must.Have(Bootstrap(constant, weightest.BBSE{}, BootstrapSettings{Replicas: 30, Seed: 1}))(t)
	for j, share := range u.Shares.Each {
		if share.Low > 0.01 || share.High < 0.99 {
			t.Errorf("a constant classifier: class %d has share %v", j, share)
		}
	}
}

// altered returns a sample of k classes with every row changed.
func altered(t *testing.T, k, n, m int, change func(row []float64)) *weightest.Sample {
	s := sampletest.Gaussian(t, gaussians.Rising(k), n, m, 1)
	source, labels := s.Source()
	for _, rows := range [][]float64{source, s.Target()} {
		for row := range slices.Chunk(rows, k) {
			change(row)
		}
	}
	return sampletest.Of(t)(k, source, labels, s.Target())
}

// pseudocounter is an estimator that keeps the pseudocounts of resamples.
type pseudocounter struct {
	weightest.BBSE
	mutex sync.Mutex
	all   []float64
}

func (e *pseudocounter) Estimate(p weightest.Problem) (weightest.Estimate, error) {
	e.mutex.Lock()
	if p.Rows.Counts != nil { // a resample, not the sample itself
		e.all = append(e.all, p.Rows.Pseudocounts...)
	}
	e.mutex.Unlock()
	return e.BBSE.Estimate(p)
}

// The rows that an estimator counts beside the target's are resampled as those, whether anything
// is fitted to the resamples or not.
func TestBootstrapDrawsPseudocounts(t *testing.T) {
	const k, replicas = 3, 400
	r := rand.New(rand.NewPCG(60, 1))
	source, labels := weighttest.ShiftedLogits(r, 300, []float64{0.3, 0.3, 0.4})
	target, _ := weighttest.ShiftedLogits(r, 200, []float64{0.2, 0.6, 0.2})
	s := sampletest.Of(t)(k, weighttest.Softmax(source, k), labels, weighttest.Softmax(target, k))
	var drawn [][]float64
	for _, resample := range []func(source, target []int, random *rand.Rand) (weightest.Problem, error){
		nil,
		func(_, target []int, _ *rand.Rand) (weightest.Problem, error) {
			p, err := s.Problem()
			p.Rows.Counts = target
			return p, err
		},
	} {
		var e pseudocounter
		must.Have(Bootstrap(s, &e, BootstrapSettings{Replicas: replicas, Seed: 5, Resample: resample}))(t)
		slices.Sort(e.all) // replicas come in any order
		drawn = append(drawn, e.all)
	}
	if !slices.Equal(drawn[0], drawn[1]) {
		t.Error("the pseudocounts depend on whether anything is fitted")
	}
	var mean, square float64
	for _, count := range drawn[0] {
		mean += count / (k * replicas)
		square += count * count / (k * replicas)
	}
	if len(drawn[0]) != k*replicas || drawn[0][0] == 0 || math.Abs(mean-1) > 0.15 || math.Abs(square-mean*mean-1) > 0.25 {
		t.Errorf("%d pseudocounts of mean %v and variance %v; those of Exp(1) are 1, and none is 0", len(drawn[0]), mean, square-mean*mean)
	}
}

// Counts of a classifier that is sure and right have the intervals of Clopper and Pearson, however many other
// classes there are, but for estimates outside of these.
func TestIntervalsOfCounts(t *testing.T) {
	for _, k := range []int{2, 60} {
		const perClass, m = 40, 30
		rows := func(labels []int) []float64 {
			probabilities := make([]float64, len(labels)*k)
			for i, y := range labels {
				for j := range k {
					probabilities[i*k+j] = 1e-9
				}
				probabilities[i*k+y] = 1 - 1e-9*float64(k-1)
			}
			return probabilities
		}
		labels := make([]int, k*perClass)
		for i := range labels {
			labels[i] = i % k
		}
		for _, counted := range []int{0, 3, 15, 27, 30} { // rows of class 0, the others of class 1
			target := make([]int, m)
			for i := range target[counted:] {
				target[counted+i] = 1
			}
			s := sampletest.Of(t)(k, rows(labels), labels, rows(target))
			u := must.Have(Bootstrap(s, weightest.MLLS{Pseudocount: weightest.Laplace}, BootstrapSettings{Seed: 1}))(t)
			right := make([]float64, m)
			for i := range right[:counted] {
				right[i] = 1
			}
			low, high := clusters.Exact(right, nil, 0.95)
			low = min(low, float64(counted+1)/float64(m+k)) // the estimate
			if got := u.Shares.Each[0]; math.Abs(got.Low-low) > 0.03 || math.Abs(got.High-high) > 0.03 {
				t.Errorf("k = %d, %d of %d rows: %v, want %.3f to %.3f", k, counted, m, got, low, high)
			}
			requireIntervals(t, u)
		}
	}
}

// Of two classes the share of one ends where that of the other begins, however weak the classifier and rare a class is.
func TestIntervalsOfTwoClasses(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 4))
		source, labels := weighttest.ShiftedLogits(r, 200, []float64{0.5, 0.5})
		target, _ := weighttest.ShiftedLogits(r, 100, []float64{1 - 0.02*float64(seed), 0.02 * float64(seed)})
		floats.Scale(0.3, source)
		floats.Scale(0.3, target)
		s := sampletest.Of(t)(2, weighttest.Softmax(source, 2), labels, weighttest.Softmax(target, 2))
		u := must.Have(Bootstrap(s, weightest.MLLS{Pseudocount: weightest.Laplace}, BootstrapSettings{Seed: seed}))(t)
		a, b := u.Shares.Each[0], u.Shares.Each[1]
		if math.Abs(a.Low+b.High-1) > 1e-3 || math.Abs(b.Low+a.High-1) > 1e-3 { // the classes have other numbers of rows
			t.Errorf("seed %d: %v and %v", seed, a, b)
		}
	}
}

// A level that is none, as a percentage, is an error.
func TestBootstrapSettings(t *testing.T) {
	s := sampletest.Gaussian(t, gaussians.Rising(3), 60, 50, 2)
	for _, level := range []float64{95, 1, math.NaN()} {
		if _, err := Bootstrap(s, weightest.MLLS{}, BootstrapSettings{Replicas: 20, Level: level}); err == nil || !strings.Contains(err.Error(), "level") {
			t.Errorf("level %v: error %v", level, err)
		}
	}
}

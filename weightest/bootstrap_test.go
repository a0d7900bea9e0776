package weightest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"iwda/internal/gaussians"
)

// gaussianProblem is a source with equal shares and a target whose last class is four
// times as frequent as its first.
func gaussianProblem(k int) gaussians.Problem {
	var p gaussians.Problem
	for y := range k {
		p.Separation = append(p.Separation, 2+1.5*float64(y)/float64(k))
		p.Source = append(p.Source, 1/float64(k))
		p.Target = append(p.Target, (1+3*float64(y)/float64(k-1))/(2.5*float64(k)))
	}
	return p
}

func gaussianSample(t testing.TB, p gaussians.Problem, n, m int, seed uint64) *Sample {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	s := NewSample(len(p.Source))
	if err := s.AddSource(p.SourceRows(n, random)); err != nil {
		t.Fatal(err)
	}
	if err := s.AddTarget(p.TargetRows(m, random)); err != nil {
		t.Fatal(err)
	}
	return s
}

func estimatorOf(t testing.TB, name string) Estimator {
	t.Helper()
	e, err := NewEstimator(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestResamplesArePoisson(t *testing.T) {
	const rows, replicas = 2000, 100
	keys, counts := make([]uint64, rows), make([]int, rows)
	rowKeys(keys, 7, sourceDomain, 0)
	var seen [8]float64
	for replica := range replicas {
		poissonCounts(counts, keys, replica)
		for _, c := range counts {
			seen[min(c, len(seen)-1)]++
		}
	}
	var statistic float64
	probability, left := 1/math.E, 1.0
	for c, observed := range seen {
		if c == len(seen)-1 {
			probability = left
		}
		expected := probability * rows * replicas
		statistic += (observed - expected) * (observed - expected) / expected
		left -= probability
		probability /= float64(c + 1)
	}
	if p := chiSquaredTail(statistic, len(seen)-1); p < 1e-3 {
		t.Errorf("counts %v are not Poisson: p = %v", seen, p)
	}
}

// What a table of 256 leaves open is looked up: both ways agree at the bounds.
func TestPoissonBounds(t *testing.T) {
	tail := 1.0
	probability := 1 / math.E
	for c, bound := range poissonBounds[:8] {
		tail -= probability
		closeTo(t, fmt.Sprintf("P(N > %d)", c), float64(-bound)/0x1p64, tail, 1e-9)
		probability /= float64(c + 1)
	}
	if !slices.IsSorted(poissonBounds[:]) {
		t.Errorf("bounds %v are not sorted", poissonBounds)
	}
	for i, count := range poissonTable {
		first := uint64(i) << 56
		want := 0
		for want < len(poissonBounds) && first >= poissonBounds[want] {
			want++
		}
		if count >= 0 && int(count) != want {
			t.Errorf("table[%d] = %d, want %d", i, count, want)
		}
	}
}

// Sums of shards on disk stay those of later versions.
func TestResamplesStayAsTheyAre(t *testing.T) {
	keys, counts := make([]uint64, 12), make([]int, 12)
	rowKeys(keys, 1, targetDomain, 1000)
	poissonCounts(counts, keys, 3)
	if want := []int{0, 1, 0, 3, 0, 0, 0, 1, 1, 2, 5, 2}; !slices.Equal(counts, want) {
		t.Errorf("counts %v, want %v", counts, want)
	}
}

func TestResamplesAreIndependent(t *testing.T) {
	const rows = 20000
	draw := func(seed uint64, of domain, first uint64, replica int) []float64 {
		keys, counts := make([]uint64, rows), make([]int, rows)
		rowKeys(keys, seed, of, first)
		poissonCounts(counts, keys, replica)
		values := make([]float64, rows)
		for i, c := range counts {
			values[i] = float64(c)
		}
		return values
	}
	base := draw(1, sourceDomain, 0, 0)
	for name, other := range map[string][]float64{
		"seed":    draw(2, sourceDomain, 0, 0),
		"domain":  draw(1, targetDomain, 0, 0),
		"row":     draw(1, sourceDomain, 1, 0),
		"replica": draw(1, sourceDomain, 0, 1),
	} {
		if r := stat.Correlation(base, other, nil); math.Abs(r) > 4/math.Sqrt(rows) {
			t.Errorf("another %s has correlation %v", name, r)
		}
	}
	if !slices.Equal(base[5:], draw(1, sourceDomain, 5, 0)[:rows-5]) {
		t.Error("a row's counts depend on the rows before it")
	}
}

func TestReplicasMergeInAnyOrder(t *testing.T) {
	const classes, n, m, count = 3, 1100, 700, 20
	s := gaussianSample(t, gaussianProblem(classes), n, m, 1)
	whole := NewReplicas(classes, count, 5)
	if err := errors.Join(whole.AddSource(s.source, s.labels, 0), whole.AddTarget(s.target, 0)); err != nil {
		t.Fatal(err)
	}
	merged := NewReplicas(classes, count, 5)
	for _, part := range [][2]int{{600, 1100}, {0, 1}, {1, 600}} {
		from, to := part[0], part[1]
		shard := NewReplicas(classes, count, 5)
		if err := shard.AddSource(s.source[from*classes:to*classes], s.labels[from:to], uint64(from)); err != nil {
			t.Fatal(err)
		}
		if to <= m {
			if err := shard.AddTarget(s.target[from*classes:to*classes], uint64(from)); err != nil {
				t.Fatal(err)
			}
		} else if err := shard.AddTarget(s.target[from*classes:], uint64(from)); err != nil {
			t.Fatal(err)
		}
		if err := merged.Merge(shard); err != nil {
			t.Fatal(err)
		}
	}
	for i := range count {
		if !reflect.DeepEqual(whole.Sums(i).State(), merged.Sums(i).State()) {
			t.Fatalf("replica %d differs", i)
		}
		keys, counts := make([]uint64, n), make([]int, n)
		rowKeys(keys, 5, sourceDomain, 0)
		poissonCounts(counts, keys, i)
		direct := NewSums(classes)
		if err := direct.AddSource(s.source, s.labels, counts); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(direct.State().SoftJoint, whole.Sums(i).State().SoftJoint) {
			t.Fatalf("replica %d is not that of its counts", i)
		}
	}
	if whole.Sums(0).SourceRows() == whole.Sums(1).SourceRows() && whole.Sums(0).SourceRows() == n {
		t.Error("the replicas are not resampled")
	}
	for _, other := range []*Replicas{NewReplicas(classes, count, 6), NewReplicas(classes, count+1, 5), NewReplicas(classes+1, count, 5)} {
		if err := whole.Merge(other); err == nil {
			t.Error("replicas of another kind were merged")
		}
	}
}

func TestReplicasFromTheirState(t *testing.T) {
	s := gaussianSample(t, gaussianProblem(3), 80, 60, 1)
	saved := NewReplicas(3, 60, 9)
	if err := saved.AddSource(s.source, s.labels, 0); err != nil {
		t.Fatal(err)
	}
	restored, err := RestoreReplicas(saved.State())
	if err != nil {
		t.Fatal(err)
	}
	if err := restored.AddTarget(s.target, 0); err != nil {
		t.Fatal(err)
	}
	got, err := restored.Intervals(estimatorOf(t, "bbse-soft"), 0.95)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Bootstrap(s, estimatorOf(t, "bbse-soft"), BootstrapSettings{Replicas: 60, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if saved.Sums(0).TargetRows() != 0 {
		t.Error("the state shares memory with what it was restored to")
	}
	other := NewReplicas(2, 1, 9).State().Sums[0]
	broken := saved.State()
	broken.Sums[1].HardTarget = nil
	for name, state := range map[string]ReplicasState{
		"no replica":            {},
		"a replica that is not": broken,
		"two sizes":             {Sums: []SumsState{saved.State().Sums[0], other}},
	} {
		if _, err := RestoreReplicas(state); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := restored.Intervals(estimatorOf(t, "mlls"), 0.95); !errors.Is(err, ErrInvalidProblem) {
		t.Errorf("an estimator that reads rows: %v", err)
	}
}

func TestBootstrapIsTheSameOnAnyProcessors(t *testing.T) {
	s := gaussianSample(t, gaussianProblem(4), 300, 250, 2)
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
		g := shiftProblem{t, labelShiftFile(t), name}
		s := g.sample()
		replicas := NewReplicas(s.classes, count, 1)
		if err := errors.Join(replicas.AddSource(s.source, s.labels, 0), replicas.AddTarget(s.target, 0)); err != nil {
			t.Fatal(err)
		}
		full := s.Sums(nil, nil).mustProblem(t)
		targetOnly, err := onResamples(estimatorOf(t, "mlls"), s)
		if err != nil {
			t.Fatal(err)
		}
		keys, counts := make([]uint64, len(s.target)/s.classes), make([]int, len(s.target)/s.classes)
		rowKeys(keys, 1, targetDomain, 0)
		draws := make(map[string][][]float64)
		for i := range count {
			p, err := replicas.Sums(i).Problem()
			if err != nil {
				t.Fatal(err)
			}
			draws["pcc"] = append(draws["pcc"], p.TargetPredictions)
			solution, err := BBSE(p, BBSESettings{})
			if err != nil {
				t.Fatal(err)
			}
			draws["bbse-soft-raw"] = append(draws["bbse-soft-raw"], solution.Raw)
			if i < 600 {
				poissonCounts(counts, keys, i)
				p.Confusion = full.Confusion
				p.Rows = &Rows{Probabilities: s.target, Counts: slices.Clone(counts)}
				estimate, err := targetOnly.Estimate(p)
				if err != nil {
					t.Fatal(err)
				}
				draws["mlls-target-only"] = append(draws["mlls-target-only"], estimate.Weights)
			}
		}
		for estimator, values := range draws {
			bounds := drawnIntervals(values, 0.95, math.Inf(1), asDrawn).Each
			low, high := g.get("bootstrap/"+estimator+"/low"), g.get("bootstrap/"+estimator+"/high")
			lowDeviation, highDeviation := g.get("bootstrap/"+estimator+"/low_sd"), g.get("bootstrap/"+estimator+"/high_sd")
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
	s := NewSample(2)
	addRows(t, s, []float64{0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.1, 0.9}, []int{0, 0, 0, 1}, []float64{0.9, 0.1, 0.3, 0.7, 0.8, 0.2})
	u, err := Bootstrap(s, estimatorOf(t, "bbse-soft"), BootstrapSettings{Replicas: 200})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(u.Warning, "of 200 resamples have no estimate") {
		t.Errorf("warning %q", u.Warning)
	}
	requireIntervals(t, u)
	absent := NewSample(3)
	addRows(t, absent, []float64{0.9, 0.1, 0, 0.1, 0.9, 0}, []int{0, 1}, []float64{0.2, 0.5, 0.3})
	if _, err := Bootstrap(absent, estimatorOf(t, "bbse-soft"), BootstrapSettings{}); !errors.Is(err, ErrMissingClass) {
		t.Errorf("a class without source rows: %v", err)
	}
}

func TestBootstrapHardCases(t *testing.T) {
	one := NewSample(1)
	addRows(t, one, []float64{1, 1}, []int{0, 0}, []float64{1, 1, 1})
	samples := map[string]*Sample{"one class": one}
	for _, name := range []string{"absent", "never", "tiny", "twins"} {
		samples[name] = shiftProblem{t, labelShiftFile(t), name}.sample()
	}
	for name, s := range samples {
		for _, estimator := range []string{"bbse-hard", "bbse-soft", "rlls-soft", "acc", "pcc", "mlls"} {
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

// TestResampledMLLSReachesTheMaximum compares with MLLS itself on the resamples of a sample
// whose own curvature leads to them, and of some where most need another way.
func TestResampledMLLSReachesTheMaximum(t *testing.T) {
	for name, c := range map[string]struct {
		sample *Sample
		step   bool // leads to the optimum
	}{
		"many rows":       {gaussianSample(t, gaussianProblem(5), 4000, 3000, 4), true},
		"few rows":        {gaussianSample(t, gaussianProblem(5), 100, 50, 4), false},
		"an absent class": {shiftProblem{t, labelShiftFile(t), "absent"}.sample(), false},
	} {
		fast, err := onResamples(mlls{}, c.sample)
		if err != nil {
			t.Fatal(err)
		}
		k := c.sample.classes
		sourceKeys, targetKeys := make([]uint64, len(c.sample.labels)), make([]uint64, len(c.sample.target)/k)
		rowKeys(sourceKeys, 8, sourceDomain, 0)
		rowKeys(targetKeys, 8, targetDomain, 0)
		sourceCounts, targetCounts := make([]int, len(sourceKeys)), make([]int, len(targetKeys))
		for replica := range 30 {
			poissonCounts(sourceCounts, sourceKeys, replica)
			poissonCounts(targetCounts, targetKeys, replica)
			p, err := c.sample.Problem(sourceCounts, targetCounts)
			if err != nil {
				t.Fatal(err)
			}
			want, err := mlls{}.Estimate(p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := fast.Estimate(p)
			if err != nil {
				t.Fatal(err)
			}
			if !floats.EqualApprox(got.Weights, want.Weights, 1e-5) || !floats.EqualApprox(got.TargetDistribution, want.TargetDistribution, 1e-5) {
				t.Errorf("%s, replica %d: %v, want %v", name, replica, got, want)
			}
			prior := meanPredictions(p)
			floats.Scale(1/floats.Sum(prior), prior)
			r := fast.(*resampledMLLS)
			if s, found := r.step(r.resampled(targetCounts, prior)); c.step && !found {
				t.Errorf("%s, replica %d: the steps ended at a violation of %.2g", name, replica, s.violation)
			}
		}
	}
}

func (s *Sums) mustProblem(t *testing.T) Problem {
	t.Helper()
	p, err := s.Problem()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func BenchmarkBootstrap(b *testing.B) {
	s := gaussianSample(b, gaussianProblem(10), 10000, 10000, 1)
	for _, name := range []string{"bbse-hard", "bbse-soft", "rlls-soft", "mlls"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Bootstrap(s, estimatorOf(b, name), BootstrapSettings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

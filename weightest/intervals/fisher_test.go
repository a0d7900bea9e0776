package intervals

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"iwda/internal/gaussians"
	"iwda/weightest"
)

func maximumOf(t *testing.T, s *weightest.Sample) weightest.MLLSSolution {
	t.Helper()
	p, err := s.Problem(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	solution, err := weightest.MLLS{}.Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	return solution
}

// ∂q/∂p against the maxima for a prior a little larger and smaller.
func TestPriorJacobian(t *testing.T) {
	const k, h = 4, 1e-5
	s := gaussianSample(t, gaussians.Rising(k), 400, 300, 1)
	solution := maximumOf(t, s)
	inverse, regular := tangentInverse(solution.Information)
	if !regular {
		t.Fatal("the information is singular")
	}
	jacobian := priorJacobian(solution, inverse)
	p, err := s.Problem(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for y := range k {
		var shares [2][]float64
		for side, step := range []float64{h, -h} {
			// The prior keeps its sum: what y gains, class y+1 loses.
			prior := append([]float64(nil), solution.Prior...)
			prior[y] += step
			prior[(y+1)%k] -= step
			moved, err := weightest.MLLS{Prior: prior}.Solve(p)
			if err != nil {
				t.Fatal(err)
			}
			shares[side] = moved.TargetDistribution
		}
		for z := range k {
			want := (shares[0][z] - shares[1][z]) / (2 * h)
			if got := jacobian.At(z, y) - jacobian.At(z, (y+1)%k); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("∂q_%d/∂p_%d: %v, want %v", z, y, got, want)
			}
		}
	}
}

func TestTangentInverse(t *testing.T) {
	h := mat.NewSymDense(3, []float64{4, 1, 0.5, 1, 3, 0.2, 0.5, 0.2, 2})
	got, regular := tangentInverse(h)
	// In the basis (1, -1, 0), (0, 1, -1) of the tangent.
	basis := mat.NewDense(3, 2, []float64{1, 0, -1, 1, 0, -1})
	var product, inner, inverse, want mat.Dense
	product.Mul(h, basis)
	inner.Mul(basis.T(), &product)
	if err := inverse.Inverse(&inner); err != nil {
		t.Fatal(err)
	}
	product.Mul(basis, &inverse)
	want.Mul(&product, basis.T())
	if !regular || !mat.EqualApprox(got, &want, 1e-12) {
		t.Errorf("got %v, want %v", mat.Formatted(got), mat.Formatted(&want))
	}
}

// The standard errors are those of estimates on many samples, to the precision of so many
// and of large samples.
func TestFisherStandardErrors(t *testing.T) {
	const k, samples = 3, 150
	problem := gaussians.Rising(k)
	estimates := [2][][]float64{make([][]float64, k), make([][]float64, k)}
	var reported [2][k]float64
	for seed := range uint64(samples) {
		s := gaussianSample(t, problem, 300, 800, seed)
		solution := maximumOf(t, s)
		u := Fisher(s, solution, 0.95)
		for i, of := range []struct {
			values    []float64
			intervals Intervals
		}{{solution.TargetDistribution, u.Shares}, {solution.Weights, u.Weights}} {
			for y, v := range of.values {
				estimates[i][y] = append(estimates[i][y], v)
				reported[i][y] += (of.intervals.Each[y].High - of.intervals.Each[y].Low) / (2 * 1.959964) / samples
			}
		}
	}
	for i, name := range []string{"share", "weight"} {
		for y, values := range estimates[i] {
			if spread := stat.StdDev(values, nil); math.Abs(reported[i][y]/spread-1) > 0.2 {
				t.Errorf("%s of class %d: standard error %v, spread %v", name, y, reported[i][y], spread)
			}
		}
	}
}

func TestNormalInterval(t *testing.T) {
	for _, test := range []struct {
		centre, deviation, upper float64
		want                     Interval
	}{
		{0, 0, 1, Interval{0, 0}},
		{0.01, 0.02, 1, Interval{0, 0.05}},
		{-0.1, 0.02, 1, Interval{0, 0}},
		{0.99, 0.02, 1, Interval{0.95, 1}},
		{0.5, 0.05, 1, Interval{1 / (1 + math.Exp(0.4)), 1 / (1 + math.Exp(-0.4))}},
		{2, 0.5, math.Inf(1), Interval{2 * math.Exp(-0.5), 2 * math.Exp(0.5)}},
		{0.3, 0.5, math.Inf(1), Interval{0, 1.3}},
		{1, 0, 1, Interval{1, 1}},
	} {
		got := normalInterval(test.centre, test.deviation, 2, test.upper)
		if math.Abs(got.Low-test.want.Low) > 1e-12 || math.Abs(got.High-test.want.High) > 1e-12 {
			t.Errorf("%v ± 2·%v up to %v: %v, want %v", test.centre, test.deviation, test.upper, got, test.want)
		}
	}
}

// For independent numbers the joint quantile is that of the largest of k.
func TestJointQuantile(t *testing.T) {
	independent := mat.NewSymDense(5, nil)
	for y := range 5 {
		independent.SetSym(y, y, float64(y+1))
	}
	// (2Φ(x)-1)⁵ = 0.95 at x = 2.569.
	if got := jointQuantile(independent, 0.95); math.Abs(got-2.569) > 0.07 {
		t.Errorf("five independent numbers: %v, want 2.569", got)
	}
	same := mat.NewSymDense(3, []float64{4, 4, 4, 4, 4, 4, 4, 4, 4})
	if got := jointQuantile(same, 0.95); math.Abs(got-1.96) > 0.07 {
		t.Errorf("one number three times: %v, want 1.96", got)
	}
}

func TestFisherHardCases(t *testing.T) {
	problem := gaussians.Rising(3)
	problem.Target = []float64{0.7, 0.3, 0}
	one, absent, twins := weightest.NewSample(1), gaussianSample(t, problem, 200, 200, 1), weightest.NewSample(3)
	addRows(t, one, []float64{1, 1}, []int{0, 0}, []float64{1, 1, 1})
	for range 20 {
		addRows(t, twins, []float64{0.8, 0.1, 0.1, 0.1, 0.45, 0.45, 0.1, 0.45, 0.45}, []int{0, 1, 2}, []float64{0.7, 0.15, 0.15, 0.2, 0.4, 0.4})
	}
	for name, s := range map[string]*weightest.Sample{"one class": one, "absent in the target": absent, "twins": twins} {
		u := Fisher(s, maximumOf(t, s), 0.95)
		requireIntervals(t, u)
		switch name {
		case "one class":
			if u.Shares.Each[0] != (Interval{1, 1}) {
				t.Errorf("%s: %v", name, u.Shares.Each)
			}
		case "absent in the target":
			if e := u.Shares.Each[2]; e.Low > 0.001 || e.High > 0.1 || u.Warning != "" {
				t.Errorf("%s: %v, warning %q", name, u.Shares.Each, u.Warning)
			}
		case "twins":
			if u.Warning == "" || u.Shares.Each[1] != (Interval{0, 1}) || u.Shares.Each[0].Low < 0.1 {
				t.Errorf("%s: %v, warning %q", name, u.Shares.Each, u.Warning)
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
		s := gaussianSample(t, problem, 250, 250, 1000+seed)
		posterior, err := SamplePosterior(s.Sums(nil, nil), PosteriorSettings{Seed: seed, EffectiveDraws: 400})
		if err != nil {
			t.Fatal(err)
		}
		bounds := map[string]Uncertainty{"posterior": posterior.Intervals(0.95), "fisher": Fisher(s, maximumOf(t, s), 0.95)}
		for _, name := range []string{"bbse-hard", "bbse-soft", "mlls"} {
			u, err := Bootstrap(s, estimatorOf(t, name), BootstrapSettings{Replicas: 250, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
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
	if len(held) != 15 {
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

// Where the likelihood's quadratic model says little of a class at the bound, intervals
// still include the estimates.
func TestFisherIncludeEstimates(t *testing.T) {
	s := altered(t, 4, 400, 400, func(row []float64) {
		row[3] = 1e-9
		floats.Scale(1/floats.Sum(row), row)
	})
	solution, err := weightest.MLLS{}.Solve(problem(t, s))
	if err != nil {
		t.Fatal(err)
	}
	u := Fisher(s, solution, 0.95)
	for j, q := range solution.TargetDistribution {
		if i := u.Shares.Each[j]; !(i.Low <= q && q <= i.High) {
			t.Errorf("class %d: share %v, interval %v", j, q, i)
		}
		if i, w := u.Weights.Joint[j], solution.Weights[j]; !(i.Low <= w && w <= i.High) {
			t.Errorf("class %d: weight %v, interval %v", j, w, i)
		}
	}
}

package shifttest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/internal/sampletest"
	"iwda/weightest/internal/weighttest"
)

// J is χ² in large samples: its mean is the degrees of freedom.
func TestLabelShiftStatistic(t *testing.T) {
	const samples = 60
	var mean float64
	var freedom int
	for seed := range uint64(samples) {
		l := labelShift(t, sampletest.Gaussian(t, gaussians.Rising(3), 600, 800, seed), LabelShiftSettings{})
		if l.Bins != 9 || l.DegreesOfFreedom != 6 {
			t.Fatalf("%+v", l)
		}
		// Of 50 resamples, one in five standard errors.
		if limit := chiSquaredTail(l.Statistic, 6); math.Abs(l.P-limit) > 0.05+5*math.Sqrt(limit*(1-limit)/50) {
			t.Errorf("p = %v, by χ² %v", l.P, limit)
		}
		mean += l.Statistic / samples
		freedom = l.DegreesOfFreedom
	}
	// The standard deviation of the mean is √(2·6/60) = 0.45.
	if math.Abs(mean-float64(freedom)) > 1.8 {
		t.Errorf("mean J %v, want about %d", mean, freedom)
	}
}

func TestLabelShiftTestRejects(t *testing.T) {
	rotated := gaussians.Rising(4)
	rotated.Rotation = 0.6
	for size, fewest := range map[int]float64{150: 4, 1500: 13} {
		var p [2]float64
		for seed := range uint64(15) {
			for i, problem := range []gaussians.Problem{gaussians.Rising(4), rotated} {
				s := sampletest.Gaussian(t, problem, size, size, seed)
				l := labelShift(t, s, LabelShiftSettings{Seed: seed})
				if l.Rejected() != (l.P < 0.05) {
					t.Errorf("rejected: %v with p = %v", l.Rejected(), l.P)
				}
				if l.Rejected() {
					p[i]++
				}
			}
		}
		if p[0] > 4 || p[1] < fewest {
			t.Errorf("%d rows: %v of 15 label shifts and %v of 15 rotations rejected", size, p[0], p[1])
		}
	}
}

// Few held-out rows of a class leave bins empty that the target has rows in. That is no
// evidence against label shift.
func TestLabelShiftTestOfFewSourceRows(t *testing.T) {
	const samples = 20
	for _, c := range []struct {
		common float64 // share of each second class in the source, and of the others in the target
		tested int     // at least so many samples
	}{{0.16, 0}, {0.12, 16}} {
		p := gaussians.Rising(10)
		for y := range 10 {
			p.Source[y], p.Target[y] = c.common, 0.2-c.common
			if y%2 == 1 {
				p.Source[y], p.Target[y] = p.Target[y], p.Source[y]
			}
		}
		if tested, rejected := tested(t, p, 130, 400, samples, 0); rejected > 4 || tested < c.tested {
			t.Errorf("%v: %d of %d label shifts rejected, %d tested", c, rejected, samples, tested)
		}
	}
}

// Label shift is rejected no more often than it should be if the target has hundreds of rows for each of the
// source: in 5%, a standard error of four draws. With as many steps for the null as for equal domains it is 10%.
func TestLabelShiftTestOfFarMoreTargetRows(t *testing.T) {
	const draws = 400
	rejected := 0
	for seed := range uint64(draws) {
		p, share := gaussians.Rising(2), rand.New(rand.NewPCG(seed, 1)).Float64()
		p.Target[0], p.Target[1] = share, 1-share
		if labelShift(t, sampletest.Gaussian(t, p, 60, 20000, seed), LabelShiftSettings{Seed: seed}).Rejected() {
			rejected++
		}
	}
	if rejected > 33 {
		t.Errorf("%d of %d label shifts rejected", rejected, draws)
	}
}

// tested counts the samples of n source and m target rows that are tested, and of these those in
// which label shift is rejected.
func tested(t *testing.T, p gaussians.Problem, n, m, samples, resamples int) (tested, rejected int) {
	t.Helper()
	for seed := range uint64(samples) {
		l := labelShift(t, sampletest.Gaussian(t, p, n, m, seed), LabelShiftSettings{Seed: seed, Resamples: resamples})
		if l.Tested() {
			tested++
		}
		if l.Rejected() {
			rejected++
		}
	}
	return tested, rejected
}

// With very few held-out rows a class nothing can be told, whatever has changed, and the test
// says so.
func TestLabelShiftTestOfTooFewSourceRows(t *testing.T) {
	turned := gaussians.Rising(10)
	turned.Rotation = math.Pi / 2
	for rows, tested := range map[int]bool{40: false, 119: false, 120: true} {
		l, err := LabelShiftTest(sampletest.Gaussian(t, turned, rows, 400, 2), LabelShiftSettings{})
		if err != nil || l.Tested() != tested || !tested && (l.P != 1 || !strings.Contains(l.Verdict(), "too few source rows")) {
			t.Errorf("%d rows: %+v, %v", rows, l, err)
		}
	}
}

// With more classes than it takes minutes nothing is tested.
func TestLabelShiftTestOfTooManyClasses(t *testing.T) {
	const k = MostClasses + 1
	p := gaussians.Rising(k)
	l, err := LabelShiftTest(sampletest.Gaussian(t, p, 15*k, 500, 1), LabelShiftSettings{})
	if err != nil || l.Tested() || l.Rejected() || l.Verdict() != "there are too many classes (more than 225) to test for label shift" {
		t.Errorf("%s: %+v, %v", l.Verdict(), l, err)
	}
}

// Classes that are common in the target and have few source rows decide alone, and one that it lacks explains
// nothing there: label shift is rejected as seldom as with others, or not tested.
func TestLabelShiftTestOfRareSourceClasses(t *testing.T) {
	const samples = 60
	for _, c := range []struct {
		source, target []float64
		rows, tested   int // at least so many samples
	}{
		{[]float64{0.9, 0.07, 0.03}, []float64{0.3, 0.3, 0.4}, 200, 0},
		{[]float64{0.97, 0.03}, []float64{0.5, 0.5}, 300, 0},
		{[]float64{0.9, 0.07, 0.03}, []float64{0.3, 0.3, 0.4}, 500, 50},
		{[]float64{0.5, 0.5}, []float64{0.97, 0.03}, 30, 55},
		{[]float64{0.34, 0.33, 0.33}, []float64{0.9, 0.1, 0}, 300, 50},
		{[]float64{0.34, 0.33, 0.33}, []float64{1, 0, 0}, 300, 50},
	} {
		p := gaussians.Rising(len(c.source))
		p.Source, p.Target = c.source, c.target
		tested, rejected := tested(t, p, c.rows, 10*c.rows, samples, 99)
		if rejected > 5 || tested < c.tested {
			t.Errorf("%+v: %d of %d label shifts rejected, %d tested", c, rejected, samples, tested)
		}
	}
}

// With many classes and a sure classifier what turned features make is found, and label shift is not rejected.
func TestLabelShiftTestOfManyClasses(t *testing.T) {
	const samples = 10
	p := gaussians.Rising(30)
	floats.AddConst(1.5, p.Separation)
	if _, rejected := tested(t, p, 900, 900, samples, 99); rejected > 3 {
		t.Errorf("%d of %d label shifts rejected", rejected, samples)
	}
	p.Rotation = 0.4
	if _, found := tested(t, p, 900, 900, samples, 99); found < 7 {
		t.Errorf("%d of %d turns found", found, samples)
	}
}

func TestLabelShiftIsDecidedByItsSeed(t *testing.T) {
	s := sampletest.Gaussian(t, gaussians.Rising(3), 60, 60, 1)
	p := func(seed uint64) float64 {
		l := labelShift(t, s, LabelShiftSettings{Seed: seed})
		return l.P
	}
	if p(1) != p(1) {
		t.Error("one seed has two p-values")
	}
}

func TestLabelShiftGolden(t *testing.T) {
	weighttest.EachGolden(t, func(t *testing.T, g weighttest.Problem) {
		l := labelShift(t, sampletest.Of(g.T)(g.Rows()), LabelShiftSettings{Resamples: 200})
		// All targets are drawn by label shift, but for the one with a class that the
		// source lacks.
		if g.Name == "missing" {
			if !l.Rejected() {
				t.Errorf("a class without source rows is not found: %+v", l)
			}
		} else if l.P < 0.01 || l.DegreesOfFreedom > 0 && chiSquaredTail(l.Statistic, l.DegreesOfFreedom) < 0.005 {
			t.Errorf("%+v", l)
		}
	})
}

func TestLabelShiftHardCases(t *testing.T) {
	one := sampletest.Of(t)(1, []float64{1, 1}, []int{0, 0}, []float64{1, 1, 1})
	few := sampletest.Of(t)(3, []float64{0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8}, []int{0, 1, 2}, []float64{0.5, 0.4, 0.1})
	certain := sampletest.Of(t)(2, slices.Repeat([]float64{1, 0, 0, 1}, 40), slices.Repeat([]int{0, 1}, 40), slices.Repeat([]float64{1, 0}, 40))
	// Class 2 is never predicted, and every prediction is certain.
	var source, target []float64
	var labels []int
	for i := range 40 {
		c := float64(i % 3 / 2)
		source, labels, target = append(source, 1-c, c, 0), append(labels, i%3), append(target, c, 1-c, 0)
	}
	silent := sampletest.Of(t)(3, source, labels, target)
	for name, s := range map[string]*weightest.Sample{"one class": one, "few rows": few, "never predicted": silent, "certain": certain} {
		l, err := LabelShiftTest(s, LabelShiftSettings{Resamples: 100})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if l.DegreesOfFreedom > 0 || l.P != 1 || l.Verdict() != "there are too few source rows, or too few different predictions, to test for label shift" ||
			math.IsNaN(l.Statistic) {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if _, err := LabelShiftTest(sampletest.Of(t)(2, nil, nil, nil), LabelShiftSettings{}); !errors.Is(err, weightest.ErrNoStatistics) {
		t.Errorf("no rows: %v", err)
	}
}

func TestVerdict(t *testing.T) {
	none := math.NaN()
	for want, l := range map[string]LabelShift{
		"the test found nothing against label shift (p = 0.41)":                                                             {DegreesOfFreedom: 3, P: 0.412, Detectable: none},
		"the test found nothing against label shift (p = 0.41); it would have found a loss of accuracy of 4 points or more": {DegreesOfFreedom: 3, P: 0.412, Detectable: 0.04},
		"the test found nothing against label shift (p = 0.41), but it could have missed even a large loss of accuracy":     {DegreesOfFreedom: 3, P: 0.412, Detectable: math.Inf(1)},
		"more than the class shares changed (p < 0.001): do not rely on the class weights":                                  {DegreesOfFreedom: 3, P: 0.0009, Detectable: 0.01},
		"more than the class shares changed (p = 0.002): do not rely on the class weights":                                  {DegreesOfFreedom: 3, P: 0.002, Detectable: none},
		"there are too few source rows, or too few different predictions, to test for label shift":                          {P: 1, Detectable: none},
	} {
		if got := l.Verdict(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The level is 5% with many more target rows than source rows too, where J is far from χ².
func TestLabelShiftLevelOfManyTargetRows(t *testing.T) {
	const samples = 60
	rejected, above := 0, 0
	for seed := range uint64(samples) {
		l := labelShift(t, sampletest.Gaussian(t, gaussians.Rising(3), 200, 5000, seed), LabelShiftSettings{Seed: seed, Resamples: 99})
		if l.Rejected() {
			rejected++
		}
		if chiSquaredTail(l.Statistic, l.DegreesOfFreedom) < Significance {
			above++
		}
	}
	// Of 60 samples 3 are meant; more than 8 are found once in 200 times.
	if rejected > 8 || above <= rejected {
		t.Errorf("%d of %d label shifts rejected, %d by χ²", rejected, samples, above)
	}
}

// Turns that cost more than what is said to be detectable are found in most samples, and a loss is named only
// where there are rows enough.
func TestDetectable(t *testing.T) {
	const samples = 20
	turned := gaussians.Rising(4)
	turned.Rotation = 0.6 // costs 9 points
	for rows, want := range map[int]float64{1000: math.Inf(1), 2400: 0.08, 8000: 0.04} {
		l, err := LabelShiftTest(sampletest.Gaussian(t, gaussians.Rising(4), rows, rows, 2), LabelShiftSettings{})
		if err != nil || l.Detectable != want {
			t.Fatalf("%d rows: %+v, %v", rows, l, err)
		}
		if rows != 2400 {
			continue
		}
		if _, found := tested(t, turned, rows, rows, samples, 99); found < samples*6/10 {
			t.Errorf("%d rows: a loss of 0.09 was found in %d of %d samples, and %v is said to be found in 80%%", rows, found, samples, want)
		}
	}
	l, err := LabelShiftTest(sampletest.Gaussian(t, turned, 5000, 5000, 1), LabelShiftSettings{})
	if err != nil || !l.Rejected() || !math.IsNaN(l.Detectable) {
		t.Errorf("of a shift that is found: %+v, %v", l, err)
	}
}

// Two tests of the same question reject at half of the significance each.
func TestRejectedBeside(t *testing.T) {
	for _, c := range []struct {
		p      float64
		beside int
		is     bool
	}{{0.049, 0, true}, {0.05, 0, false}, {0.03, 1, false}, {0.024, 1, true}} {
		if got := (LabelShift{P: c.p, Beside: c.beside}).Rejected(); got != c.is {
			t.Errorf("p = %v beside %d: rejected is %v", c.p, c.beside, got)
		}
	}
}

func labelShift(t testing.TB, s *weightest.Sample, settings LabelShiftSettings) LabelShift {
	t.Helper()
	return must.Have(LabelShiftTest(s, settings))(t)
}

// The null takes more steps where the target has more rows for each of the source, and fewer where few of these are of
// its classes.
func TestStepsOfTheNull(t *testing.T) {
	for _, c := range []struct {
		source []float64 // rows of each class
		target float64
		shares []float64
		steps  int
	}{
		{[]float64{100, 100}, 200, []float64{0.5, 0.5}, 30},
		{[]float64{100, 100}, 1000, []float64{0.2, 0.8}, 30},
		{[]float64{100, 100}, 10000, []float64{0.5, 0.5}, 139},
		{[]float64{300, 300}, 30000, []float64{0.1, 0.9}, 139},
		{[]float64{25, 25}, 2500, []float64{0.5, 0.5}, 69},
		{[]float64{175, 25}, 10000, []float64{0, 1}, 69},
		{[]float64{1, 1}, 100, []float64{0.5, 0.5}, 30},
	} {
		counts := binnedCounts{target: []float64{c.target / 2, c.target / 2}}
		for _, rows := range c.source {
			counts.source = append(counts.source, []float64{rows, 0})
		}
		if got := counts.steps(c.shares); got != c.steps {
			t.Errorf("%v of %v to %v rows of %v: %d steps, want %d", c.source, floats.Sum(c.source), c.target, c.shares, got, c.steps)
		}
	}
}

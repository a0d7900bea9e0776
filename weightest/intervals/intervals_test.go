package intervals

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestPercentile(t *testing.T) {
	values := []float64{1, 2, 4, 8, 16}
	for probability, want := range map[float64]float64{0: 1, 0.25: 2, 0.5: 4, 0.6: 5.6, 0.9: 12.8, 1: 16} {
		if got := percentile(values, probability); math.Abs(got-want) > 1e-12 {
			t.Errorf("percentile %v: %v, want %v", probability, got, want)
		}
	}
	if got := percentile([]float64{3}, 0.7); got != 3 {
		t.Errorf("percentile of one value: %v", got)
	}
}

// Draws of independent, skewed numbers: intervals hold their part of them, joint
// intervals all numbers at once.
func TestDrawnIntervals(t *testing.T) {
	const draws, k, level = 4000, 6, 0.9
	random := rand.New(rand.NewPCG(1, 1))
	values := make([][]float64, draws)
	for i := range values {
		for range k {
			values[i] = append(values[i], math.Exp(random.NormFloat64()/2))
		}
		values[i] = append(values[i], 0) // a class that never is
	}
	got := drawnIntervals(values, level, math.Inf(1), normalReach(level), asDrawn)
	var each [k + 1]float64
	var joint float64
	for _, draw := range values {
		all := 1.0
		for y, v := range draw {
			if got.Each[y].Low <= v && v <= got.Each[y].High {
				each[y] += 1. / draws
			}
			if v < got.Joint[y].Low || v > got.Joint[y].High {
				all = 0
			}
		}
		joint += all / draws
	}
	for y, share := range each[:k] {
		if math.Abs(share-level) > 0.002 {
			t.Errorf("number %d: %v of the draws", y, share)
		}
	}
	// A joint interval is no narrower than that of its number, so that it can hold more.
	if joint < level-1e-9 || joint > level+0.02 {
		t.Errorf("jointly %v of the draws", joint)
	}
	if got.Each[k] != (Interval{}) || got.Joint[k] != (Interval{}) {
		t.Errorf("a number that is always 0: %v, %v", got.Each[k], got.Joint[k])
	}
	if one := drawnIntervals([][]float64{{1}}, level, 1, normalReach(level), asDrawn); one.Each[0] != (Interval{1, 1}) || one.Joint[0] != (Interval{1, 1}) {
		t.Errorf("one draw: %v", one)
	}
}

func TestDrawnIntervalsStayInBounds(t *testing.T) {
	got := drawnIntervals([][]float64{{0, 1}, {0.5, 0.5}, {0.9, 0.1}, {1, 0}, {0.2, 0.8}}, 0.95, 1, normalReach(0.95), asDrawn)
	for y, joint := range got.Joint {
		if joint.Low < 0 || joint.High > 1 || joint.Low > got.Each[y].Low || joint.High < got.Each[y].High {
			t.Errorf("number %d: %v, jointly %v", y, got.Each[y], joint)
		}
	}
}

// asDrawn is the reach of intervals between percentiles.
func asDrawn(_ int, reach float64) float64 { return reach }

// Of 39 draws one in forty is expected below the first, so that 95% lie between the first and
// the last.
func TestReachOfDraws(t *testing.T) {
	var draws [][]float64
	for i := range 39 {
		draws = append(draws, []float64{float64(i)})
	}
	if few := refittedReach(12, 0)(0, 1.96); few < 2.17 || few > 2.19 { // t of 12 degrees of freedom is 2.179
		t.Errorf("reach of 12 unsure rows %v", few)
	}
	if got := drawnIntervals(draws, 0.95, math.Inf(1), percentileReach(len(draws), 0.95), refittedReach(1e9, 0)).Each[0]; math.Abs(got.Low) > 1e-5 || math.Abs(got.High-38) > 1e-5 {
		t.Errorf("%v", got)
	}
}

// Joint intervals are of many numbers: their reach is that of a deviation and no percentile's.
func TestJointIntervalsHold(t *testing.T) {
	const k, samples, draws, unsure, level = 20, 200, 500, 100, 0.95
	random := rand.New(rand.NewPCG(2, 2))
	held, width := 0.0, 0.0
	for range samples {
		estimate := make([]float64, k) // of 100, with a standard error of 1
		for j := range estimate {
			estimate[j] = 100 + random.NormFloat64()
		}
		values := make([][]float64, draws)
		for i := range values {
			for _, v := range estimate {
				values[i] = append(values[i], v+random.NormFloat64())
			}
		}
		got := drawnIntervals(values, level, math.Inf(1), percentileReach(draws, level), refittedReach(unsure, 0))
		all := 1.0
		for _, joint := range got.Joint {
			if joint.Low > 100 || joint.High < 100 {
				all = 0
			}
			width += (joint.High - joint.Low) / k / samples
		}
		held += all / samples
	}
	// The standard error is 1.5%. All of 20 normal numbers are within 3.02 standard errors with
	// that probability; t of 100 degrees of freedom is 3.09 there.
	if held < 0.91 || held > 0.99 || width < 2*3 || width > 2*3.25 {
		t.Errorf("%v of the samples, mean width %v", held, width)
	}
}

// Of a share of some m rows an estimate that is too low has draws that spread too little. Intervals
// miss as often above as below, each alone and all at once.
func TestIntervalsOfCountedShares(t *testing.T) {
	const rows, samples, draws, level = 100, 400, 400, 0.95
	truth := slices.Repeat([]float64{0.05}, 20)
	random := rand.New(rand.NewPCG(3, 3))
	count := func(q []float64) []float64 { // of rows + 1 a class, as shares
		drawn := make([]float64, len(q))
		for range rows {
			u, y := random.Float64(), 0
			for ; y < len(q)-1 && u > q[y]; y++ {
				u -= q[y]
			}
			drawn[y]++
		}
		for y := range drawn {
			drawn[y] = (drawn[y] + 1) / (rows + float64(len(q)))
		}
		return drawn
	}
	var below, above, all float64
	for range samples {
		estimate := count(truth)
		values := make([][]float64, draws)
		for i := range values {
			values[i] = count(estimate)
		}
		got := shareIntervals(values, level, refittedReach(1e9, 0))
		requireIntervals(t, Uncertainty{Shares: got})
		holds := 1.0
		for y, each := range got.Each {
			if truth[y] < each.Low {
				below++
			}
			if truth[y] > each.High {
				above++
			}
			if joint := got.Joint[y]; truth[y] < joint.Low || truth[y] > joint.High {
				holds = 0
			}
		}
		all += holds / samples
	}
	below, above = below/samples/20, above/samples/20
	t.Logf("below %.3f, above %.3f, jointly %.3f", below, above, all)
	if below > 0.04 || above > 0.04 || all < 0.94 {
		t.Errorf("the truth is below %.3f and above %.3f of the intervals, and in all joint ones of %.3f", below, above, all)
	}
}

// However few the replicas and unsure rows, an interval of shares lies in [0, 1] and holds the
// median; of draws that are all the same it is these.
func TestIntervalsOfSharesAtTheEdge(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		for _, replicas := range []int{20, 33, 50} {
			var draws [][]float64
			for i := range replicas {
				v := 0.5 + sign*0.5*math.Pow(float64(i)/float64(replicas-1), 8)
				draws = append(draws, []float64{v, 1 - v, 0, 1, 0.25})
			}
			for _, level := range []float64{0.95, 0.99, 0.999} {
				for _, unsure := range []float64{1, 12, 100} {
					got := shareIntervals(draws, level, refittedReach(unsure, 0))
					requireIntervals(t, Uncertainty{Shares: got})
					if each, median := got.Each[0], draws[replicas/2][0]; !(each.Low < median && median < each.High) {
						t.Errorf("%d replicas, level %v, %v unsure rows: %v about %v", replicas, level, unsure, each, median)
					}
					for j, v := range []float64{2: 0, 3: 1, 4: 0.25} {
						if each := got.Each[j]; j >= 2 && (math.Abs(each.Low-v) > 1e-12 || math.Abs(each.High-v) > 1e-12) {
							t.Errorf("all draws are %v: %v", v, each)
						}
					}
				}
			}
		}
	}
}

// A tabulated quantile: t of 19 degrees of freedom is 2.0930 where a normal one is 1.95996.
func TestResampledReach(t *testing.T) {
	reach := resampledReach([]float64{20, 2, 1e7}, 0)
	if got, want := reach(0, 1.959963985), math.Sqrt(20./19)*2.093024; math.Abs(got-want) > 1e-5 {
		t.Errorf("20 rows: %v, want %v", got, want)
	}
	if got, want := reach(1, 1.959963985), math.Sqrt(5./4)*2.776445; math.Abs(got-want) > 1e-5 {
		t.Errorf("2 rows: %v, want that of 5 rows, %v", got, want)
	}
	if got := reach(2, 3); math.Abs(got-3) > 1e-5 {
		t.Errorf("10,000,000 rows: %v, want 3", got)
	}
	draws := make([][]float64, 1001)
	for i := range draws {
		draws[i] = []float64{float64(i)} // percentiles of a uniform distribution
	}
	twenty := drawnIntervals(draws, 0.95, math.Inf(1), normalReach(0.95), reach)
	// Φ(-2.147391) = 0.015882.
	if each := twenty.Each[0]; math.Abs(each.Low-15.882) > 0.01 || math.Abs(each.High-984.118) > 0.01 {
		t.Errorf("of 20 rows: %v", each)
	}
	if narrow := drawnIntervals(draws, 0.95, math.Inf(1), normalReach(0.95), asDrawn); twenty.Joint[0].High-twenty.Joint[0].Low < 1.05*(narrow.Joint[0].High-narrow.Joint[0].Low) {
		t.Errorf("joint intervals of 20 rows: %v, of many: %v", twenty.Joint[0], narrow.Joint[0])
	}
}

// Student's t leaves as much outside as the normal distribution, with however many degrees of
// freedom and however far out, as joint intervals of a thousand classes are.
func TestStudentReach(t *testing.T) {
	for _, degrees := range []float64{5, 50, 100, 101, 300, 1000, 3e4, 1e5, 1e6} {
		student := distuv.StudentsT{Sigma: 1, Nu: degrees}
		for z := 0.5; z <= 9; z += 0.5 {
			reach := studentReach(degrees, z)
			// Ends of an interval that holds the reach that is right, within 0.1%, or within 0.5% beyond 6.
			within := 0.001
			if z > 6 {
				within = 0.005
			}
			outside := math.Erfc(z/math.Sqrt2) / 2
			if student.Survival((1-within)*reach) < outside || student.Survival((1+within)*reach) > outside {
				t.Errorf("%v degrees of freedom, %v: %v", degrees, z, reach)
			}
		}
	}
}

func TestWiden(t *testing.T) {
	each := func(first, second Interval) Intervals {
		return Intervals{Each: []Interval{first, second}, Joint: []Interval{first, second}}
	}
	// The second class has no source rows.
	u := Uncertainty{Shares: each(Interval{0.25, 0.5}, Interval{0, 0.75}), Weights: each(Interval{0.5, 1}, Interval{0, 0})}
	u.widen(nil, []float64{0.5, 0})
	if u.Warning != "" {
		t.Errorf("one solution: %q", u.Warning)
	}
	u.widen([]float64{0.125, 0}, []float64{0.5, 0})
	want := Uncertainty{Shares: each(Interval{0.125, 0.625}, Interval{0, 0.75}), Weights: each(Interval{0.25, 1.25}, Interval{0, 0}), Warning: u.Warning}
	if !reflect.DeepEqual(u, want) || u.Warning == "" {
		t.Errorf("%+v, want %+v", u, want)
	}
	// Weights over mean predictions may be above 1/p; none of their intervals gets narrower.
	above := Uncertainty{Shares: each(Interval{0.25, 0.5}, Interval{0, 0.75}), Weights: each(Interval{5, 6}, Interval{0, 1})}
	above.widen([]float64{0.125, 0}, []float64{0.25, 0.75})
	if got := above.Weights.Each[0]; got != (Interval{4.5, 6}) {
		t.Errorf("%+v, want 4.5 to 6", got)
	}
	u.widen([]float64{1, 0.5}, []float64{0.5, 0.25})
	want = Uncertainty{Shares: each(Interval{0, 1}, Interval{0, 1}), Weights: each(Interval{0, 2}, Interval{0, 2}), Warning: u.Warning}
	if !reflect.DeepEqual(u, want) {
		t.Errorf("%+v, want %+v", u, want)
	}
}

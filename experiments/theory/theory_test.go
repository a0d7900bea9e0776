package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"iwda/internal/must"
)

func ExampleEvaluate() {
	source, _ := JointOf([][]int{{8, 2}, {1, 9}})
	target, _ := JointOf([][]int{{3, 1}, {4, 12}})
	bounds, err := Evaluate(source, target)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("error gap %.2f, at most %.2f\n", bounds.ErrorGap, bounds.ErrorGapBound)
	fmt.Printf("joint error %.2f, under generalized label shift at most %.2f\n", bounds.JointError, bounds.JointErrorBound)
	// Output:
	// error gap 0.10, at most 0.42
	// joint error 0.40, under generalized label shift at most 0.40
}

// TestEvaluate compares with numbers worked out by hand.
func TestEvaluate(t *testing.T) {
	source := must.Have(JointOf([][]int{{4, 1, 0}, {0, 2, 0}, {1, 0, 2}}))(t)
	target := must.Have(JointOf([][]int{{1, 0, 1}, {0, 4, 0}, {0, 1, 3}}))(t)
	got := must.Have(Evaluate(source, target))(t)
	// Labels .5 .2 .3 and .2 .4 .4, predictions .5 .3 .2 and .1 .5 .4.
	jsd := func(p, q []float64) float64 {
		sum := 0.0
		for i := range p {
			m := (p[i] + q[i]) / 2
			sum += (p[i]*math.Log(p[i]/m) + q[i]*math.Log(q[i]/m)) / 2
		}
		return sum
	}
	labels := jsd([]float64{.5, .2, .3}, []float64{.2, .4, .4})
	predictions := jsd([]float64{.5, .3, .2}, []float64{.1, .5, .4})
	want := Bounds{
		SourceError: 0.2, TargetError: 0.2,
		BalancedErrorRate:   1. / 3,
		ConditionalErrorGap: 0.5, // 0 taken for 2: never, and half of the time
		LabelDistance:       0.6,
		LabelJSD:            labels, PredictionJSD: predictions,
		ErrorGap: 0, ErrorGapBound: 0.2 + 4*0.5,
		JointError: 0.4, JointErrorBound: 2. / 3,
		ConditionalDistance: 0.5, // of class 0: (.8, .2, 0) and (.5, 0, .5)
	}
	// D_T(y) D_S(Ŷ | y), summed over y: .2 (.8, .2, 0) + .4 (0, 1, 0) + .4 (1/3, 0, 2/3); w is .4, 2 and 4/3.
	want.WeightedPredictionJSD = jsd([]float64{.16 + .4/3, .44, .8 / 3}, []float64{.1, .5, .4})
	want.ConditionalDistanceBound = (2*0.2 + 0.2 + math.Sqrt(8*want.WeightedPredictionJSD)) / 0.2
	if predictions < labels {
		t.Fatal("the floor would not be 0")
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	swapped, err := Evaluate(target, source)
	if err != nil || swapped.BalancedErrorRate != 0.5 {
		t.Errorf("swapped: %v, balanced error rate %v, want that of the first argument", err, swapped.BalancedErrorRate)
	}
}

// TestFloor: a constant classifier aligns the predictions of both domains.
func TestFloor(t *testing.T) {
	source, target := Joint{{0.9, 0}, {0.1, 0}}, Joint{{0.2, 0}, {0.8, 0}}
	got, err := Evaluate(source, target)
	if err != nil || got.PredictionJSD != 0 || math.Abs(got.JointErrorFloor-got.LabelJSD/2) > 1e-15 || got.LabelJSD < 0.1 {
		t.Errorf("%v, %+v", err, got)
	}
}

// random returns a joint distribution with these conditionals D(Ŷ | Y), or random
// ones. Some classes are rare, some confusions certain.
func random(r *rand.Rand, k int, conditionals [][]float64) Joint {
	labels := simplex(r, k)
	joint := make(Joint, k)
	for y := range joint {
		conditional := simplex(r, k)
		if conditionals != nil {
			conditional = conditionals[y]
		}
		joint[y] = make([]float64, k)
		for predicted, p := range conditional {
			joint[y][predicted] = labels[y] * p
		}
	}
	return joint
}

// simplex returns positive numbers that sum to 1, of very different sizes.
func simplex(r *rand.Rand, k int) []float64 {
	values, sum := make([]float64, k), 0.0
	sharpness := 1 + 5*r.Float64()
	for i := range values {
		values[i] = math.Pow(r.Float64(), sharpness) + 1e-9
		sum += values[i]
	}
	for i := range values {
		values[i] /= sum
	}
	return values
}

// TestBoundsHold draws thousands of pairs of joint distributions.
func TestBoundsHold(t *testing.T) {
	const rounding = 1e-12
	r := rand.New(rand.NewPCG(1, 2))
	tight, floors := 0, 0
	for i := range 5000 {
		k := 2 + r.IntN(9)
		source, target := random(r, k, nil), random(r, k, nil)
		if r.IntN(2) == 0 { // a good classifier
			for _, joint := range []Joint{source, target} {
				for y := range joint {
					joint[y][y] += 5
				}
				scale(joint)
			}
		}
		b := must.Have(Evaluate(source, target))(t)
		if b.ErrorGap > b.ErrorGapBound+rounding {
			t.Errorf("pair %d, k = %d: error gap %v above %v", i, k, b.ErrorGap, b.ErrorGapBound)
		}
		if b.ErrorGapBound < 4*b.ErrorGap {
			tight++
		}
		if b.JointError < b.JointErrorFloor-rounding {
			t.Errorf("pair %d, k = %d: joint error %v below %v", i, k, b.JointError, b.JointErrorFloor)
		}
		if b.JointErrorFloor > 0 {
			floors++
		}
		if b.ConditionalDistance > b.ConditionalDistanceBound+rounding {
			t.Errorf("pair %d, k = %d: distance %v above %v", i, k, b.ConditionalDistance, b.ConditionalDistanceBound)
		}
	}
	if tight == 0 || floors < 500 {
		t.Errorf("the bounds were hardly tried: %d gaps near theirs, %d floors above 0", tight, floors)
	}
}

// TestBoundsUnderGeneralizedLabelShift: with the same conditionals in both domains
// the conditional error gap vanishes and the joint error bound holds, exactly if all
// classes have the same error.
func TestBoundsUnderGeneralizedLabelShift(t *testing.T) {
	const rounding = 1e-9
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 5000 {
		k := 2 + r.IntN(9)
		conditionals := make([][]float64, k)
		for y := range conditionals {
			conditionals[y] = simplex(r, k)
		}
		b := must.Have(Evaluate(random(r, k, conditionals), random(r, k, conditionals)))(t)
		if b.ConditionalErrorGap > rounding || b.ConditionalDistance > rounding || b.WeightedPredictionJSD > rounding {
			t.Errorf("pair %d: gap, distance or divergence above 0: %+v", i, b)
		}
		if b.JointError > b.JointErrorBound+rounding || b.ErrorGap > b.ErrorGapBound+rounding {
			t.Errorf("pair %d: a bound fails: %+v", i, b)
		}
	}
	same := [][]float64{{0.7, 0.3}, {0.3, 0.7}}
	if b, err := Evaluate(random(r, 2, same), random(r, 2, same)); err != nil || math.Abs(b.JointError-b.JointErrorBound) > rounding {
		t.Errorf("%v: joint error %v, want the bound %v", err, b.JointError, b.JointErrorBound)
	}
}

func scale(joint Joint) {
	sum := 0.0
	for _, row := range joint {
		for _, p := range row {
			sum += p
		}
	}
	for _, row := range joint {
		for i := range row {
			row[i] /= sum
		}
	}
}

func TestClassesWithoutSamples(t *testing.T) {
	whole, lacking := Joint{{0.5, 0}, {0.1, 0.4}}, Joint{{0.8, 0.2}, {0, 0}}
	must.Refuse(Evaluate(lacking, whole))(t, "class 1: the source has no sample")
	b, err := Evaluate(whole, lacking)
	if err != nil || math.Abs(b.ConditionalErrorGap-0.2) > 1e-12 || b.ErrorGap > b.ErrorGapBound || !math.IsInf(b.ConditionalDistanceBound, 1) {
		t.Errorf("target without a class: %v, %+v", err, b)
	}
}

func TestJointOfNothing(t *testing.T) {
	for _, confusion := range [][][]int{nil, {{0, 0}, {0, 0}}} {
		if _, err := JointOf(confusion); err == nil || !strings.Contains(err.Error(), "no sample") {
			t.Errorf("%v: %v", confusion, err)
		}
	}
}

package evaluation

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/golden"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// moments are those of some values.
func moments(values []float64) (m Moments) {
	for _, v := range values {
		m.Add(v)
	}
	return m
}

// Estimate and interval are those of the published implementation, whose variances divide by the
// number of rows.
func TestGolden(t *testing.T) {
	file := golden.Open(t, "ppi")
	z := distuv.UnitNormal.Quantile(0.975)
	for _, name := range file.Groups() {
		get := func(key string) []float64 { return file.Get(t, name+"/"+key).Data }
		correct := get("correct")
		all := moments(get("unlabelled"))
		got := Powered(correct, get("confidence"), all)
		n := float64(len(correct))
		if got.Lambda < 0 || got.Lambda > 1 {
			t.Errorf("%s: λ is %v", name, got.Lambda)
		}
		near(t, name, got.Value, get("tuned/estimate")[0], 1e-9)
		half := z * math.Sqrt(got.Expected+got.Labelled*(n-1)/n)
		for i, end := range get("tuned/interval") {
			near(t, name+": interval", got.Value+half*[]float64{-1, 1}[i], end, 1e-9)
		}
		// λ is 0 or 1 where the other estimates say so.
		for kind, lambda := range map[string]float64{"classical": 0, "full": 1} {
			if got.Lambda == lambda {
				near(t, name+": "+kind, got.Value, get(kind + "/estimate")[0], 1e-9)
			}
		}
	}
}

// Of rows that all have labels the accuracy is known.
func TestAllLabelled(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0.5, 0.97} {
		var s Scores
		right := 0.0
		for range 80 {
			outcome, f := 0.0, random.Float64()
			if random.Float64() < share {
				outcome = 1
			}
			right += outcome
			s.All.Add(f)
			s.Right, s.Expected = append(s.Right, outcome), append(s.Expected, f)
		}
		got, _ := Accuracy(s, 1)
		near(t, "accuracy", got.Value, right/80, 1e-12)
		near(t, "low", got.Low, right/80, 1e-12)
		near(t, "high", got.High, right/80, 1e-12)
	}
}

// Few mistakes have Wilson's interval; the numbers are those of R's prop.test(correct = FALSE).
func TestFewMistakes(t *testing.T) {
	outcomes, expected := make([]float64, 50), make([]float64, 50)
	for i := range outcomes {
		outcomes[i], expected[i] = 1, 0.9
	}
	all := moments(expected)
	all.Rows = math.MaxInt32
	got, powered := Accuracy(Scores{Right: outcomes, Expected: expected, All: all}, 1)
	near(t, "none wrong", got.Low, 0.9286524, 1e-6)
	if powered || got.Value != 1 || got.High != 1 {
		t.Errorf("none wrong: %+v, powered: %v", got, powered)
	}
	for i := range 5 {
		outcomes[i] = 0
	}
	got, _ = Accuracy(Scores{Right: outcomes, Expected: expected, All: all}, 1)
	near(t, "five wrong, low", got.Low, 0.7863978, 1e-6)
	near(t, "five wrong, high", got.High, 0.9565242, 1e-6)
}

// The fewer rows have no label, the narrower is the interval of a share of those that have one.
func TestShare(t *testing.T) {
	right := []float64{1, 1, 1, 0}
	half, all := Share(right, nil, 40, 80), Share(right, nil, 80, 80)
	near(t, "half", half.Value, 0.75, 1e-12)
	if few := Share(right, nil, 8, 80); few.High-few.Low <= half.High-half.Low {
		t.Errorf("%+v if half of the rows have labels, %+v if a tenth has", half, few)
	}
	if all.Low != 0.75 || all.High != 0.75 {
		t.Errorf("%+v of rows that all have labels", all)
	}
}

// compare compares two classifiers on so many rows, of which n have labels: gained are those that only the first
// gets right, lost those that only the second does.
func compare(n, gained, lost, rows int) Difference {
	scores := func(from, to int) Scores {
		right := make([]float64, n)
		for i := from; i < to; i++ {
			right[i] = 1
		}
		return Scores{Right: right, Expected: make([]float64, n), All: Moments{Rows: rows}}
	}
	return Compare(scores(0, gained), scores(gained, gained+lost), 1)
}

// P-values of the sign test are those of R's binom.test. A difference that no label shows is none,
// and may be one all the same.
func TestCompare(t *testing.T) {
	near(t, "6 to 0", signTest(6, 0), 0.03125, 1e-12)
	near(t, "10 to 3", signTest(10, 3), 0.09228515625, 1e-12)
	near(t, "0 to 0", signTest(0, 0), 1, 0)
	const many = 1 << 30 // rows, few of which have labels
	if got := compare(40, 0, 0, many); got.Value != 0 || got.P != 1 || got.Low >= -0.01 || got.High <= 0.01 {
		t.Errorf("no row tells them apart: %+v", got)
	}
	got := compare(40, 8, 0, many)
	near(t, "gain", got.Value, 0.2, 1e-12)
	near(t, "p", got.P, 2./256, 1e-12)
	if got.Gained != 8 || got.Lost != 0 || got.Low <= 0 {
		t.Errorf("8 rows of 40 gained: %+v", got)
	}
	// Exchanged, the difference is the opposite.
	back := compare(40, 0, 8, many)
	near(t, "exchanged", back.Value, -got.Value, 1e-12)
	near(t, "exchanged, low", back.Low, -got.High, 1e-12)
	near(t, "exchanged, p", back.P, got.P, 1e-12)
}

// Of rows that all have labels the difference is known, and of nearly all nearly; which is better
// is known as soon as the others are too few to undo it.
func TestCompareAllLabelled(t *testing.T) {
	got := compare(60, 8, 2, 60)
	near(t, "value", got.Value, 0.1, 1e-12)
	near(t, "low", got.Low, 0.1, 1e-12)
	near(t, "high", got.High, 0.1, 1e-12)
	near(t, "p", got.P, 0, 0)
	if got := compare(60, 2, 2, 60); got.Low != 0 || got.High != 0 || got.P != 1 {
		t.Errorf("no difference: %+v", got)
	}
	few, half := compare(60, 8, 2, 1<<30), compare(60, 8, 2, 120)
	near(t, "half of the rows", half.High-half.Low, math.Sqrt(0.5)*(few.High-few.Low), 1e-6)
	if got := compare(60, 8, 2, 66); got.P < 0.05 {
		t.Errorf("six rows can undo six: %+v", got)
	}
	if got := compare(60, 8, 2, 65); got.P != 0 {
		t.Errorf("five cannot: %+v", got)
	}
}

// Without the rows that were predicted, an interval would be of width 0.
func TestMoreLabelsThanRows(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic of three labels of no rows")
		}
	}()
	Accuracy(Scores{Right: []float64{1, 0, 1}, Expected: []float64{0.9, 0.6, 0.8}}, 1)
}

// drawn are rows in groups of a size, whose classes and confidences have much in common in a group, and which of
// them two classifiers get right.
type drawn struct {
	groups   []int
	right    [2][]float64
	expected [2][]float64
}

func drawGroups(random *rand.Rand, count, size int, accuracies [2]float64, common float64) (d drawn) {
	for group := range count {
		ofGroup := random.NormFloat64()
		for range size {
			z := math.Sqrt(common)*ofGroup + math.Sqrt(1-common)*random.NormFloat64()
			d.groups = append(d.groups, group)
			for which, accuracy := range accuracies {
				own := 0.8*z + 0.6*random.NormFloat64()
				right, limit := 0.0, distuv.UnitNormal.Quantile(accuracy)
				if own < limit {
					right = 1
				}
				d.right[which] = append(d.right[which], right)
				d.expected[which] = append(d.expected[which], distuv.UnitNormal.CDF((limit-0.8*z)/0.6))
			}
		}
	}
	return d
}

// scores are those of the labelled rows of a classifier.
func (d drawn) scores(which int, labelled []int, grouped bool) Scores {
	var s Scores
	for _, f := range d.expected[which] {
		s.All.Add(f)
	}
	for _, i := range labelled {
		s.Right, s.Expected = append(s.Right, d.right[which][i]), append(s.Expected, d.expected[which][i])
		if grouped {
			s.Groups = append(s.Groups, d.groups[i])
		}
	}
	return s
}

// labelGroups draws groups, all rows of which get labels.
func labelGroups(random *rand.Rand, count, size, most int) (rows []int) {
	for _, group := range random.Perm(count)[:most] {
		for i := range size {
			rows = append(rows, group*size+i)
		}
	}
	return rows
}

// If groups of rows are drawn, intervals that count groups hold, and those that count rows do not.
// Accuracies and their difference subtract, whatever they rely on.
func TestGroups(t *testing.T) {
	const draws, count, size, most = 300, 200, 10, 30
	random := rand.New(rand.NewPCG(3, 4))
	held, alone := map[string]int{}, 0
	for range draws {
		d := drawGroups(random, count, size, [2]float64{0.8, 0.75}, 0.6)
		labelled := labelGroups(random, count, size, most)
		var truth [2]float64
		var got [2]Estimate
		for which := range truth {
			truth[which] = floats.Sum(d.right[which]) / (count * size)
			got[which], _ = Accuracy(d.scores(which, labelled, true), 1)
			if got[which].Low <= truth[which] && truth[which] <= got[which].High {
				held["accuracy"]++
			}
		}
		rows := d.scores(0, labelled, false)
		clear(rows.Expected)
		if e, _ := Accuracy(rows, 1); e.Low <= truth[0] && truth[0] <= e.High {
			alone++
		}
		if c := Compare(d.scores(0, labelled, true), d.scores(1, labelled, true), 1); math.Abs(c.Value-got[0].Value+got[1].Value) > 1e-12 {
			t.Fatalf("the difference is %v, and accuracies are %v and %v", c.Value, got[0].Value, got[1].Value)
		} else if c.Low <= truth[0]-truth[1] && truth[0]-truth[1] <= c.High {
			held["difference"]++
		}
		scores := d.scores(0, labelled, true)
		if e := Share(scores.Right, scores.Groups, len(labelled), count*size); e.Low <= truth[0] && truth[0] <= e.High {
			held["share"]++
		}
	}
	held["accuracy"] /= 2
	for what, times := range held {
		if times < draws*92/100 {
			t.Errorf("%s: %d of %d intervals hold", what, times, draws)
		}
	}
	if alone > draws*85/100 {
		t.Errorf("%d of %d intervals of rows hold: the draws say nothing of groups", alone, draws)
	}
}

// In a table of 200 rows, half of which have labels, what is expected of the others is known. So intervals are a
// quarter narrower than those of PPI++, and hold all the same. They hold together if labels chose the best.
func TestFinite(t *testing.T) {
	const draws, rows, n, among = 400, 200, 60, 8
	random := rand.New(rand.NewPCG(5, 6))
	held, narrower, together, chosen, differences := 0, 0.0, 0, 0, 0
	for range draws {
		d := drawGroups(random, rows, 1, [2]float64{0.7, 0.7}, 0)
		labelled := labelGroups(random, rows, 1, n)
		s := d.scores(0, labelled, false)
		truth := floats.Sum(d.right[0]) / rows
		e, _ := Accuracy(s, 1)
		if e.Low <= truth && truth <= e.High {
			held++
		}
		m := Powered(s.Right, s.Expected, s.All)
		former := wilson(m.Value, m.Value*(1-m.Value)/(m.Expected+m.Labelled)/unknownShare(n, rows), s.reach(1))
		narrower += (e.High - e.Low) / (former.High - former.Low) / draws
		// Seven others, as good, of which the best is chosen.
		best, value, right := s, e.Value, truth
		for range among - 1 {
			other := drawGroups(random, rows, 1, [2]float64{0.7, 0.7}, 0)
			o := other.scores(0, labelled, false)
			if v, _ := Accuracy(o, 1); v.Value > value {
				best, value, right = o, v.Value, floats.Sum(other.right[0])/rows
			}
		}
		if one, _ := Accuracy(best, 1); one.Low <= right && right <= one.High {
			chosen++
		}
		if all, _ := Accuracy(best, among); all.Low <= right && right <= all.High {
			together++
		}
		if c := Compare(best, s, among-1); c.Low <= right-truth && right-truth <= c.High {
			differences++
		}
	}
	if held < draws*92/100 || together < draws*92/100 || differences < draws*92/100 || chosen > draws*88/100 {
		t.Errorf("of %d intervals %d hold, of the best %d, if it is one of all %d, and of its difference %d", draws, held, chosen, together, differences)
	}
	if narrower > 0.95 {
		t.Errorf("%v of the former width", narrower)
	}
}

// Class shares by labels hold, sum to 1, and gain from what is expected.
func TestClassShares(t *testing.T) {
	const draws, rows, n, k = 300, 1000, 100, 3
	random := rand.New(rand.NewPCG(7, 8))
	held, width := [2]int{}, [2]float64{}
	for range draws {
		var classes []int
		var expected []float64
		mean, truth := make([]float64, k), make([]float64, k)
		for range rows {
			p := []float64{random.ExpFloat64(), random.ExpFloat64(), random.ExpFloat64()}
			for j := range p {
				p[j] = math.Pow(p[j], 3)
			}
			floats.Scale(1/floats.Sum(p), p)
			class, u := 0, random.Float64()
			for class < k-1 && u > p[class] {
				u -= p[class]
				class++
			}
			classes, expected = append(classes, class), append(expected, p...)
			floats.AddScaled(mean, 1./rows, p)
			truth[class] += 1. / rows
		}
		var l Labelled
		for _, i := range random.Perm(rows)[:n] {
			l.Classes, l.Expected = append(l.Classes, classes[i]), append(l.Expected, expected[i*k:(i+1)*k]...)
		}
		for which, e := range [][]Estimate{ClassShares(l, k, rows, mean), ClassShares(l, k, rows, nil)} {
			sum := 0.0
			for j, share := range e {
				sum += share.Value
				if share.Low <= truth[j] && truth[j] <= share.High {
					held[which]++
				}
				width[which] += (share.High - share.Low) / (draws * k)
			}
			near(t, "sum of shares", sum, 1, 1e-9)
		}
	}
	for which, times := range held {
		if times < draws*k*93/100 {
			t.Errorf("%d: %d of %d intervals hold", which, times, draws*k)
		}
	}
	if width[0] > 0.75*width[1] {
		t.Errorf("width %v with what is expected, %v without", width[0], width[1])
	}
}

package floor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/must"
)

// classes draws rows of k classes on a circle, turned by an angle, with these shares.
func classes(random *rand.Rand, n int, shares []float64, angle, spread float64) (features *mat.Dense, labels []int) {
	features = mat.NewDense(n, 2, nil)
	for i := range n {
		class, u := 0, random.Float64()
		for ; class < len(shares)-1 && u > shares[class]; class++ {
			u -= shares[class]
		}
		at := angle + 2*math.Pi*float64(class)/float64(len(shares))
		features.SetRow(i, []float64{math.Cos(at) + spread*random.NormFloat64(), math.Sin(at) + spread*random.NormFloat64()})
		labels = append(labels, class)
	}
	return features, labels
}

// nearest predicts the class of the nearest centre of classes that are not turned.
func nearest(features *mat.Dense, k int) (predicted []int) {
	for i := range features.RawMatrix().Rows {
		scores := make([]float64, k)
		for class := range scores {
			at := 2 * math.Pi * float64(class) / float64(k)
			scores[class] = features.At(i, 0)*math.Cos(at) + features.At(i, 1)*math.Sin(at)
		}
		predicted = append(predicted, floats.MaxIdx(scores))
	}
	return predicted
}

func accuracy(predicted, labels []int) float64 {
	right := 0
	for i, class := range labels {
		if predicted[i] == class {
			right++
		}
	}
	return float64(right) / float64(len(labels))
}

// The floor is below the accuracy in at least the nineteen of twenty that it says, and not far
// below it if nothing is new, or class shares alone and rows are weighted for them. Where classes
// are turned it falls with the accuracy.
func TestFloor(t *testing.T) {
	equal, changed := []float64{0.25, 0.25, 0.25, 0.25}, []float64{0.55, 0.15, 0.15, 0.15}
	for _, c := range []struct {
		name    string
		shares  []float64
		angle   float64
		spread  float64
		highest float64 // mean distance from the floor to the accuracy
	}{
		{"nothing new", equal, 0, 0.4, 0.1},
		{"shares", changed, 0, 0.4, 0.1},
		{"turned", equal, 0.5, 0.3, 0.6},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		const problems = 20
		above, distance := 0, 0.
		for range problems {
			source, labels := classes(random, 400, equal, 0, c.spread)
			target, truth := classes(random, 600, c.shares, c.angle, c.spread)
			weights := make([]float64, len(labels))
			for i, class := range labels {
				weights[i] = c.shares[class] / equal[class]
			}
			predicted := nearest(target, 4)
			f := must.Have(Of(4, Source{Features: source, Labels: labels, Predicted: nearest(source, 4), Weights: weights}, Target{Features: target, Predicted: predicted}))(t)
			right := accuracy(predicted, truth)
			if f > right {
				above++
			}
			distance += (right - f) / problems
		}
		// Of 20, more than 4 are above once in four hundred times if one in twenty is.
		if above > 4 || distance > c.highest {
			t.Errorf("%s: %d of %d floors above the accuracy, on average %.3f below it", c.name, above, problems, distance)
		}
	}
}

// Target rows that lie where no source row does may be anything: nearly all may be wrong.
func TestRowsApart(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	source, labels := classes(random, 200, []float64{0.5, 0.5}, 0, 0.2)
	target, _ := classes(random, 200, []float64{0.9, 0.1}, 0, 0.2)
	for i := range 200 {
		target.Set(i, 1, target.At(i, 1)+4) // across the line between the classes
	}
	weights := make([]float64, 200)
	floats.AddConst(1, weights)
	f, err := Of(2, Source{Features: source, Labels: labels, Predicted: labels, Weights: weights}, Target{Features: target, Predicted: nearest(target, 2)})
	if err != nil || f > 0.3 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A target whose classes take turns has the floor that it has in any other order: each fold has
// rows of both.
func TestRowsThatTakeTurns(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	equal := []float64{0.5, 0.5}
	source, labels := classes(random, 400, equal, 0, 0.4)
	target, truth := mat.NewDense(600, 2, nil), make([]int, 600)
	for i := range truth {
		truth[i] = i % 2
		x, y := 1., 0.
		if truth[i] == 1 { // of the other class by its first feature, and apart by its second one
			y = 3
		}
		target.SetRow(i, []float64{x + 0.4*random.NormFloat64(), y + 0.4*random.NormFloat64()})
	}
	weights := make([]float64, len(labels))
	floats.AddConst(1, weights)
	predicted := nearest(target, 2)
	f, err := Of(2, Source{Features: source, Labels: labels, Predicted: nearest(source, 2), Weights: weights}, Target{Features: target, Predicted: predicted})
	if right := accuracy(predicted, truth); err != nil || f > right {
		t.Errorf("%+v, where %v are right, %v", f, right, err)
	}
}

// The floor does not depend on the units of features or on the sum of weights, and is the same
// each time.
func TestUnits(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	shares := []float64{0.4, 0.3, 0.3}
	source, labels := classes(random, 90, shares, 0, 0.5)
	target, _ := classes(random, 110, shares, 0.3, 0.5)
	weights := make([]float64, len(labels))
	floats.AddConst(1, weights)
	s, q := Source{Features: source, Labels: labels, Predicted: nearest(source, 3), Weights: weights}, Target{Features: target, Predicted: nearest(target, 3)}
	first := must.Have(Of(3, s, q))(t)
	if again, _ := Of(3, s, q); again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
	s.Features, q.Features = new(mat.Dense), new(mat.Dense)
	s.Features.Scale(1000, source)
	q.Features.Scale(1000, target)
	s.Weights = make([]float64, len(labels))
	floats.AddConst(8, s.Weights)
	if scaled, err := Of(3, s, q); err != nil || math.Abs(scaled-first) > 0.02 {
		t.Errorf("%+v, scaled %+v, %v", first, scaled, err)
	}
	if first >= accuracy(s.Predicted, labels) {
		t.Errorf("%+v is above the accuracy on the source", first)
	}
}

// The gradient of all that a critic makes least is that of finite differences.
func TestGradient(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	source, labels := classes(random, 20, []float64{0.4, 0.3, 0.3}, 0, 0.5)
	target, contradicted := classes(random, 15, []float64{0.4, 0.3, 0.3}, 1, 0.5)
	weights := make([]float64, 20)
	for i := range weights {
		weights[i] = 0.5 + random.Float64()
	}
	losses := []loss{agreement(source, labels, weights), contradiction(target, contradicted)}
	at := func(x []float64) critic { return critic{mat.NewDense(2, 3, x[:6]), x[6:]} }
	x, gradient := make([]float64, 9), make([]float64, 9)
	for i := range x {
		x[i] = random.NormFloat64()
	}
	objective(at(x), at(gradient), losses)
	want := fd.Gradient(nil, func(x []float64) float64 { return objective(at(x), at(make([]float64, 9)), losses) }, x, &fd.Settings{Formula: fd.Central})
	if floats.Distance(gradient, want, math.Inf(1)) > 1e-6 {
		t.Errorf("gradient %v, want %v", gradient, want)
	}
	// -ln(1 - e²/(e² + 1)) and its derivatives.
	z := []float64{2, 0}
	if got := contradiction(nil, []int{0}).row(0, z); math.Abs(got-math.Log(1+math.Exp(2))) > 1e-12 || math.Abs(z[0]-1/(1+math.Exp(-2))) > 1e-12 {
		t.Errorf("loss %v, gradient %v", got, z)
	}
}

// A feature that the source always has alike says nothing, whatever rounding makes of its mean.
func TestConstantFeature(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	equal := []float64{0.5, 0.5}
	source, labels := classes(random, 300, equal, 0, 0.4)
	target, _ := classes(random, 300, equal, 0, 0.4)
	weights := make([]float64, len(labels))
	floats.AddConst(1, weights)
	with := func(features *mat.Dense, value float64) *mat.Dense {
		var wider mat.Dense
		wider.Augment(features, mat.NewDense(300, 1, slices.Repeat([]float64{value}, 300)))
		return &wider
	}
	s, q := Source{Features: source, Labels: labels, Predicted: nearest(source, 2), Weights: weights}, Target{Features: target, Predicted: nearest(target, 2)}
	want := must.Have(Of(2, s, q))(t)
	s.Features, q.Features = with(source, 0.1), with(target, 0.3)
	if got, err := Of(2, s, q); err != nil || math.Abs(got-want) > 0.02 {
		t.Errorf("%+v, without the feature %+v, %v", got, want, err)
	}
}

func TestWrongInput(t *testing.T) {
	ones := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	valid := func() (int, Source, Target) {
		return 2, Source{Features: mat.NewDense(10, 1, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), Labels: []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, Predicted: make([]int, 10), Weights: append([]float64{}, ones...)},
			Target{Features: mat.NewDense(10, 1, append([]float64{}, ones...)), Predicted: make([]int, 10)}
	}
	must.Have(Of(valid()))(t)
	for want, spoil := range map[string]func(s *Source, t *Target){
		"9 source rows": func(s *Source, _ *Target) {
			*s = Source{Features: mat.NewDense(9, 1, nil), Labels: s.Labels[1:], Predicted: s.Predicted[1:], Weights: s.Weights[1:]}
		},
		"of the target are no numbers, or": func(_ *Source, t *Target) { t.Features.Set(1, 0, math.NaN()) },
		"panic: floor: the parts do not fit 10 source rows of 1 features and 5 target rows of 2": func(_ *Source, t *Target) { t.Features = mat.NewDense(5, 2, ones) },
		"panic: floor: the parts do not fit 10 source rows of 1 features and 10":                 func(s *Source, _ *Target) { s.Labels = s.Labels[1:] },
	} {
		k, s, q := valid()
		spoil(&s, &q)
		must.Fail(t, attempt(k, s, q), want)
	}
}

// attempt returns the error of [Of], or what it panics with.
func attempt(k int, s Source, t Target) (err error) {
	defer func() {
		if said := recover(); said != nil {
			err = fmt.Errorf("panic: %v", said)
		}
	}()
	_, err = Of(k, s, t)
	return err
}

func TestMostRows(t *testing.T) {
	for _, c := range [][3]int{{2, 2, 5000}, {10, 10, 5000}, {65, 65, 2366}, {1000, 1000, fewestRows}} {
		if got := MostRows(c[0], c[1]); got != c[2] {
			t.Errorf("%d features, %d classes: %d rows, want %d", c[0], c[1], got, c[2])
		}
	}
}

// A column that follows the label in the source and is empty in the target: what the classifier says of rows
// without it nobody knows, and its outputs cannot tell. Such rows lie outside, and there is no floor.
func TestOutside(t *testing.T) {
	nothing := math.NaN()
	source := mat.NewDense(4, 4, []float64{
		1, nothing, 0, 5,
		2, nothing, 1, 5,
		3, nothing, nothing, 5,
		4, nothing, 1, 5,
	})
	target := mat.NewDense(7, 4, []float64{
		1, nothing, 0, 5, // as in the source
		nothing, nothing, 0, 5, // never missing there
		2, 7, 0, 5, // always
		2, nothing, nothing, 5, // sometimes
		6.5, nothing, 0, 5, // beyond, but not far
		7.5, nothing, 0, 5,
		1, nothing, 0, 6, // always 5
	})
	if got, want := Outside(source, target), []bool{false, true, true, false, false, true, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Rows that are each there ten times say no more than once if they are said to belong together.
func TestFloorOfGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 24))
	rows, labels := classes(random, 60, []float64{0.5, 0.5}, 0, 0.7)
	others, _ := classes(random, 60, []float64{0.5, 0.5}, 0, 0.7)
	times := func(m *mat.Dense, n int) (again *mat.Dense, groups []int) {
		again = mat.NewDense(60*n, 2, nil)
		for i := range 60 * n {
			again.SetRow(i, m.RawRowView(i/n))
			groups = append(groups, i/n)
		}
		return again, groups
	}
	of := func(n int, grouped bool) float64 {
		s, q := Source{Weights: slices.Repeat([]float64{1}, 60*n)}, Target{}
		s.Features, s.Groups = times(rows, n)
		q.Features, q.Groups = times(others, n)
		if !grouped {
			s.Groups, q.Groups = nil, nil
		}
		for i := range 60 * n {
			s.Labels = append(s.Labels, labels[i/n])
		}
		s.Predicted, q.Predicted = nearest(s.Features, 2), nearest(q.Features, 2)
		return must.Have(Of(2, s, q))(t)
	}
	once, together, alone := of(1, false), of(10, true), of(10, false)
	if math.Abs(together-once) > 0.03 || alone < once+0.05 {
		t.Errorf("%v once, %v ten times in groups, %v without", once, together, alone)
	}
}

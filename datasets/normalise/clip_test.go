package normalise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"iwda/datasets"
)

// normalColumns are rows of independent normal columns of which change may change values.
func normalColumns(t *testing.T, seed uint64, rows, columns int, change func(i, j int, v *float32)) *datasets.Features {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = float32(random.NormFloat64())
		if change != nil {
			change(i/columns, i%columns, &values[i])
		}
	}
	return vectors(t, columns, values...)
}

func TestRanges(t *testing.T) {
	const rows, columns = 1500, 4
	plain := normalColumns(t, 1, rows, columns, nil)
	column0 := func(change func(i int, v *float32)) func(i, j int, v *float32) {
		return func(i, j int, v *float32) {
			if j == 0 {
				change(i, v)
			}
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	sparse := func(share float64) func(i int, v *float32) {
		return func(_ int, v *float32) {
			if *v = abs(*v); random.Float64() > share {
				*v = 0
			}
		}
	}
	for name, test := range map[string]struct {
		change func(i int, v *float32)
		far    int // rows whose value is far from the others; -1 where the column stays as it is
	}{
		"one wild row":           {func(i int, v *float32) { *v *= float32(map[bool]float64{true: 1e8, false: 1}[i == 7]) }, 1},
		"marks":                  {func(i int, v *float32) { *v = map[bool]float32{true: -999, false: *v}[i%20 == 3] }, 75},
		"long tail":              {func(_ int, v *float32) { *v = float32(math.Exp(3 * float64(*v))) }, 100},
		"normal":                 {func(int, *float32) {}, -1},
		"rare indicator":         {func(i int, v *float32) { *v = map[bool]float32{true: 1}[i%50 == 0] }, -1},
		"indicator":              {func(i int, v *float32) { *v = map[bool]float32{true: 1}[i%7 == 0] }, -1},
		"mostly zeros":           {sparse(0.1), -1},
		"cubes of units at rest": {func(_ int, v *float32) { *v = float32(math.Pow(float64(max(*v-0.2, 0)), 3)) }, -1},
		"half zeros":             {sparse(0.4), -1},
		"zeros and a mark":       {func(i int, v *float32) { sparse(0.15)(i, v); *v = map[bool]float32{true: 1e5, false: *v}[i == 9] }, 1},
		"constant":               {func(_ int, v *float32) { *v = 3 }, -1},
		"at the far end":         {func(i int, v *float32) { *v = map[bool]float32{true: math.MaxFloat32, false: *v}[i == 7] }, 1},
		"both far ends":          {func(i int, v *float32) { *v = map[int]float32{7: math.MaxFloat32, 8: -math.MaxFloat32}[i] + *v }, 2},
	} {
		odd := normalColumns(t, 2, rows, columns, column0(test.change))
		for _, swapped := range []bool{false, true} {
			source, target := datasets.Set(plain), datasets.Set(odd)
			if swapped {
				source, target = target, source
			}
			ofPlain, ofOdd, found := Ranges(source, target, 2)
			if swapped {
				ofPlain, ofOdd = ofOdd, ofPlain
			}
			if test.far < 0 {
				if found != nil || ofPlain.Low != nil || ofOdd.Low != nil {
					t.Errorf("%s: columns %v, ranges %v and %v", name, found, ofPlain, ofOdd)
				}
				continue
			}
			if !slices.Equal(found, []int{0}) {
				t.Errorf("%s: columns %v", name, found)
				continue
			}
			if ofPlain.High[1] != math.MaxFloat32 || ofOdd.Low[3] != -math.MaxFloat32 {
				t.Errorf("%s: other columns are bounded by %v and %v", name, ofPlain, ofOdd)
			}
			// The other domain's column is bounded as well, at two of its own deviations.
			if low, high := float64(ofPlain.Low[0]), float64(ofPlain.High[0]); math.Abs(low+2) > 0.15 || math.Abs(high-2) > 0.15 {
				t.Errorf("%s: the other domain's column is bounded by %v and %v", name, low, high)
			}
			s := StatisticsOf(Clipped(odd, ofOdd))
			clipped, deviation := 0, float64(s.Deviation[0])
			for i, row := range rowsOf(t, Clipped(odd, ofOdd)) {
				if v := rowsOf(t, datasets.Subset(odd, []int{i}))[0]; v[0] != row[0] {
					clipped++
				} else if !slices.Equal(v[1:], row[1:]) {
					t.Fatalf("%s: row %d is %v, was %v", name, i, row, v)
				}
			}
			if clipped < test.far {
				t.Errorf("%s: %d values are clipped, want at least %d", name, clipped, test.far)
			}
			// A fixed point, to the 5% within which it is sought. Two deviations would leave nothing
			// of a column with as many zeros.
			want := 2.0
			if name == "zeros and a mark" {
				want = 3
			}
			if got := (float64(ofOdd.High[0]) - float64(ofOdd.Low[0])) / 2 / deviation; got < want*0.999 || got > want*1.06 {
				t.Errorf("%s: bounded at %v deviations, want %v", name, got, want)
			}
		}
	}
}

// A wild row counts that is not among the rows on which the fixed points are found: of
// 150,001, these leave out the rows 2, 5, 8 and so on.
// A value of the target may lie outside of the source's by once their width; what lies further, as a later date does,
// counts as there. The source's own rows, and other ways to normalise, are as they were.
func TestWithin(t *testing.T) {
	source := vectors(t, 2, 0, 10, 2, 20, 4, 30)
	target := vectors(t, 2, 6, 1000, 9, -1000, 1, 15)
	n, err := Fit(Settings{Way: OfSource, Within: 1}, source, target)
	if err != nil || !slices.Equal(n.Target.Low, []float32{-4, -10}) || !slices.Equal(n.Target.High, []float32{8, 50}) || n.Source != nil {
		t.Fatalf("%+v, %v", n, err)
	}
	plain, err := Fit(Settings{Way: OfSource}, source, target)
	if err != nil || !slices.Equal(Values(n.OnSource(source)).RawMatrix().Data, Values(plain.OnSource(source)).RawMatrix().Data) {
		t.Errorf("the source's rows: %v", err)
	}
	want := Values(plain.OnTarget(vectors(t, 2, 6, 50, 8, -10, 1, 15))).RawMatrix().Data
	if got := Values(n.OnTarget(target)).RawMatrix().Data; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if own, err := Fit(Settings{Way: Standard, Within: 1}, source, target); err != nil || own.Target.Low != nil {
		t.Errorf("%+v, %v", own, err)
	}
}

func TestRangesOfManyRows(t *testing.T) {
	const rows = 150_001
	plain := normalColumns(t, 1, rows, 1, nil)
	odd := normalColumns(t, 2, rows, 1, func(i, _ int, v *float32) {
		if i == 2 {
			*v = 1e6
		}
	})
	_, of, columns := Ranges(plain, odd, 2)
	if !slices.Equal(columns, []int{0}) || math.Abs(float64(of.High[0])-2) > 0.2 {
		t.Errorf("columns %v, range %v", columns, of)
	}
}

func abs(v float32) float32 { return max(v, -v) }

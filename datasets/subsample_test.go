package datasets_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/internal/must"
)

func newRandom(seed int64) *rand.Rand { return rand.New(datasets.Stream(seed, "test")) }

// counted returns a set of one-pixel rows with the given number of rows a class,
// the classes interleaved.
func counted(t testing.TB, name string, counts []int) *datasets.Images {
	t.Helper()
	var names []string
	var labels []int
	for c := range counts {
		names = append(names, fmt.Sprint(c))
	}
	for round := 0; len(labels) < total(counts); round++ {
		for c, n := range counts {
			if round < n {
				labels = append(labels, c)
			}
		}
	}
	set := newImages(t, name, []int{1}, names, make([]byte, len(labels)), datasets.KnownLabels(labels))
	return set
}

func total(counts []int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

func TestHalfFractions(t *testing.T) {
	if got, want := datasets.HalfFractions(5, 0.3), []float64{0.3, 0.3, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("five classes: %v, want %v", got, want)
	}
	if got, want := datasets.HalfFractions(4, 0.25), []float64{0.25, 0.25, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("four classes: %v, want %v", got, want)
	}
}

// TestSubsampleFloors has products of float64 on both sides of the integer that
// the decimal numbers give.
func TestSubsampleFloors(t *testing.T) {
	for _, test := range []struct {
		fraction float64
		n, want  int
	}{
		{0.3, 10, 3}, {0.3, 9, 2}, {0.3, 1194, 358}, {0.3, 5923, 1776},
		{0.29, 100, 29},   // 28.999999999999996 in float64
		{0.57, 100, 57},   // 56.99999999999999
		{0.07, 100, 7},    // 7.000000000000001
		{0.0001, 9999, 0}, // just below 1
		{1, 17, 17}, {0, 17, 0},
	} {
		subset := must.Have(datasets.Subsample(counted(t, "one", []int{test.n}), []float64{test.fraction}, newRandom(1)))(t)
		if subset.Len() != test.want {
			t.Errorf("%v of %d rows are %d, want %d", test.fraction, test.n, subset.Len(), test.want)
		}
	}
}

func TestSubsampleRejectsFractions(t *testing.T) {
	for _, fraction := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := datasets.Subsample(counted(t, "one", []int{3}), []float64{fraction}, newRandom(1)); err == nil {
			t.Errorf("fraction %v: no error", fraction)
		}
	}
}

// TestSubsampleIsUniform draws 3 of 6 rows of one class many times: each row must
// be kept half of the time, and never twice.
func TestSubsampleIsUniform(t *testing.T) {
	const draws = 4000
	pixels := []byte{0, 1, 2, 3, 4, 5, 6}
	set := newImages(t, "rows", []int{1}, []string{"a", "b"}, pixels, datasets.KnownLabels([]int{0, 0, 1, 0, 0, 0, 0}))
	var kept [7]int
	value := make([]float32, 1)
	for seed := range int64(draws) {
		subset := must.Have(datasets.Subsample(set, []float64{0.5, 1}, newRandom(seed)))(t)
		last := -1
		for i := range subset.Len() {
			subset.CopyRow(value, i)
			row := int(math.Round(float64(value[0]+1) / 2 * 255))
			if row <= last {
				t.Fatalf("seed %d: row %d after row %d", seed, row, last)
			}
			last = row
			kept[row]++
		}
	}
	for row, n := range kept {
		if row == 2 {
			if n != draws {
				t.Errorf("the only row of its class kept %d times of %d", n, draws)
			}
			continue
		}
		// Five standard deviations of a binomial.
		if math.Abs(float64(n)-draws/2) > 5*math.Sqrt(draws)/2 {
			t.Errorf("row %d kept %d times of %d, want half", row, n, draws)
		}
	}
}

// TestPaperLabelShift compares subsampled USPS → MNIST with the paper's JSD,
// 0.02745, and with the true class weights D_T(y)/D_S(y), computed by hand.
func TestPaperLabelShift(t *testing.T) {
	data := must.Have(catalogue.Find("digits"))(t)
	source := counted(t, "usps", data.Domains[1].Train)
	target := counted(t, "mnist", data.Domains[0].Train)
	source2 := must.Have(datasets.Subsample(source, datasets.HalfFractions(10, 0.3), newRandom(1)))(t)
	if got, want := datasets.Counts(source2), []int{358, 301, 219, 197, 195, 556, 664, 645, 542, 644}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
	p, q := datasets.LabelsOf(source2).Shares(len(source2.ClassNames())), datasets.LabelsOf(target).Shares(len(target.ClassNames()))
	if got := datasets.JSD(p, q); math.Abs(got-0.02745) > 5e-6 {
		t.Errorf("JSD %.6f, want 0.02745", got)
	}
	// (5923/60000)/(358/4321) and so on.
	for c, want := range []float64{1.1915, 1.6131, 1.9592, 2.2413, 2.1575, 0.7022, 0.6419, 0.6995, 0.7774, 0.6653} {
		if got := q[c] / p[c]; math.Abs(got-want) > 5e-5 {
			t.Errorf("weight of class %d: %.5f, want %.4f", c, got, want)
		}
	}
}

func TestJSDProperties(t *testing.T) {
	p, q := []float64{0.5, 0.5, 0}, []float64{0, 0, 1}
	if got := datasets.JSD(p, p); got != 0 {
		t.Errorf("of equal distributions: %v, want 0", got)
	}
	if got := datasets.JSD(p, q); math.Abs(got-math.Ln2) > 1e-15 {
		t.Errorf("of disjoint distributions: %v, want ln 2", got)
	}
	// KL((1,0), (3/4,1/4))/2 + KL((1/2,1/2), (3/4,1/4))/2
	want := math.Log(4.0/3)/2 + (math.Log(2.0/3)+math.Log(2))/4
	if got := datasets.JSD([]float64{1, 0}, []float64{0.5, 0.5}); math.Abs(got-want) > 1e-15 {
		t.Errorf("of (1, 0) and (1/2, 1/2): %v, want %v", got, want)
	}
}

func ExampleSubsample() {
	set, err := datasets.DrawGlyphs("clean", "train", 10, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	random := rand.New(datasets.Stream(1, "subsample"))
	source, err := datasets.Subsample(set, datasets.HalfFractions(10, 0.3), random)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(datasets.Counts(source))
	fmt.Printf("JSD %.4f\n", datasets.JSD(datasets.LabelsOf(source).Shares(len(source.ClassNames())), datasets.LabelsOf(set).Shares(len(set.ClassNames()))))
	// Output:
	// [3 3 3 3 3 10 10 10 10 10]
	// JSD 0.0398
}

func TestSubsampleRowsKeepsWhatSubsampleKeeps(t *testing.T) {
	labels := []int{0, 1, 0, 2, 1, 0, 0, 2, 1, 1, 0, 0, 0, 0, 0}
	fractions := []float64{0.3, 0.5, 1}
	set := newImages(t, "rows", []int{1}, []string{"a", "b", "c"}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, datasets.KnownLabels(labels))
	subset := must.Have(datasets.Subsample(set, fractions, rand.New(datasets.Stream(3, "subsample"))))(t)
	rows := must.Have(datasets.SubsampleRows(datasets.KnownLabels(labels), fractions, rand.New(datasets.Stream(3, "subsample"))))(t)
	if len(rows) != 6 || subset.Len() != 6 { // floor(0.3·9), floor(0.5·4), 2
		t.Fatalf("%d rows and %d images, want 6", len(rows), subset.Len())
	}
	got, want := make([]float32, 1), make([]float32, 1)
	for i, row := range rows {
		subset.CopyRow(got, i)
		set.CopyRow(want, row)
		if got[0] != want[0] {
			t.Errorf("row %d of the subset is not row %d", i, row)
		}
	}
	if _, err := datasets.SubsampleRows(datasets.KnownLabels(labels), []float64{0.3, -1, 1}, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("no error for a negative fraction")
	}
}

func TestHoldOutRows(t *testing.T) {
	var labels datasets.Labels
	for row := range 119 { // 100 of class 0, 9 of class 1, 1 of class 2, none of class 3
		switch {
		case row < 100:
			labels.Add(0, true)
		case row < 109:
			labels.Add(1, true)
		case row == 109:
			labels.Add(2, true)
		default:
			labels.Add(0, false)
		}
	}
	draw := func(seed int64) (kept, held []int) {
		return datasets.HoldOutRows(labels, 4, 0.29, nil, rand.New(datasets.Stream(seed, "held out")))
	}
	kept, held := draw(1)
	if got := labels.Subset(held).Counts(4); !slices.Equal(got, []int{29, 2, 0, 0}) {
		t.Errorf("%v rows of each class are held out, want 29, 2, 0, 0", got)
	}
	all := slices.Concat(kept, held)
	slices.Sort(all)
	for i, row := range all {
		if row != i {
			t.Fatalf("%d rows, not each once: %v", len(all), all)
		}
	}
	if len(all) != labels.Len() || !slices.IsSorted(kept) || !slices.IsSorted(held) {
		t.Errorf("kept %v, held %v", kept, held)
	}
	_, again := draw(1)
	_, other := draw(2)
	if !slices.Equal(again, held) || slices.Equal(other, held) {
		t.Error("the rows do not follow from the seed")
	}
	if _, held := datasets.HoldOutRows(labels, 4, 0.001, nil, rand.New(datasets.Stream(1, "held out"))); !slices.Equal(labels.Subset(held).Counts(4), []int{1, 1, 0, 0}) {
		t.Errorf("of a small share, %v", held)
	}
	if kept, _ := datasets.HoldOutRows(labels, 4, 0.999, nil, rand.New(datasets.Stream(1, "held out"))); !slices.Equal(labels.Subset(kept).Counts(4), []int{1, 1, 1, 0}) {
		t.Errorf("of a large share, %v are kept", kept)
	}
}

// Groups are held out whole, of each class about the share, and never the last group of a class.
func TestHoldOutGroups(t *testing.T) {
	var classes, groups []int
	for group := range 40 {
		for range 1 + group%7 {
			classes, groups = append(classes, group%4/3), append(groups, 100+group)
		}
	}
	for i, group := range []int{1, 1, 2, 2, 3} { // a class of two groups, and one of a single group
		classes, groups = append(classes, []int{2, 2, 2, 2, 3}[i]), append(groups, group)
	}
	labels := datasets.KnownLabels(classes)
	all := labels.Counts(4)
	for seed := range int64(20) {
		kept, held := datasets.HoldOutRows(labels, 4, 0.2, groups, rand.New(datasets.Stream(seed, "held out")))
		if len(kept)+len(held) != len(classes) {
			t.Fatalf("%d rows kept and %d held out of %d", len(kept), len(held), len(classes))
		}
		of := map[int]bool{}
		for _, row := range held {
			of[groups[row]] = true
		}
		for _, row := range kept {
			if of[groups[row]] {
				t.Fatalf("group %d is on both sides", groups[row])
			}
		}
		counts := labels.Subset(held).Counts(4)
		for class, n := range counts[:2] {
			if share := float64(n) / float64(all[class]); n < datasets.HeldOut(0.2, all[class]) || share > 0.45 {
				t.Errorf("%d of %d rows of class %d are held out", n, all[class], class)
			}
		}
		if counts[2] != 2 || counts[3] != 0 {
			t.Errorf("%v rows are held out", counts)
		}
	}
}

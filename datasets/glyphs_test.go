package datasets_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/internal/must"
)

func drawGlyphs(t testing.TB, domain, split string, perClass int, seed int64) *datasets.Images {
	t.Helper()
	return must.Have(datasets.DrawGlyphs(domain, split, perClass, seed))(t)
}

// meanImage is the mean of the images of a class, or of all where class is -1.
func meanImage(set *datasets.Images, class int) []float64 {
	mean := make([]float64, 784)
	n := 0.0
	for i := range set.Len() {
		if class >= 0 && classOf(set, i) != class {
			continue
		}
		n++
		for j, x := range set.Pixels(i) {
			mean[j] += float64(x)
		}
	}
	for j := range mean {
		mean[j] /= n
	}
	return mean
}

func squaredDistance(mean []float64, pixels []byte) float64 {
	sum := 0.0
	for j, x := range pixels {
		d := float64(x) - mean[j]
		sum += d * d
	}
	return sum
}

// nearestMean is the share of a set's images whose nearest class mean, in another
// set, is that of their own class.
func nearestMean(train, test *datasets.Images) float64 {
	var means [10][]float64
	for class := range means {
		means[class] = meanImage(train, class)
	}
	right := 0
	for i := range test.Len() {
		best, bestDistance := -1, 0.0
		for class, mean := range means {
			if d := squaredDistance(mean, test.Pixels(i)); best < 0 || d < bestDistance {
				best, bestDistance = class, d
			}
		}
		if best == classOf(test, i) {
			right++
		}
	}
	return float64(right) / float64(test.Len())
}

func TestDrawGlyphsFollowsFromItsArguments(t *testing.T) {
	first := drawGlyphs(t, "warped", "train", 3, 1)
	same := drawGlyphs(t, "warped", "train", 3, 1)
	for i := range first.Len() {
		if !bytes.Equal(first.Pixels(i), same.Pixels(i)) {
			t.Fatalf("image %d differs between two drawings of the same arguments", i)
		}
	}
	for _, other := range []*datasets.Images{
		drawGlyphs(t, "warped", "train", 3, 2), drawGlyphs(t, "warped", "test", 3, 1), drawGlyphs(t, "clean", "train", 3, 1),
	} {
		for i := range first.Len() {
			if bytes.Equal(first.Pixels(i), other.Pixels(i)) {
				t.Errorf("image %d is the same in another drawing, of %s", i, other.Name())
			}
		}
	}
}

// TestDrawGlyphsClasses classifies by the nearest class mean: images show their
// class, in each domain, and the domains differ enough for the means of one to
// fail on the other.
func TestDrawGlyphsClasses(t *testing.T) {
	sets := map[string]*datasets.Images{}
	for _, domain := range []string{"clean", "warped"} {
		for _, split := range []string{"train", "test"} {
			sets[domain+"-"+split] = drawGlyphs(t, domain, split, 40, 1)
		}
	}
	for name, set := range sets {
		if set.Name() != name || fmt.Sprint(set.Shape()) != "[1 28 28]" {
			t.Errorf("%s has the name %s and the shape %v", name, set.Name(), set.Shape())
		}
		if counts := datasets.Counts(set); slices.Min(counts) != 40 || slices.Max(counts) != 40 {
			t.Errorf("%s: %v images a class, want 40 of each", name, counts)
		}
	}
	for _, domain := range []string{"clean", "warped"} {
		if got := nearestMean(sets[domain+"-train"], sets[domain+"-test"]); got < 0.6 {
			t.Errorf("%s: %.2f of the images lie nearest to their class's mean, want most", domain, got)
		}
	}
	if got := nearestMean(sets["clean-train"], sets["warped-test"]); got > 0.4 {
		t.Errorf("%.2f of the warped images lie nearest to their class's clean mean: no shift", got)
	}
}

// TestDrawGlyphsDrawsTheLabel counts the holes of digits whose number does not
// depend on the font.
func TestDrawGlyphsDrawsTheLabel(t *testing.T) {
	want := map[int]int{1: 0, 2: 0, 3: 0, 5: 0, 6: 1, 7: 0, 8: 2, 9: 1}
	set := drawGlyphs(t, "clean", "train", 50, 1)
	var right [10]int
	for i := range set.Len() {
		if holes(set.Pixels(i)) == want[classOf(set, i)] {
			right[classOf(set, i)]++
		}
	}
	for digit, n := range want {
		if right[digit] < 40 {
			t.Errorf("%d of 50 images of the digit %d have %d holes, want most", right[digit], digit, n)
		}
	}
}

// holes is the number of dark regions that ink encloses.
func holes(pixels []byte) int {
	var seen [784]bool
	var fill func(i int)
	fill = func(i int) {
		if seen[i] || pixels[i] > 60 {
			return
		}
		seen[i] = true
		if i%28 > 0 {
			fill(i - 1)
		}
		if i%28 < 27 {
			fill(i + 1)
		}
		if i >= 28 {
			fill(i - 28)
		}
		if i < 27*28 {
			fill(i + 28)
		}
	}
	regions := 0
	for i, x := range pixels {
		if !seen[i] && x <= 60 {
			fill(i)
			regions++
		}
	}
	return regions - 1
}

// TestDrawGlyphsIsUpright: the digit 7 has little ink in its lower right quarter,
// which a mirror image has not.
func TestDrawGlyphsIsUpright(t *testing.T) {
	mean := meanImage(drawGlyphs(t, "clean", "train", 50, 1), 7)
	var quarters [2][2]float64 // upper and lower, left and right
	for i, x := range mean {
		quarters[i/(14*28)][i%28/14] += x
	}
	lowerRight := quarters[1][1]
	if quarters[0][1] < 2*lowerRight || quarters[1][0] < 2*lowerRight {
		t.Errorf("ink by quarters %.0f, want the last well below the second and third", quarters)
	}
}

// TestDrawGlyphsIsInsideTheFrame looks for ink at the border of clean images, whose
// background is black.
func TestDrawGlyphsIsInsideTheFrame(t *testing.T) {
	set := drawGlyphs(t, "clean", "train", 50, 1)
	for i := range set.Len() {
		pixels := set.Pixels(i)
		if slices.Max(pixels) < 150 {
			t.Errorf("image %d, a %d, is empty", i, classOf(set, i))
		}
		for j := range 28 {
			if pixels[j]|pixels[27*28+j]|pixels[28*j]|pixels[28*j+27] != 0 {
				t.Errorf("image %d, a %d, touches the border", i, classOf(set, i))
				break
			}
		}
	}
}

func TestDrawGlyphsUnknownDomain(t *testing.T) {
	must.Refuse(datasets.DrawGlyphs("dirty", "train", 1, 1))(t, `"dirty"`, "clean or warped")
}

func ExampleDrawGlyphs() {
	set, err := datasets.DrawGlyphs("warped", "test", 100, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	class, _ := set.Label(13)
	fmt.Println(set.Name(), set.Len(), set.Shape(), class)
	// Output: warped-test 1000 [1 28 28] 3
}

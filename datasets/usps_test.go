package datasets_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// uspsLine is a line of a digit whose feature i is value(i).
func uspsLine(digit int, value func(i int) float64) string {
	var line strings.Builder
	fmt.Fprint(&line, digit+1)
	for i := range 256 {
		fmt.Fprintf(&line, " %d:%v", i+1, value(i))
	}
	return line.String() + "\n"
}

func constant(v float64) func(int) float64 { return func(int) float64 { return v } }

func TestReadUSPSValues(t *testing.T) {
	text := uspsLine(0, constant(-1)) + uspsLine(9, constant(1)) + uspsLine(3, constant(-0.948)) + "5\n"
	set := must.Have(datasets.ReadUSPS(strings.NewReader(text), "usps"))(t)
	if set.Len() != 4 || fmt.Sprint(set.Shape()) != "[1 28 28]" || len(set.ClassNames()) != 10 {
		t.Fatalf("%d images of shape %v, %d classes", set.Len(), set.Shape(), len(set.ClassNames()))
	}
	// (-0.948+1)/2·255 = 6.63; a feature left out is 0: 127.5, rounded up.
	for i, want := range []struct {
		label int
		pixel byte
	}{{0, 0}, {9, 255}, {3, 7}, {4, 128}} {
		if classOf(set, i) != want.label {
			t.Errorf("label of row %d is %d, want %d", i, classOf(set, i), want.label)
		}
		for j, x := range set.Pixels(i) {
			if x != want.pixel {
				t.Fatalf("pixel %d of row %d is %d, want %d", j, i, x, want.pixel)
			}
		}
	}
}

// TestReadUSPSOrientation enlarges an image that is dark but for its upper right
// corner: features run along rows, from the top.
func TestReadUSPSOrientation(t *testing.T) {
	text := uspsLine(7, func(i int) float64 {
		if i == 15 {
			return 1
		}
		return -1
	})
	set := must.Have(datasets.ReadUSPS(strings.NewReader(text), "usps"))(t)
	pixels := set.Pixels(0)
	if pixels[27] != 255 || pixels[0] != 0 || pixels[27*28] != 0 || pixels[27*28+27] != 0 {
		t.Errorf("corners %d %d %d %d, want 0 255 0 0", pixels[0], pixels[27], pixels[27*28], pixels[27*28+27])
	}
}

func TestReadUSPSCompressed(t *testing.T) {
	plain := []byte("1 1:1\n10 256:-1\n")
	for name, file := range map[string][]byte{"plain": plain, "gzip": testfiles.Gzip(t, plain), "bzip2": bzip2OfTwoDigits(t)} {
		set := must.Have(datasets.ReadUSPS(bytes.NewReader(file), name))(t)
		if set.Len() != 2 || classOf(set, 0) != 0 || classOf(set, 1) != 9 {
			t.Fatalf("%s: %d rows, want the digits 0 and 9", name, set.Len())
		}
		if first, last := set.Pixels(0), set.Pixels(1); first[0] != 255 || last[783] != 0 || last[0] != 128 {
			t.Errorf("%s: corners %d %d %d, want 255 0 128", name, first[0], last[783], last[0])
		}
	}
}

func TestReadUSPSRejects(t *testing.T) {
	good := uspsLine(1, constant(0.5))
	for name, test := range map[string]struct{ text, want string }{
		"empty file":        {"", "the-file: no lines"},
		"label 0":           {good + "0 1:0\n", `the-file:2: label "0", want 1 to 10`},
		"label 11":          {"11 1:0\n", `the-file:1: label "11", want 1 to 10`},
		"label 1.5":         {"1.5 1:0\n", `label "1.5"`},
		"empty line":        {good + "\n" + good, "the-file:2: empty line"},
		"no colon":          {"1 1\n", `feature "1", want index:value`},
		"index 0":           {"1 0:0\n", `index "0" after 0`},
		"index 257":         {"1 257:0\n", `index "257" after 0`},
		"index twice":       {"1 3:0 3:0\n", `index "3" after 3`},
		"descending":        {"1 3:0 2:0\n", `index "2" after 3`},
		"value above 1":     {"1 3:1.01\n", `value "1.01" of index 3, want a number from -1 to 1`},
		"value below -1":    {"1 3:-1.01\n", `value "-1.01"`},
		"not a number":      {"1 3:NaN\n", `value "NaN"`},
		"infinite":          {"1 3:+Inf\n", `value "+Inf"`},
		"no value":          {"1 3:\n", `value ""`},
		"line without end":  {good + strings.Repeat("1", 1<<17), "the-file:2: line longer"},
		"bzip2 that is cut": {string(bzip2OfTwoDigits(t)[:30]), "the-file:1: "},
	} {
		t.Run(name, func(t *testing.T) {
			must.Refuse(datasets.ReadUSPS(strings.NewReader(test.text), "the-file"))(t, test.want)
		})
	}
}

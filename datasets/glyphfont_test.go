package datasets

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansmonobold"
	"github.com/go-fonts/dejavu/dejavuserif"
	"github.com/go-fonts/dejavu/dejavuserifbolditalic"
	"github.com/go-fonts/latin-modern/lmmono10regular"
	"github.com/go-fonts/latin-modern/lmroman10regular"
	"github.com/go-fonts/latin-modern/lmsans10regular"
	"github.com/go-fonts/liberation/liberationmonoitalic"
	"github.com/go-fonts/liberation/liberationsansregular"
	"github.com/go-fonts/liberation/liberationserifbolditalic"
	"github.com/go-fonts/liberation/liberationserifregular"
	"github.com/go-fonts/stix/stix2textregular"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

var update = flag.Bool("update", false, "write glyphs.json anew")

// The program has the digits alone: the fonts are 5 MB.
func TestGlyphsAreThoseOfTheFonts(t *testing.T) {
	fonts := map[string][]byte{
		"dejavusans": dejavusans.TTF, "dejavusansmonobold": dejavusansmonobold.TTF, "dejavuserif": dejavuserif.TTF,
		"dejavuserifbolditalic": dejavuserifbolditalic.TTF, "gomonobolditalic": gomonobolditalic.TTF, "goregular": goregular.TTF,
		"liberationmonoitalic": liberationmonoitalic.TTF, "liberationsansregular": liberationsansregular.TTF,
		"liberationserifbolditalic": liberationserifbolditalic.TTF, "liberationserifregular": liberationserifregular.TTF,
		"lmmono10regular": lmmono10regular.TTF, "lmroman10regular": lmroman10regular.TTF, "lmsans10regular": lmsans10regular.TTF,
		"stix2textregular": stix2textregular.TTF,
	}
	var text bytes.Buffer
	between := "{\n"
	for _, name := range slices.Sorted(maps.Keys(fonts)) {
		digits := must.Have(json.Marshal(digitsOf(t, fonts[name])))(t)
		text.WriteString(between + `"` + name + `":` + string(digits))
		between = ",\n"
	}
	text.WriteString("\n}\n")
	if *update {
		testfiles.Write(t, "glyphs.json", text.String())
		return
	}
	if !bytes.Equal(text.Bytes(), glyphsText) {
		t.Error("glyphs.json has not the digits of the fonts; go test -run TestGlyphsAreThoseOfTheFonts -update writes it")
	}
	for domain, style := range glyphStyles {
		for _, name := range style.fonts {
			if fonts[name] == nil {
				t.Errorf("domain %s has no font %s", domain, name)
			}
		}
	}
}

// digitsOf returns the digits of a TrueType or OpenType font.
func digitsOf(t *testing.T, source []byte) (digits [10]contours) {
	font := must.Have(sfnt.Parse(source))(t)
	points := map[sfnt.SegmentOp]int{sfnt.SegmentOpMoveTo: 1, sfnt.SegmentOpLineTo: 1, sfnt.SegmentOpQuadTo: 2, sfnt.SegmentOpCubeTo: 3}
	for digit := range digits {
		index, err := font.GlyphIndex(nil, rune('0'+digit))
		if err != nil || index == 0 {
			t.Fatal(digit, index, err)
		}
		segments := must.Have(font.LoadGlyph(new(sfnt.Buffer), index, fixed.I(int(font.UnitsPerEm())), nil))(t)
		for _, segment := range segments {
			if segment.Op == sfnt.SegmentOpMoveTo {
				digits[digit] = append(digits[digit], nil)
			}
			var values []int
			for _, p := range segment.Args[:points[segment.Op]] {
				values = append(values, int(p.X), int(p.Y))
			}
			contour := &digits[digit][len(digits[digit])-1]
			*contour = append(*contour, values)
		}
	}
	return digits
}

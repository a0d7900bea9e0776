package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// checkXML fails the test unless all elements are closed.
func checkXML(t *testing.T, text string) {
	t.Helper()
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
}

// Bars are as long as their shares, and whiskers reach over the interval.
func TestBars(t *testing.T) {
	s := Shares{Source: 0.1, Target: 0.2, Interval: &[2]float64{0.15, 0.4}, Predicted: 0.25}
	if most := s.Most(); most != 0.4 {
		t.Errorf("most %v", most)
	}
	text := string(s.Bars(0.4))
	checkXML(t, text)
	for _, part := range []string{`fill source" x="0" y="1" width="25.00%"`, `fill target" x="0" y="12" width="50.00%"`, `fill predicted" x="0" y="23" width="62.50%"`, `x1="37.50%" x2="100.00%"`} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
	s.Interval = nil
	if text := string(s.Bars(0.4)); strings.Contains(text, "whisker") {
		t.Errorf("an interval of nothing: %s", text)
	}
}

// A bin stands at its confidence and accuracy; what few rows say is left out.
func TestReliability(t *testing.T) {
	before := []Bin{{}, {Rows: 10, Confidence: 0.75, Accuracy: 0.5}}
	after := []Bin{{Rows: 9, Confidence: 0.25, Accuracy: 0.25}, {Rows: 20, Confidence: 0.5, Accuracy: 0.5, Low: 0.25, High: 1}}
	text := string(Reliability("title", "text", before, after))
	checkXML(t, text)
	at := func(share float64) string { return strconv.FormatFloat(x(share), 'f', 1, 64) }
	for part, want := range map[string]int{
		`<circle`: 1, `<circle class="after" cx="` + at(0.5): 1, `class="interval"`: 1, `<rect class="before"`: 1, `class="count"`: 2,
		`x1="` + at(0.5) + `" x2="` + at(0.5) + `" y1="190.0" y2="10.0"`: 1,
	} {
		if n := strings.Count(text, part); n != want {
			t.Errorf("%d times %q in %s", n, part, text)
		}
	}
	if y(0.25) != 190 || y(1) != 10 {
		t.Errorf("the axis has other places: %v, %v", y(0.25), y(1))
	}
}

func TestHistogram(t *testing.T) {
	shares := []float64{0, 0.25, 0, 0.75}
	text := string(Histogram("title", "text", "target", shares, Top(shares)))
	checkXML(t, text)
	if n := strings.Count(text, `<rect class="fill target"`); n != 2 {
		t.Errorf("%d bars", n)
	}
	for most, want := range map[float64]float64{0.01: 0.04, 0.2: 0.2, 0.21: 0.4, 0.9: 1, 1: 1} {
		if got := Top([]float64{0, most / 2}, []float64{most}); math.Abs(got-want) > 1e-12 {
			t.Errorf("an axis for %v ends at %v, want %v", most, got, want)
		}
	}
	checkXML(t, string(Key("fill source")+Key("dots square other")))
}

package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
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

func TestTop(t *testing.T) {
	for most, want := range map[float64]float64{0.01: 0.04, 0.2: 0.2, 0.21: 0.4, 0.9: 1, 1: 1} {
		if got := Top([]float64{0, most / 2}, []float64{most}); math.Abs(got-want) > 1e-12 {
			t.Errorf("an axis for %v ends at %v, want %v", most, got, want)
		}
	}
	checkXML(t, string(Key("fill source")))
}

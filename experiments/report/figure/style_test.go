package figure

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"

	"iwda/experiments/config"
)

// All methods of an experiment look different, in grey print too, and so do the settings of one.
func TestStylesDiffer(t *testing.T) {
	methods := append(config.MethodNames(), "mcc@own", "mcc@matched", "iwcdan@own", "iwcdan@matched", "iwcdan@new", "new")
	seen, grey := map[string]string{}, map[string]string{}
	for _, name := range methods {
		s := styleOf(methods, name)
		look, inGrey := fmt.Sprintf("%v %#v", s.color, s.glyph), fmt.Sprintf("%v %#v", s.dash, s.glyph)
		if seen[look] != "" || grey[inGrey] != "" {
			t.Errorf("%s looks like %s, in grey like %s", name, seen[look], grey[inGrey])
		}
		seen[look], grey[inGrey] = name, name
	}
	own, matched := styleOf(methods, "iwcdan@own"), styleOf(methods, "iwcdan@matched")
	if own.color == matched.color || own.glyph == matched.glyph || fmt.Sprint(own.dash) == fmt.Sprint(matched.dash) {
		t.Errorf("own columns and matched ones look alike: %v, %v", own, matched)
	}
}

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		count     int
		smallest  float64
		want      string
	}{
		{0, 12, 8, 1, "0 2 4 6 8 10 12"},
		{0, 1, 8, 1, "0 1"},
		{0, 70, 8, 1, "0 10 20 30 40 50 60 70"},
		{93.2, 94.1, 6, 0, "93.2 93.4 93.6 93.8 94.0"},
		{71, 99.5, 6, 0, "70 80 90 100"},
		{99.99, 100, 6, 0, "99.990 99.992 99.994 99.996 99.998 100.000"},
		{math.Inf(1), math.Inf(-1), 6, 0, "0.0 0.2 0.4 0.6 0.8 1.0"},
	} {
		var axis plot.Axis
		setAxis(&axis, test.low, test.high, test.count, test.smallest, 0, 100)
		if test.low <= test.high && !(axis.Min < test.low && axis.Max > test.high) {
			t.Errorf("%v to %v: no margin in %v to %v", test.low, test.high, axis.Min, axis.Max)
		}
		var labels []string
		for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
			labels = append(labels, tick.Label)
		}
		if diff := cmp.Diff(test.want, strings.Join(labels, " ")); diff != "" {
			t.Errorf("%v to %v:\n%s", test.low, test.high, diff)
		}
	}
}

// The more, the darker, whatever cell it is in.
func TestShade(t *testing.T) {
	for percent, want := range map[float64][3]uint8{-1: {255, 255, 255}, 0: {255, 255, 255}, 50: {128, 185, 217}, 100: {0, 114, 178}, 101: {0, 114, 178}} {
		if got := shade(percent); got.R != want[0] || got.G != want[1] || got.B != want[2] || got.A != 255 {
			t.Errorf("%v: %v, want %v", percent, got, want)
		}
	}
}

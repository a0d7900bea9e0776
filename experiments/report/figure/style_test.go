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

func TestStylesDiffer(t *testing.T) {
	seen, grey := map[string]string{}, map[string]string{}
	inPaper := map[string]bool{}
	for _, name := range strings.Fields("source-only dann iwdan iwdan-o cdan iwcdan iwcdan-o jan iwjan iwjan-o") {
		inPaper[name] = true
	}
	for _, name := range config.MethodNames() {
		s := styleOf(name)
		shape := fmt.Sprintf("%v %#v", s.dash, s.glyph)
		if other, taken := seen[fmt.Sprint(s.color, shape)]; taken {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[fmt.Sprint(s.color, shape)] = name
		if other, taken := grey[shape]; taken && inPaper[name] && inPaper[other] {
			t.Errorf("%s looks like %s in grey", name, other)
		}
		grey[shape] = name
	}
}

// TestStyleOfNewAlignment: an alignment that no list here names has a style of its own,
// unlike those of all methods, with each source of weights.
func TestStyleOfNewAlignment(t *testing.T) {
	taken := map[string]string{}
	for _, name := range config.MethodNames() {
		taken[fmt.Sprintf("%#v", styleOf(name))] = name
	}
	for _, source := range []config.WeightSource{config.NoWeights, config.EstimatedWeights, config.OracleWeights} {
		s := methodStyle(config.Method{Name: "new", Alignment: "new", Weights: source, WeightClassification: true, WeightDomain: true})
		if other, ok := taken[fmt.Sprintf("%#v", s)]; ok {
			t.Errorf("a new alignment with weights %s looks like %s", source, other)
		}
		taken[fmt.Sprintf("%#v", s)] = "new with weights " + string(source)
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

// Methods that differ in their settings alone, as iwcdan@own and iwcdan@matched do, look different, and
// unlike the method with the usual settings.
func TestStylesOfSettings(t *testing.T) {
	for _, method := range []string{"source-only", "mcc", "iwdan", "iwcdan", "iwcdan-o"} {
		seen := map[string]string{}
		for _, of := range []string{"", "@linear", "@forest", "@boosting", "@own", "@matched", "@appendix", "@released", "@two layers"} {
			s := styleOf(method + of)
			look := fmt.Sprintf("%v %v", s.dash, s.glyph)
			if other, taken := seen[look]; taken {
				t.Errorf("%s looks like %s", method+of, method+other)
			}
			seen[look] = of
		}
		own, matched := styleOf(method+"@own"), styleOf(method+"@matched")
		if own.color == matched.color || own.glyph == matched.glyph || fmt.Sprint(own.dash) == fmt.Sprint(matched.dash) {
			t.Errorf("%s: own columns and matched ones look alike: %v, %v", method, own, matched)
		}
	}
}

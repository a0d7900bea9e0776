package report

import (
	"fmt"
	"testing"

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

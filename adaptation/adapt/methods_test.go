package adapt

import (
	"strings"
	"testing"

	"iwda/experiments/config"
)

// What a method assumes follows from its columns, its alignment and its weights.
func TestAssumes(t *testing.T) {
	for method, want := range map[string]string{
		"source-only": "columns mean the same in both domains",
		"mcc":         "columns mean the same in both domains; the target's classes are well separated; class shares are similar",
		"iwcdan@own":  "columns may have moved or been stretched; each class looks the same after alignment; class shares may differ",
	} {
		var run config.Resolved
		run.Method, run.Network.Normalise = method, "source"
		if strings.HasSuffix(method, "@own") {
			run.Network.Normalise = "standard"
		}
		if got := assumes(run); got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
	if got := assumes(config.Resolved{Method: "source-only"}); got != "each class looks the same in both domains" {
		t.Error(got)
	}
}

package schedule

import (
	"slices"
	"strings"
	"testing"
)

// Whatever the number of threads was, in a worker it is the run's; the last entry counts.
func TestEnvironment(t *testing.T) {
	t.Setenv("OMP_NUM_THREADS", "64")
	t.Setenv("OPENBLAS_CORETYPE", "Haswell")
	environment := Environment(3)
	last := func(name string) string {
		for _, entry := range slices.Backward(environment) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
	for _, name := range threadVariables {
		if got := last(name); got != "3" {
			t.Errorf("%s=%s", name, got)
		}
	}
	if got := last("OPENBLAS_CORETYPE"); got != "Haswell" {
		t.Errorf("OPENBLAS_CORETYPE=%s", got)
	}
}

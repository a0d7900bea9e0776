package schedule

import (
	"slices"
	"strings"
	"testing"
)

func TestOpenBLASKernels(t *testing.T) {
	for _, test := range []struct {
		avx512, bfloat16 bool
		want             string
	}{{false, false, ""}, {true, false, "SkylakeX"}, {true, true, "Cooperlake"}} {
		if got := openBLASKernels(test.avx512, test.bfloat16); got != test.want {
			t.Errorf("AVX-512 %v, bfloat16 %v: got %q, want %q", test.avx512, test.bfloat16, got, test.want)
		}
	}
}

// What the user chose stays; the number of threads is the run's.
func TestEnvironment(t *testing.T) {
	t.Setenv(kernelsVariable, "Haswell")
	t.Setenv("OMP_NUM_THREADS", "64")
	environment := Environment(3)
	last := func(name string) string {
		for _, entry := range slices.Backward(environment) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
	if got := last(kernelsVariable); got != "Haswell" {
		t.Errorf("%s=%s", kernelsVariable, got)
	}
	for _, name := range threadVariables {
		if got := last(name); got != "3" {
			t.Errorf("%s=%s", name, got)
		}
	}
}

package doctor

import (
	"errors"
	"strings"
	"testing"

	"iwda/experiments/engine"
)

// The doctor says which models the GPUs are.
func TestPrintNamesGPUs(t *testing.T) {
	for want, models := range map[string][]string{
		"device      cpu; CUDA devices: 0\n":          nil,
		"device      cpu; CUDA devices: 2 (A, B C)\n": {"A", "B C"},
	} {
		var text strings.Builder
		Facts{Device: "cpu", Facts: engine.Facts{CUDADevices: models}}.Print(&text)
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}

func TestWarnings(t *testing.T) {
	healthy := Facts{Jobs: 2, Threads: 2, Usable: 8, Physical: 4}
	if warnings := healthy.warnings(); len(warnings) != 0 {
		t.Errorf("healthy: %q", warnings)
	}
	for want, spoil := range map[string]func(*Facts){
		"need 6 cores, but there are 4": func(f *Facts) { f.Jobs = 3 },
		"but there are 3":               func(f *Facts) { f.Usable = 3 },
		"NVIDIA driver":                 func(f *Facts) { f.Driver = true },
		"no libtorch: it is not there":  func(f *Facts) { f.Driver, f.Missing = true, errors.New("it is not there") },
	} {
		f := healthy
		spoil(&f)
		if warnings := f.warnings(); len(warnings) != 1 || !strings.Contains(warnings[0], want) {
			t.Errorf("%q: %q", want, warnings)
		}
	}
}

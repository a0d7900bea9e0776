package main

import (
	"errors"
	"strings"
	"testing"

	"iwda/experiments/engine"
	"iwda/torch"
)

func TestDoctor(t *testing.T) {
	status, out, err := call(t, "doctor", "-j", "1000", "--threads", "2")
	if status != 0 || err != "" {
		t.Errorf("status %d, stderr %q", status, err)
	}
	for _, part := range []string{"libtorch    " + torch.Version(), "runs        1000 at a time, threads of each: 2", "warning: 1000 runs with 2 threads each need 2000 cores"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
}

// The doctor says which models the GPUs are.
func TestPrintNamesGPUs(t *testing.T) {
	for want, models := range map[string][]string{
		"device      cpu; CUDA devices: 0 []\n":              nil,
		"device      cpu; CUDA devices: 2 [\"A\" \"B C\"]\n": {"A", "B C"},
	} {
		if text := doctorSays(facts{Device: "cpu", Facts: engine.Facts{CUDADevices: models}}); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func doctorSays(f facts) string {
	var text strings.Builder
	f.print(&text)
	return text.String()
}

func TestWarnings(t *testing.T) {
	healthy := facts{Jobs: 2, Threads: 2, Cores: 4}
	if text := doctorSays(healthy); strings.Contains(text, "warning: ") {
		t.Errorf("healthy: %q", text)
	}
	for want, spoil := range map[string]func(*facts){
		"need 6 cores, but there are 4": func(f *facts) { f.Jobs = 3 },
		"but there are 3":               func(f *facts) { f.Cores = 3 },
		"NVIDIA driver":                 func(f *facts) { f.Driver = true },
		"no libtorch: it is not there":  func(f *facts) { f.Driver, f.Missing = true, errors.New("it is not there") },
	} {
		f := healthy
		spoil(&f)
		if text := doctorSays(f); strings.Count(text, "warning: ") != 1 || !strings.Contains(text, want) {
			t.Errorf("%q: %q", want, text)
		}
	}
}

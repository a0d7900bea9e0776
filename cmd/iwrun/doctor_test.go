package main

import (
	"strings"
	"testing"

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

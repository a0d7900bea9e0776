package config

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Configurations are read without libtorch.
func TestNoLibtorch(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "iwda/experiments/config").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, "iwda/experiments/config") {
		t.Fatalf("go list says %q", packages)
	}
	for _, linked := range []string{"iwda/torch", "github.com/wangkuiyi/gotorch"} {
		if slices.Contains(packages, linked) {
			t.Errorf("depends on %s", linked)
		}
	}
}

package names

import (
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// What stands for a file of a finished adaptation is not written, in whatever format; other files beside it are.
func TestCheckApart(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path string) {
		t.Helper()
		testfiles.Write(t, path, "")
	}
	write("out/model/model.json")
	taken := []string{"out/predictions.csv", "out/../out/classes.csv", "out/to_label.csv", "out/outcome.json", "out/model/model.json"}
	for _, path := range taken {
		if err := CheckApart([]string{"", path}, nil); err != nil {
			t.Errorf("%s of what is not finished: %v", path, err)
		}
	}
	write("out/outcome.json")
	for _, path := range taken {
		if err := CheckApart([]string{"", path}, nil); err == nil || !strings.Contains(err.Error(), path+" is a file of the adaptation in ") {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"predictions.csv", "out/more.csv", "out/predictions.npz", "out/runs/new.csv", "-"} {
		if err := CheckApart([]string{path}, nil); err != nil {
			t.Error(err)
		}
	}
}

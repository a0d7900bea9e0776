package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A result says which run it is of, but not where it lies: its names are compared with
// those of the folder and lead to no other.
func TestResultsNameNoOtherFolder(t *testing.T) {
	root := t.TempDir()
	good := sampleResult("iwdan", 1)
	dir := begun(t, root, good.ID)
	for _, id := range []string{"../../../x", "/etc/passwd", "subsampled/usps-mnist/../seed-1", ""} {
		for name, change := range map[string]func(*Result){
			"id": func(r *Result) { r.ID = id },
			"variant": func(r *Result) {
				r.Variant, r.ID = id, ID{Variant: id, Task: r.Task, Method: r.Method, Seed: r.Seed}.String()
			},
			"task": func(r *Result) {
				r.Task, r.ID = id, ID{Variant: r.Variant, Task: id, Method: r.Method, Seed: r.Seed}.String()
			},
			"method": func(r *Result) {
				r.Method, r.ID = id, ID{Variant: r.Variant, Task: r.Task, Method: id, Seed: r.Seed}.String()
			},
		} {
			result := good
			change(&result)
			write(t, dir.Path(ResultFile), string(encoded(t, result)))
			if _, err := dir.ReadResult(); err == nil || !strings.Contains(err.Error(), dir.Path(ResultFile)) {
				t.Errorf("%s %q: error %v", name, id, err)
			}
			if runs, problems := Collect(root, digits); len(runs) != 0 || len(problems) != 1 || problems[0].Path != dir.String() {
				t.Errorf("%s %q: %d runs, problems %v", name, id, len(runs), problems)
			}
		}
	}
	result := good
	result.Experiment = "../" + digits
	write(t, dir.Path(ResultFile), string(encoded(t, result)))
	if _, err := dir.ReadResult(); !errors.Is(err, ErrForeign) {
		t.Errorf("experiment %q: error %v", result.Experiment, err)
	}
	if files, err := filepath.Glob(filepath.Join(root, "*")); err != nil || len(files) != 1 {
		t.Errorf("files %q, error %v", files, err)
	}
}

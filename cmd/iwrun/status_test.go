package main

import (
	"regexp"
	"strings"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// TestStatus sees a run in every state.
func TestStatus(t *testing.T) {
	inFolder(t)
	all := []string{"-c", "tiny.yaml", "--set", "methods=[source-only, dann, iwdan, cdan, jan]"}
	command := func(name string, more ...string) []string { return append(append([]string{name}, all...), more...) }
	want := "tiny: 5 runs: 0 finished, 5 left\n"
	if code, out, err := call(t, command("status")...); code != 0 || err != "" || !strings.HasPrefix(out, want) {
		t.Errorf("status %d, %q, stdout\n%s", code, err, out)
	}

	if code, _, err := call(t, append(all, "--index", "0")...); code != 0 { // source-only
		t.Fatal(err)
	}
	if code, _, err := call(t, append(all, "--only", "*/*/dann/*", "--set", "train.epochs=2")...); code != 0 {
		t.Fatal(err)
	}
	lock := must.Have(tinyDir("iwdan").Lock())(t)
	defer lock.Close()
	must.Do(t, tinyDir("iwdan").WriteMetrics([]store.Metrics{{Epoch: 0}, {Epoch: 1, Step: 10}}))
	testfiles.MakeFolder(t, tinyDir("cdan").String())
	must.Do(t, tinyDir("cdan").WriteFailure("no memory\nof any kind"))

	code, out, text := call(t, command("status")...)
	for _, line := range []string{
		`^tiny: 5 runs: 1 finished, 1 running, 1 failed, 1 left, 1 other$`,
		`^INDEX  RUN +STATE +EPOCH +LAST CHANGE +BY$`,
		`^1 +subsampled/clean-warped/dann/seed-1 +other +2 of 1 +[-0-9]+ [0-9:]+ +pid [0-9]+, .+$`,
		`^2 +subsampled/clean-warped/iwdan/seed-1 +running +1 of 1 +[-0-9]+ [0-9:]+ +pid [0-9]+, .+$`,
		`^3 +subsampled/clean-warped/cdan/seed-1 +failed +0 of 1 +- +-$`,
		`^4 +subsampled/clean-warped/jan/seed-1 +left +0 of 1 +- +-$`,
		`^other: subsampled/clean-warped/dann/seed-1: train.epochs: 2 there, 1 here$`,
		`^failed: subsampled/clean-warped/cdan/seed-1: no memory$`,
		`^ +\| of any kind$`,
	} {
		if code != 0 || text != "" || !regexp.MustCompile("(?m)"+line).MatchString(out) {
			t.Errorf("status %d, stderr %q, no line %s in\n%s", code, text, line, out)
		}
	}
	if strings.Contains(out, "source-only") {
		t.Errorf("finished runs are listed:\n%s", out)
	}
	// Positions are those of the whole plan.
	for _, more := range [][]string{{"--only", "*/*/cdan/*"}, {"--index", "3"}} {
		if _, out, _ := call(t, command("status", more...)...); !strings.HasPrefix(out, "tiny: 1 run: 0 finished, 1 failed\n") || !strings.Contains(out, "\n3 ") {
			t.Errorf("%v:\n%s", more, out)
		}
	}
}

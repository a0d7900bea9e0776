package main

import (
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/internal/must"
)

// TestIndex: the index counts over the whole plan.
func TestIndex(t *testing.T) {
	inFolder(t)
	methods := []string{"-c", "tiny.yaml", "--set", "methods=[dann, iwdan, iwdan-o]", "--dry-run"}
	_, out, _ := call(t, methods...)
	for i, id := range strings.Fields(out) {
		index := string(rune('0' + i))
		if status, got, err := call(t, append(methods, "--index", index)...); status != 0 || got != id+"\n" {
			t.Errorf("--index %s: status %d, %q, %q, want %s", index, status, got, err, id)
		}
	}
	for want, more := range map[string][]string{
		"--index 3: the experiment has 3 runs, from 0 to 2": {"--index", "3"},
		"--index -2": {"--index", "-2"},
		"--only":     {"--index", "1", "--only", "*/*/dann/*"},
	} {
		if status, got, err := call(t, append(methods, more...)...); status != 2 || got != "" || !strings.Contains(err, want) {
			t.Errorf("%v: status %d, %q, %q", more, status, got, err)
		}
	}
}

// TestOneRunPrintsNoTable: a task of an array is one of many.
func TestOneRunPrintsNoTable(t *testing.T) {
	inFolder(t)
	if status, out, err := call(t, "-c", "tiny.yaml", "--index", "1"); status != 0 || out != "" || !strings.Contains(err, "finished subsampled/clean-warped/iwdan/seed-1") {
		t.Errorf("status %d, stdout %q, stderr\n%s", status, out, err)
	}
	if _, err := tinyDir("iwdan").ReadResult(); err != nil {
		t.Error(err)
	}
}

// A run without steps may use the threads of all runs at a time, so that the last one does not leave cores idle.
func TestThreadsWithoutSteps(t *testing.T) {
	for most, o := range map[string]workOptions{
		"6": {Schedule: schedule.Options{Jobs: 2, Threads: 3}},
		"1": {Schedule: schedule.Options{Jobs: 1, Threads: 1}},
	} {
		run := plan.Run{Config: config.Resolved{Settings: config.Settings{Network: config.Network{Name: "boosting"}}}}
		command := must.Have(workerOf([]plan.Run{run}, o, streams{}))(t)(run, "cpu")
		if command[len(command)-1] != most {
			t.Errorf("%+v: %v, want %s threads", o.Schedule, command, most)
		}
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/wangkuiyi/gotorch"

	"iwda/experiments/checkpoint"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// asFault makes the workers of the test program die in the way that its value names,
// each run's first worker only.
const asFault = "IWRUN_TEST_FAULT"

// faults are the ways to die. They strike once the run has two checkpoints: the second one
// is later than what is logged of the first epoch.
var faults = map[string]func(){
	"killed": func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) },
	// An exception of C++ that nobody catches: gotorch's Backward has no handler, and
	// this tensor has no gradient.
	"abort in C++": func() { gotorch.RandN([]int64{2}, false).Backward() },
}

// injectFault prepares this process, which may be a worker, for its fault.
func injectFault() {
	fault := os.Getenv(asFault)
	if fault == "" || !slices.Contains(os.Args, "worker") {
		return
	}
	folder := os.Args[len(os.Args)-1]
	marker := filepath.Join(folder, "fault")
	if _, err := os.Stat(marker); err == nil {
		return
	}
	if fault == "no memory" || fault == "small files" {
		limit(fault)
		return
	}
	go func() {
		for !checkpointOfEpoch2(folder) {
			time.Sleep(time.Millisecond)
		}
		os.WriteFile(marker, nil, 0o666)
		faults[fault]()
	}()
}

// checkpointOfEpoch2 reports whether a run has written a checkpoint after what it logged of the first epoch.
func checkpointOfEpoch2(folder string) bool {
	file, err := checkpoint.Read(filepath.Join(folder, store.CheckpointFile))
	return err == nil && strings.Count(file.Record.State.Weights, "\n") > 1 // a header and an update
}

// limit lets the system refuse what this process will want: addresses for its tensors,
// or the bytes of a checkpoint.
func limit(fault string) {
	var kind int
	var bytes uint64
	switch fault {
	case "no memory":
		// OpenBLAS wants 128 MiB at its first product, and asks for ever where they are
		// refused: the limit lies beyond that and the arenas of the C library.
		kind, bytes = syscall.RLIMIT_AS, addressesInUse()+1<<30
	case "small files":
		kind, bytes = syscall.RLIMIT_FSIZE, 1<<16
	}
	if err := syscall.Setrlimit(kind, &syscall.Rlimit{Cur: bytes, Max: bytes}); err != nil {
		panic(err)
	}
}

// enduring is a run of some seconds with many epochs.
const enduring = `experiment: tiny
dataset: {name: glyphs, train_per_class: 8, test_per_class: 4}
tasks: [clean-warped]
variants: [subsampled]
methods: [iwdan]
seeds: [1]
train: {epochs: 20, batch: 8, eval_batch: 20}
`

// TestWorkersThatDie: whatever ends a worker, another one goes on from the checkpoint to
// the same result.
func TestWorkersThatDie(t *testing.T) {
	inFolder(t)
	testfiles.Write(t, "tiny.yaml", enduring)
	succeed(t, "-c", "tiny.yaml", "-o", "undisturbed")
	id := store.ID{Variant: "subsampled", Task: "clean-warped", Method: "iwdan", Seed: 1}.String()
	want := withoutTimes(t, store.NewDir("undisturbed", "tiny", id))
	for fault, reason := range map[string]string{
		"killed":       "the worker was killed (signal 9)",
		"abort in C++": "the worker ended with exit status 2", // Go prints its stacks first
	} {
		t.Run(fault, func(t *testing.T) {
			t.Setenv(asFault, fault)
			status, _, err := call(t, "-c", "tiny.yaml", "-o", fault, "--checkpoint-every", "1ms")
			if status != 0 || !strings.Contains(err, "again    "+id+" (2 of 2): "+reason) {
				t.Fatalf("status %d, stderr\n%s", status, err)
			}
			dir := store.NewDir(fault, "tiny", id)
			if diff := cmp.Diff(want, withoutTimes(t, dir)); diff != "" {
				t.Error(diff)
			}
			log := readFile(t, dir.Path(store.LogFile))
			before, after, ok := strings.Cut(log, ": attempt 2 of 2, because "+reason)
			if !ok || !strings.HasPrefix(before, "epoch 1: ") || !strings.Contains(after, "epoch 20: ") || strings.Contains(after, "\nepoch 1: ") {
				t.Errorf("log\n%s", log)
			}
			if fault == "abort in C++" && !strings.Contains(before, "terminate called after throwing an instance of 'c10::Error'") {
				t.Errorf("log\n%s", log)
			}
		})
	}
}

// TestOutOfMemory sets a real limit. What the worker says speaks of memory, whoever
// noticed first: Go, which dies, or libtorch, which throws.
func TestOutOfMemory(t *testing.T) {
	inFolder(t)
	t.Setenv(asFault, "no memory")
	iwdan := []string{"-c", "tiny.yaml", "--only", "*/*/iwdan/*", "--retries", "0"}
	status, _, err := call(t, append(iwdan, "--set", "dataset.train_per_class=1200", "--set", "train.batch=12000")...)
	message, failed, readErr := tinyDir("iwdan").ReadFailure()
	if status != 1 || !failed || readErr != nil || !regexp.MustCompile(`(?i)memory|bad_alloc`).MatchString(message) {
		t.Errorf("status %d, error.txt %q, %v, stderr\n%s", status, message, readErr, err)
	}
	t.Setenv(asFault, "")
	if status, _, err := call(t, iwdan...); status != 0 {
		t.Errorf("with memory: status %d, stderr\n%s", status, err)
	}
}

// start starts the program. Its standard error can be read when it has ended.
func start(t *testing.T, arguments ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), asProgram+"=yes")
	stderr := &strings.Builder{}
	command.Stderr = stderr
	must.Do(t, command.Start())
	t.Cleanup(func() { command.Process.Kill() })
	return command, stderr
}

// TestParentIsKilled: its worker ends without it, and the next iwrun goes on.
func TestParentIsKilled(t *testing.T) {
	inFolder(t)
	testfiles.Write(t, "tiny.yaml", enduring)
	succeed(t, "-c", "tiny.yaml", "-o", "undisturbed")
	parent, _ := start(t, "-c", "tiny.yaml", "--checkpoint-every", "1ms")
	dir := tinyDir("iwdan")
	waitFor(t, func() bool { return checkpointOfEpoch2(dir.String()) })
	if by, locked, err := dir.Locked(); !locked || err != nil {
		t.Errorf("held by %q, %v, %v", by, locked, err)
	}
	parent.Process.Kill()
	parent.Wait()
	waitFor(t, func() bool { _, locked, err := dir.Locked(); return !locked && err == nil })
	if _, err := dir.ReadResult(); err == nil {
		t.Fatal("the run was finished before its parent was killed")
	}
	succeed(t, "-c", "tiny.yaml")
	undisturbed := store.NewDir("undisturbed", "tiny", store.ID{Variant: "subsampled", Task: "clean-warped", Method: "iwdan", Seed: 1}.String())
	if diff := cmp.Diff(withoutTimes(t, undisturbed), withoutTimes(t, dir)); diff != "" {
		t.Error(diff)
	}
	if log := readFile(t, dir.Path(store.LogFile)); !strings.Contains(log, ": started once more ---\n") || strings.Count(log, "epoch 1: ") != 1 {
		t.Errorf("log\n%s", log)
	}
}

// TestTwoAtOnce: two iwrun on one folder make every run once, and both end with all of
// them finished.
func TestTwoAtOnce(t *testing.T) {
	inFolder(t)
	seeds := []string{"-c", "tiny.yaml", "-j", "1", "--set", "seeds=[1,2]", "--set", "train.epochs=4"}
	first, firstSaid := start(t, seeds...)
	second, secondSaid := start(t, seeds...)
	for _, command := range []*exec.Cmd{first, second} {
		if err := command.Wait(); err != nil {
			t.Errorf("%v\n%s\n%s", err, firstSaid, secondSaid)
		}
	}
	said := firstSaid.String() + secondSaid.String()
	if strings.Count(said, "finished sub") != 4 || !strings.Contains(said, " already finished") {
		t.Errorf("said\n%s\n%s", firstSaid, secondSaid)
	}
	for _, method := range []string{"source-only", "iwdan"} {
		for seed := range 2 {
			dir := store.NewDir("results", "tiny", store.ID{Variant: "subsampled", Task: "clean-warped", Method: method, Seed: int64(seed + 1)}.String())
			withoutTimes(t, dir)
			if log := readFile(t, dir.Path(store.LogFile)); strings.Contains(log, "---") {
				t.Errorf("started twice: %s", log)
			}
		}
	}
}

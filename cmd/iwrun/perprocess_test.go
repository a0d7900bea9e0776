package main

import (
	"os"
	"syscall"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/testfiles"
)

// Runs that share a process write checkpoints, stop when they are asked to and go on, and end
// with the bits of runs with a process each.
func TestRunsThatShareAProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	testfiles.Write(t, "killed.yaml", killed)
	shared := []string{"-c", "killed.yaml", "--set", "seeds=[1, 2]", "--set", "train.epochs=40", "-j", "2", "--per-process", "2", "-o", "shared"}
	dir := func(results string, seed int64) store.Dir {
		return store.NewDir(results, "killed", store.ID{Variant: "subsampled", Task: "clean-warped", Method: "iwcdan", Seed: seed}.String())
	}
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	command := startProgram(t, append(shared, "--checkpoint-every", "10h")...)
	waitFor(t, func() bool {
		return exists(dir("shared", 1).Path(store.MetricsFile)) && exists(dir("shared", 2).Path(store.MetricsFile))
	})
	command.Process.Signal(syscall.SIGUSR1)
	waitFor(t, func() bool {
		return exists(dir("shared", 1).Path(store.CheckpointFile)) && exists(dir("shared", 2).Path(store.CheckpointFile))
	})
	command.Process.Signal(syscall.SIGINT)
	command.Wait()
	if status := command.ProcessState.ExitCode(); status != statusInterrupted {
		t.Fatalf("status %d: the runs were over before they were interrupted, or failed", status)
	}
	if status, _, err := call(t, shared...); status != 0 {
		t.Fatal(err)
	}
	if status, _, err := call(t, "-c", "killed.yaml", "--set", "seeds=[1, 2]", "--set", "train.epochs=40", "-o", "apart"); status != 0 {
		t.Fatal(err)
	}
	for _, seed := range []int64{1, 2} {
		expectSame(t, dir("shared", seed), dir("apart", seed))
	}
}

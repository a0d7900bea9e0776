package train

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"iwda/torch"
)

// footprint is what a process holds of the system.
type footprint struct {
	resident       int64 // bytes
	files, threads int
}

func footprintNow(t *testing.T) footprint {
	t.Helper()
	count := func(folder string) int {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var all, resident int64
	if _, err := fmt.Sscan(string(status), &all, &resident); err != nil {
		t.Fatal(err)
	}
	return footprint{resident * int64(os.Getpagesize()), count("/proc/self/fd"), count("/proc/self/task")}
}

// After 20,000 steps, with evaluations, updates of the class weights and checkpoints
// among them, a run holds what it held after 1,000.
func TestFootprintOfALongRun(t *testing.T) {
	runtime.LockOSThread() // as Run does: the allocator keeps memory for each thread
	defer runtime.UnlockOSThread()
	torch.SetThreads(1)
	torch.TuneAllocator()
	const early, late, batch = 1000, 20_000, 2
	length := fmt.Sprintf("steps: %d, eval_every: 500, batch: %d", late, batch)
	run := resolveText(t, strings.Replace(tiny, "epochs: 3, batch: 16", length, 1), "full", "iwdan", 1, "train.optimizer.lr=0.001")
	options := Options{Threads: 1, Log: &strings.Builder{}, Checkpoints: Interval{Epochs: 1}}
	trainer, err := newTrainer(t.Context(), run, begin(t, run), options, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.close()
	var before footprint
	look := func() {
		if trainer.done == early {
			before = footprintNow(t)
		}
	}
	if err := trainer.train(watched{t.Context(), look}); err != nil {
		t.Fatal(err)
	}
	after := footprintNow(t)
	const tolerance = 20 << 20
	if growth := after.resident - before.resident; growth > tolerance {
		t.Errorf("%d MiB more after %d steps than after %d, when it was %d MiB", growth>>20, late, early, before.resident>>20)
	}
	const spare = 4 // threads that the Go runtime may start when others wait for the disk
	if after.files != before.files || after.threads > before.threads+spare {
		t.Errorf("%d open files and %d threads, later %d and %d", before.files, before.threads, after.files, after.threads)
	}
	t.Logf("after %d steps %d MiB, %d files, %d threads; after %d: %d MiB, %d files, %d threads",
		early, before.resident>>20, before.files, before.threads, late, after.resident>>20, after.files, after.threads)
}

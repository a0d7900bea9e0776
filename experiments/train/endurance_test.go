package train

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/internal/must"
	"iwda/internal/testfiles"
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
		entries := must.Have(os.ReadDir(folder))(t)
		return len(entries)
	}
	status := testfiles.Read(t, "/proc/self/statm")
	var all, resident int64
	must.Have(fmt.Sscan(string(status), &all, &resident))(t)
	return footprint{resident * int64(os.Getpagesize()), count("/proc/self/fd"), count("/proc/self/task")}
}

// After very many steps, with evaluations, updates of the class weights and checkpoints
// among them, a run holds what it held after a few. A step of a LeNet is slow but loses
// large tensors, if it loses any; that of a small network may lose a kilobyte at most.
func TestFootprintOfALongRun(t *testing.T) {
	small := []string{"train.batch=2", "train.optimizer.lr=0.001"}
	for name, c := range map[string]struct {
		run   config.Resolved
		early int // steps
		most  int64
	}{
		"lenet": {resolve(t, "full", "iwdan", 1, append(small, "train.epochs=3")...), 100, 20 << 20},
		"mlp":   {ownRun(t, "iwdan", trueLabel, append(small, "train.epochs=40")...), 400, 6 << 20},
	} {
		t.Run(name, func(t *testing.T) { expectConstantFootprint(t, c.run, c.early, c.most) })
	}
}

// expectConstantFootprint trains and compares what the process holds after a few steps
// with what it holds at the end; its memory may grow by most bytes.
func expectConstantFootprint(t *testing.T, run config.Resolved, early int, most int64) {
	t.Helper()
	runtime.LockOSThread() // as Run does: the allocator keeps memory for each thread
	defer runtime.UnlockOSThread()
	torch.SetThreads(1)
	torch.TuneAllocator()
	options := Options{Threads: 1, Log: &strings.Builder{}, eachEpoch: true}
	trainer := makeTrainer(t, run, options)
	defer trainer.close()
	var before footprint
	look := func() {
		if trainer.clock.done == early {
			before = footprintNow(t)
		}
	}
	must.Do(t, trainer.train(watched{t.Context(), look}))
	after, late := footprintNow(t), trainer.clock.done
	if late < 3*early {
		t.Fatalf("only %d steps", late)
	}
	if growth := after.resident - before.resident; growth > most {
		t.Errorf("%d MiB more after %d steps than after %d, when it was %d MiB", growth>>20, late, early, before.resident>>20)
	}
	const spare = 4 // threads that the Go runtime may start when others wait for the disk
	if after.files != before.files || after.threads > before.threads+spare {
		t.Errorf("%d open files and %d threads, later %d and %d", before.files, before.threads, after.files, after.threads)
	}
	t.Logf("after %d steps %d MiB, %d files, %d threads; after %d: %d MiB, %d files, %d threads",
		early, before.resident>>20, before.files, before.threads, late, after.resident>>20, after.files, after.threads)
}

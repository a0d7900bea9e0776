package train

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/wholefile"
)

// smallRun is one of a moment that leaves every kind of file.
func smallRun(t *testing.T, epochs int) config.Resolved {
	t.Helper()
	return ownRun(t, "iwdan", trueLabel, "network.features=8", "discriminator.hidden=8", "train.validation=0.2", fmt.Sprintf("train.epochs=%d", epochs))
}

// goOn makes the run to its end, unless it is finished.
func goOn(t *testing.T, run config.Resolved, dir store.Dir, options Options) (err error) {
	t.Helper()
	lock, err := dir.Lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, finished, err := dir.Finished(run.Hash()); finished || err != nil {
		return err
	}
	if err := plan.Of(run).WriteConfig(dir); err != nil {
		return err
	}
	if err := dir.Begin(); err != nil {
		return err
	}
	_, err = Run(t.Context(), run, dir, options)
	return err
}

// sameEnd fails the test unless a run ended as another one did, with all files.
func sameEnd(t *testing.T, what string, whole outcome, wantFiles []string, dir store.Dir) {
	t.Helper()
	if diff := whole.diff(outcomeOf(t, dir)); diff != "" {
		t.Errorf("%s: another end:\n%s", what, diff)
	}
	for _, name := range wantFiles {
		if _, err := os.Stat(dir.Path(name)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := dir.ReadOutputs(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

var everyFile = []string{
	store.ConfigFile, store.MetricsFile, store.WeightsFile, store.OutputsFile, store.ResultFile, store.CheckpointFile, store.ModelFile,
}

// Whatever call fails while a run writes, the error names a file of the run, and the run goes on
// to the same end.
func TestRunOnAFailingDisk(t *testing.T) {
	run := smallRun(t, 2)
	dir, _ := train(t, run)
	whole := outcomeOf(t, dir)
	failed := 0
	for n, reached := 0, true; reached; n++ { // the call of this number fails, and every other time all after it
		calls, fault := atomic.Int64{}, fmt.Sprintf("call %d fails", n)
		disk := &wholefile.Disk{Before: func(*wholefile.Call) error {
			if at := int(calls.Add(1)) - 1; at == n || at > n && n%2 == 0 {
				return syscall.EIO
			}
			return nil
		}}
		root := t.TempDir()
		dir, options := plan.Of(run).Dir(root), Options{Threads: 1, eachEpoch: true}
		err := goOn(t, run, dir.On(disk), options)
		if err != nil {
			failed++
			if !strings.Contains(err.Error(), root) {
				t.Errorf("%s: the error names no file: %v", fault, err)
			}
		}
		if err := goOn(t, run, dir, options); err != nil {
			t.Fatalf("%s (%v): the run does not go on: %v", fault, err, err)
		}
		sameEnd(t, fault, whole, everyFile, dir)
		reached = int(calls.Load()) > n
	}
	t.Logf("%d failed", failed)
}

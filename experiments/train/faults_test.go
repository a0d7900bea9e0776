package train

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/faultydisk"
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
	run := smallRun(t, 3)
	dir, _ := train(t, run)
	whole := outcomeOf(t, dir)
	failed := 0
	faultydisk.EachCall(func(disk *wholefile.Disk, fault string) {
		root := t.TempDir()
		dir, options := plan.Of(run).Dir(root), Options{Threads: 1, Checkpoints: plan.Interval{Epochs: 1}}
		err := goOn(t, run, dir.On(disk), options)
		if err != nil {
			failed++
			if !strings.Contains(err.Error(), root) {
				t.Errorf("%s: the error names no file: %v", fault, err)
			}
		}
		if err := goOn(t, run, dir, options); err != nil {
			t.Errorf("%s (%v): the run does not go on: %v", fault, err, err)
			return
		}
		sameEnd(t, fault, whole, everyFile, dir)
	})
	t.Logf("%d failed", failed)
}

// After a power cut at any moment, and whatever of the last changes is lost, a run goes on to the
// same end.
func TestPowerCutsOfARun(t *testing.T) {
	epochs := 3
	if os.Getenv(faultydisk.Everything) != "" {
		epochs = 20
	}
	run := smallRun(t, epochs)
	root := t.TempDir()
	dir := plan.Of(run).Dir(root)
	recorder, err := faultydisk.NewRecorder(root)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Threads: 1, Checkpoints: plan.Interval{Epochs: 1}}
	if err := goOn(t, run, dir.On(recorder.Disk()), options); err != nil {
		t.Fatal(err)
	}
	whole := outcomeOf(t, dir)
	random := rand.New(rand.NewPCG(1, 2))
	states := recorder.Cuts(random, 12)
	tried := faultydisk.Some(states, random, 40)
	for _, state := range tried {
		after := t.TempDir()
		if err := state.Write(after); err != nil {
			t.Fatal(err)
		}
		dir := plan.Of(run).Dir(after)
		if err := goOn(t, run, dir, options); err != nil {
			t.Errorf("%s: %v", state.Name, err)
			continue
		}
		sameEnd(t, state.Name, whole, everyFile, dir)
	}
	t.Logf("%d of %d states of %d calls", len(tried), len(states), recorder.Calls())
}

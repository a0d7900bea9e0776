package train

import (
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"iwda/experiments/store"
	"iwda/internal/version"
	"iwda/torch"
)

// Whatever a checkpoint with a right SHA-256 states of the run, going on from it is an
// error or works: the trained networks are there, and the next step is made or refused.
func FuzzResumeFrom(f *testing.F) {
	run := resolve(f, "subsampled", "iwdan", 1)
	dir := begin(f, run)
	torch.SetThreads(1)
	trainer, err := newTrainer(f.Context(), run, dir, Options{Threads: 1, Log: io.Discard, Checkpoints: Interval{Epochs: 1}}, time.Now())
	if err != nil {
		f.Fatal(err)
	}
	defer trainer.close()
	if err := trainer.loop(f.Context()).Run(&fuse{f.Context(), 30}); err == nil {
		f.Fatal("the run was not stopped")
	}
	tensors, metadata, err := readSealed(dir.Path(store.CheckpointFile))
	if err != nil {
		f.Fatal(err)
	}
	good := metadata[stateKey]
	f.Add(good, metadata[configKey], version.Version, checkpointFormat)
	for _, change := range [][2]string{
		{`"Step":24`, `"Step":-1`}, {`"Step":24`, `"Step":1000000`}, {`"Passes":`, `"Passes":9`}, {`"Seconds":`, `"Seconds":-`},
		{`"Confusion":[[`, `"Confusion":[[1],[`}, {"weight_9,", ""}, {`"Source":"`, `"Source":"AAAA`},
		{`"SourceRows":`, `"SourceRows":-`}, {`"Updates":`, `"Updates":-`}, {`1,12,`, `1,x,`}, {`{`, `[`},
	} {
		f.Add(strings.Replace(good, change[0], change[1], 1), metadata[configKey], version.Version, checkpointFormat)
	}
	f.Add(good, "tasks: [", version.Version, checkpointFormat)
	f.Fuzz(func(t *testing.T, state, yaml, version, format string) {
		changed := maps.Clone(metadata)
		changed[stateKey], changed[configKey], changed[versionKey], changed[formatKey] = state, yaml, version, format
		err := torch.Try(func() {
			torch.Tidy(func() {
				if err := trainer.resumeFrom("checkpoint", tensors, changed); err == nil {
					trainer.checkpointTensors(trainer.statistics.State())
					if trainer.completed.Step < 1 || trainer.completed.Step > trainer.totalSteps() {
						t.Errorf("step %d of %d", trainer.completed.Step, trainer.totalSteps())
					}
				}
			})
		})
		if err != nil {
			t.Logf("refused by libtorch: %v", err)
		}
	})
}

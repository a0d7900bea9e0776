package train

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"iwda/experiments/checkpoint"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/version"
	"iwda/torch"
)

// Whatever a checkpoint with a right SHA-256 states of the run, going on from it is an
// error or works: the trained networks are there, and the next step is made or refused.
func FuzzResumeFrom(f *testing.F) {
	run := resolve(f, "subsampled", "iwdan", 1)
	dir := begin(f, run)
	torch.SetThreads(1)
	trainer := must.Have(newTrainer(f.Context(), run, dir, Options{Threads: 1, Log: io.Discard, eachEpoch: true}, time.Now()))(f)
	defer trainer.close()
	if err := trainer.train(&fuse{f.Context(), 30}); err == nil {
		f.Fatal("the run was not stopped")
	}
	file := must.Have(checkpoint.Read(dir.Path(store.CheckpointFile)))(f)
	tensors, _ := must.Both(torch.ParseTensors(file.Content))(f)
	text := must.Have(json.Marshal(file.Record.State))(f)
	good := string(text)
	f.Add(good, file.Record.Config, version.Version)
	for _, change := range [][2]string{
		{`"Step":24`, `"Step":-1`}, {`"Step":24`, `"Step":1000000`}, {`"Passes":`, `"Passes":9`}, {`"Seconds":`, `"Seconds":-`},
		{`"Confusion":[[`, `"Confusion":[[1],[`}, {"weight_9,", ""}, {`"Source":"`, `"Source":"AAAA`},
		{`"SourceRows":`, `"SourceRows":-`}, {`"Updates":`, `"Updates":-`}, {`1,12,`, `1,x,`},
	} {
		f.Add(strings.Replace(good, change[0], change[1], 1), file.Record.Config, version.Version)
	}
	f.Add(good, "tasks: [", version.Version)
	f.Fuzz(func(t *testing.T, state, yaml, program string) {
		record := checkpoint.Record{Version: program, Config: yaml}
		if json.Unmarshal([]byte(state), &record.State) != nil {
			return // as the reader of checkpoints says
		}
		err := torch.Try(func() {
			torch.Tidy(func() {
				if len(trainer.checkpoints.differences(record)) > 0 || trainer.checkpoints.restore(record.State, tensors) != nil {
					return
				}
				trainer.checkpoints.saved()
				if trainer.clock.done < 1 || trainer.clock.done > trainer.clock.steps() {
					t.Errorf("step %d of %d", trainer.clock.done, trainer.clock.steps())
				}
			})
		})
		if err != nil {
			t.Logf("refused by libtorch: %v", err)
		}
	})
}

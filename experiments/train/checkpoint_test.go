package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/version"
	"iwda/internal/wholefile"
	"iwda/torch"
)

// interrupted returns the folder of a run that stopped after a few epochs, with a checkpoint.
func interrupted(t *testing.T, run config.Resolved) store.Dir {
	t.Helper()
	dir := begin(t, run)
	options := Options{Threads: 1, eachEpoch: true}
	if _, err := Run(&fuse{t.Context(), 35}, run, dir, options); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if !dir.Worked() {
		t.Fatal("no checkpoint")
	}
	return dir
}

// Whatever happens to the checkpoint, the run begins anew, to the same end.
func TestDamagedCheckpoint(t *testing.T) {
	run := ownRun(t, "iwdan", trueLabel, "network.features=128", "discriminator.hidden=128")
	whole, _ := train(t, run)
	left := interrupted(t, run)
	flip := func(at func(size int) int) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			data := testfiles.Read(t, path)
			data[at(len(data))] ^= 0x10
			testfiles.Write(t, path, string(data))
		}
	}
	truncate := func(size int64) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			must.Do(t, os.Truncate(path, size))
		}
	}
	for name, damage := range map[string]func(t *testing.T, path string){
		"empty":                 truncate(0),
		"cut off in the header": truncate(100),
		"cut off in the values": truncate(100_000),
		"flipped in the length": flip(func(int) int { return 2 }),
		"flipped in the header": flip(func(int) int { return 300 }),
		"flipped in a value":    flip(func(size int) int { return size - 1000 }),
		"removed": func(t *testing.T, path string) {
			testfiles.Remove(t, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := begin(t, run)
			if err := os.CopyFS(dir.String(), os.DirFS(left.String())); err != nil {
				t.Fatal(err)
			}
			path := dir.Path(store.CheckpointFile)
			damage(t, path)
			var log strings.Builder
			if _, err := Run(t.Context(), run, dir, Options{Threads: 1, Log: &log}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(log.String(), "going on from ") || name != "removed" && !strings.Contains(log.String(), path+" is damaged") {
				t.Errorf("log:\n%s", &log)
			}
			if diff := outcomeOf(t, whole).diff(outcomeOf(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A checkpoint that the system does not hand out for a moment is not damaged: the run fails,
// nothing is touched, and later it goes on to the same end. So it is with a result.
func TestUnreadableCheckpoint(t *testing.T) {
	run := ownRun(t, "iwdan", trueLabel, "network.features=128", "discriminator.hidden=128")
	whole, _ := train(t, run)
	dir := interrupted(t, run)
	for _, name := range []string{store.CheckpointFile, store.ResultFile} {
		path := dir.Path(name)
		err := os.Rename(path, path+".away")
		if err != nil && name != store.ResultFile {
			t.Fatal(err)
		}
		for kind, make := range map[string]func() error{
			"a file that is a folder": func() error { return os.Mkdir(path, 0o777) },
			"links in a circle":       func() error { return os.Symlink(name, path) },
		} {
			if err := make(); err != nil {
				t.Fatal(err)
			}
			err := dir.Begin()
			if err == nil {
				_, err = Run(t.Context(), run, dir, Options{Threads: 1})
			}
			if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "damaged") {
				t.Errorf("%s, %s: error %v", name, kind, err)
			}
			if err := os.Remove(path); err != nil { // it is as it was
				t.Fatal(err)
			}
		}
		os.Rename(path+".away", path)
	}
	must.Have(Run(t.Context(), run, dir, Options{Threads: 1}))(t)
	if diff := outcomeOf(t, whole).diff(outcomeOf(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// writeRecord writes a checkpoint with the tensors of the file.
func writeRecord(t *testing.T, path string, file checkpoint.File) {
	t.Helper()
	torch.Tidy(func() {
		tensors, _ := must.Both(torch.ParseTensors(file.Content))(t)
		var named []torch.Named
		for name, tensor := range tensors {
			named = append(named, torch.Named{Name: name, Tensor: tensor})
		}
		must.Do(t, (*wholefile.Disk)(nil).WriteFile(path, func(to wholefile.File) error {
			return checkpoint.Write(to, file.Record, func(w io.Writer, metadata map[string]string) error {
				return torch.WriteTensors(w, named, metadata)
			})
		}))
	})
}

// otherFormat returns a checkpoint that states another format and is whole.
func otherFormat(t *testing.T, file []byte) []byte {
	t.Helper()
	file = bytes.Replace(file, []byte(`"format":"1"`), []byte(`"format":"9"`), 1)
	place := bytes.Index(file, []byte(`"sha256":"`)) + len(`"sha256":"`)
	if place < 10 {
		t.Fatal("no SHA-256")
	}
	seal := file[place : place+64]
	copy(seal, strings.Repeat("0", 64))
	copy(seal, fmt.Sprintf("%x", sha256.Sum256(file)))
	return file
}

// A checkpoint of something else is refused in words, and stays as it is.
func TestCheckpointOfAnotherRun(t *testing.T) {
	run := resolve(t, "subsampled", "iwdan", 1)
	dir := interrupted(t, run)
	before := testfiles.Read(t, dir.Path(store.CheckpointFile))
	rewritten := func(change func(*checkpoint.Record)) []byte {
		file := must.Have(checkpoint.Read(dir.Path(store.CheckpointFile)))(t)
		change(&file.Record)
		path := filepath.Join(t.TempDir(), "checkpoint")
		writeRecord(t, path, file)
		changed := testfiles.Read(t, path)
		return changed
	}
	for name, test := range map[string]struct {
		run  config.Resolved
		file []byte
		want []string
	}{
		"configuration": {
			resolve(t, "subsampled", "iwdan", 1, "train.epochs=70", "train.optimizer.lr=0.5"), before,
			[]string{"train.epochs: 3 there, 70 here", "train.optimizer.lr: 0.02 there, 0.5 here", "--overwrite"},
		},
		"version": {run, rewritten(func(r *checkpoint.Record) { r.Version = "0.0.1" }), []string{"version of iwda: 0.0.1 there, " + version.Version + " here"}},
		"format":  {run, otherFormat(t, before), []string{`format: "9" there, "1" here`}},
		"data":    {resolve(t, "subsampled", "iwdan", 1), rewritten(func(r *checkpoint.Record) { r.State.DataSHA256 = "x" }), []string{"the data changed since"}},
	} {
		t.Run(name, func(t *testing.T) {
			testfiles.Write(t, dir.Path(store.CheckpointFile), string(test.file))
			_, err := Run(t.Context(), test.run, dir, Options{Threads: 1})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range append(test.want, dir.Path(store.CheckpointFile)) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v lacks %q", err, want)
				}
			}
			if after, err := os.ReadFile(dir.Path(store.CheckpointFile)); err != nil || !bytes.Equal(after, test.file) {
				t.Errorf("the checkpoint was touched: %v", err)
			}
		})
	}
}

// Checkpoints come when they are asked for, after each epoch or after a time.
func TestWhenCheckpointsAreWritten(t *testing.T) {
	const steps = 200 / 16 * 3
	for name, test := range map[string]struct {
		options Options
		want    []int // steps after which one is written
	}{
		"never":      {Options{}, nil},
		"each epoch": {Options{eachEpoch: true}, []int{12, 24, 36}},
		"always":     {Options{Checkpoints: time.Nanosecond}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			run := resolve(t, "subsampled", "source-only", 1)
			test.options.Threads, test.options.Log = 1, &strings.Builder{}
			tr := makeTrainer(t, run, test.options)
			defer tr.close()
			var written []int
			look := func() {
				if err := os.Remove(tr.dir.Path(store.CheckpointFile)); err == nil {
					written = append(written, tr.clock.done)
				} else if !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
			must.Do(t, tr.train(watched{t.Context(), look}))
			look()
			if name == "always" {
				for step := 1; step <= steps/3*3; step++ {
					test.want = append(test.want, step)
				}
			}
			if !slices.Equal(written, test.want) {
				t.Errorf("checkpoints after steps %v, want %v", written, test.want)
			}
		})
	}
}

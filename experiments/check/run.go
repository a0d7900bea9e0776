package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/internal/input"
)

// run checks the folder of a run and reports whether it is being made.
func (c *checker) run(path string) (running bool) {
	dir, err := store.DirOf(path)
	if err != nil {
		c.find(path, err.Error(), "check its permissions and the disk, then run iwrun check again")
		return false
	}
	_, held, err := dir.Locked()
	if held {
		c.Running++
		return true
	}
	r := run{c, dir, path, "", nil}
	r.expect(store.LockFile, err, "put the results on a file system with locks")
	r.configuration()
	r.readResult()
	if r.result == nil {
		c.Unfinished++
	} else {
		c.Finished++
	}
	r.checkpoints()
	r.model()
	r.curves()
	return false
}

// run is one that is checked.
type run struct {
	*checker
	dir    store.Dir
	path   string
	hash   string        // of its configuration, empty if that is not known
	result *store.Result // nil if it is not finished
}

func (r *run) file(name string) string { return filepath.Join(r.path, name) }

// expect notes an error of a file but that it is not there.
func (r *run) expect(name string, err error, do string) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	if refused := (*fs.PathError)(nil); errors.As(err, &refused) {
		do = "it may be whole: check its permissions and the disk, then run iwrun check again"
	}
	r.find(r.file(name), strings.TrimPrefix(strings.TrimPrefix(err.Error(), r.dir.Path(name)), ": "), do)
}

const rerun = "run its experiment again"

func (r *run) configuration() {
	resolved, err := config.LoadRun(r.dir.Path(store.ConfigFile))
	r.expect(store.ConfigFile, err, rerun+", which writes it")
	if err == nil {
		r.hash = resolved.Hash()
	}
}

func (r *run) readResult() {
	result, err := r.dir.ReadResult()
	r.expect(store.ResultFile, err, "remove it, and "+rerun+": the run continues from its checkpoint")
	if err != nil {
		return
	}
	r.result = &result
	if r.hash != "" && result.ConfigHash != r.hash {
		r.find(r.file(store.ResultFile), fmt.Sprintf("belongs to a configuration with the hash %s, but %s has %s", result.ConfigHash, store.ConfigFile, r.hash),
			rerun+" with --overwrite, which starts the run from the beginning")
	}
}

// checkpoints checks those that are there, and those that were set aside.
func (r *run) checkpoints() {
	all := r.dir.Checkpoints()
	for i, path := range all {
		name := filepath.Base(path)
		file, err := checkpoint.Read(path)
		do := "remove it, and " + rerun + ": the run starts from the beginning"
		switch {
		case i < len(all)-1:
			do = rerun + ": the run continues from " + filepath.Base(all[i+1])
		case r.result != nil:
			do = "remove it if the network is not needed; to make it again, remove " + store.ResultFile + " too, and " + rerun
		}
		r.expect(name, err, do)
		if err == nil {
			r.pair(name, file.Record, name == store.CheckpointFile)
		}
		if r.result != nil && name == store.PreviousCheckpointFile {
			r.find(r.file(name), "is left over from before the run was finished", "remove it")
		}
	}
	there, _ := os.ReadDir(r.path)
	for _, entry := range there {
		if store.IsSetAside(entry.Name()) {
			r.find(r.file(entry.Name()), "is a damaged checkpoint that was set aside", "check the disk, and remove the file")
		}
	}
}

// pair checks whether a checkpoint and the other files are of the same run, and of a finished one
// the last, which has the curves too.
func (r *run) pair(name string, record checkpoint.Record, last bool) {
	there, err := config.ParseRun("its configuration", []byte(record.Config))
	of, hash := store.ConfigFile, r.hash
	if r.result != nil {
		of, hash = store.ResultFile, r.result.ConfigHash
	}
	if err == nil && hash != "" && there.Hash() != hash {
		err = fmt.Errorf("is of another configuration than %s", of)
	}
	if err == nil && r.result != nil && record.State.DataSHA256 != r.result.DataSHA256 {
		err = fmt.Errorf("was written with other data than %s", store.ResultFile)
	}
	if err != nil {
		r.find(r.file(name), err.Error(), rerun+" with --overwrite, which starts the run from the beginning")
		return
	}
	if !last || r.result == nil {
		return
	}
	for _, curve := range []struct{ name, text string }{{store.MetricsFile, record.State.Metrics}, {store.WeightsFile, record.State.Weights}} {
		problem := "differs from what %s recorded at the end of the run"
		written, err := input.Read(r.dir.Path(curve.name), input.Text)
		if errors.Is(err, fs.ErrNotExist) {
			problem, err = "is missing, which %s recorded at the end of the run", nil
		}
		if err == nil && string(written) != curve.text {
			r.find(r.file(curve.name), fmt.Sprintf(problem, name), "remove "+store.ResultFile+", and "+rerun+", which writes it from the checkpoint")
		}
	}
}

// model checks what a finished run says of its network.
func (r *run) model() {
	const do = "remove " + store.ResultFile + ", and " + rerun + ": the run continues from its checkpoint and writes it"
	about, err := model.ReadMetadata(r.path)
	r.expect(store.ModelFile, err, do)
	if err != nil || r.result == nil {
		return
	}
	r.Models++
	if hash := about.Provenance["config_hash"]; hash != r.result.ConfigHash || !slices.Equal(about.Classes, r.result.Classes) {
		r.find(r.file(store.ModelFile), fmt.Sprintf("is of another run than %s: configuration %s and %s, classes %.200q and %.200q",
			store.ResultFile, hash, r.result.ConfigHash, about.Classes, r.result.Classes), do)
	}
	if sealed, err := model.Verify(r.path); err == nil && !sealed {
		r.Unsealed++
	}
}

func (r *run) curves() {
	const do = rerun + ": a run that is not finished writes it again; of a finished one remove " + store.ResultFile + " before"
	_, err := r.dir.ReadMetrics()
	r.expect(store.MetricsFile, err, do)
	_, err = r.dir.ReadWeights()
	r.expect(store.WeightsFile, err, do)
	_, err = r.dir.ReadStatistics()
	r.expect(store.StatisticsFile, err, do)
	_, err = r.dir.ReadOutputs()
	r.expect(store.OutputsFile, err, do)
}

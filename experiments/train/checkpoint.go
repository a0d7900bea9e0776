package train

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/internal/throttle"
	"iwda/internal/version"
	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/torch"
)

// part is a piece of a run that remembers more than follows from the run's seed.
type part interface {
	// save adds what the part remembers to a checkpoint in the making.
	save(*saving)
	// restore takes it from a checkpoint of the same run. After an error the run is of
	// no use.
	restore(*restoring) error
}

// saving is a checkpoint in the making.
type saving struct {
	checkpoint.State
	tensors []torch.Named
}

func (s *saving) add(name string, tensor torch.Tensor) {
	s.tensors = append(s.tensors, torch.Named{Name: name, Tensor: tensor})
}

func (s *saving) addAll(state nets.State) {
	for _, e := range state {
		s.add(e.Name, e.Tensor)
	}
}

// restoring is a checkpoint that a run goes on from.
type restoring struct {
	checkpoint.State
	rest    map[string]torch.Tensor // not taken yet
	missing []string
}

// take returns the tensor of that name. One that is not there is the zero Tensor, and
// complete tells of it.
func (r *restoring) take(name string) torch.Tensor {
	if _, ok := r.rest[name]; !ok {
		r.missing = append(r.missing, name)
	}
	return r.takeIfThere(name)
}

// takeIfThere returns the tensor of that name, or the zero Tensor.
func (r *restoring) takeIfThere(name string) torch.Tensor {
	tensor := r.rest[name]
	delete(r.rest, name)
	return tensor
}

// takeAll sets a state, whose names have the prefix, to the tensors of that prefix.
func (r *restoring) takeAll(state nets.State, prefix string) error {
	values := make(map[string]torch.Tensor)
	for name, tensor := range r.rest {
		if strings.HasPrefix(name, prefix+".") {
			values[name] = tensor
			delete(r.rest, name)
		}
	}
	return state.Load(values)
}

// complete is an error where a tensor was missing.
func (r *restoring) complete() error {
	if len(r.missing) > 0 {
		return fmt.Errorf("it lacks %s", strings.Join(r.missing, ", "))
	}
	return nil
}

// checkpoints are those of a run: when they are written, and what is in them.
type checkpoints struct {
	run     config.Resolved
	dir     store.Dir
	options Options
	parts   []part
	of      checkpoint.State   // the SHA-256 of what the run reads
	time    *throttle.Throttle // nil: however long it takes
}

func newCheckpoints(run config.Resolved, dir store.Dir, options Options, of checkpoint.State, parts ...part) *checkpoints {
	c := &checkpoints{run: run, dir: dir, options: options, parts: parts, of: of}
	if every := options.Checkpoints; every > 0 {
		c.time = throttle.Every(every)
		c.time.Restart()
	}
	return c
}

// due reports whether one is to be written after a step.
func (c *checkpoints) due(endsEpoch bool) bool {
	return c.options.eachEpoch && endsEpoch || c.time != nil && c.time.Due()
}

// dropoutDraws is what dropout draws from, as a part of a run.
type dropoutDraws struct{ random *torch.Random }

const dropoutState = "generator.cpu"

func (d dropoutDraws) save(s *saving) {
	state := d.random.State()
	s.add(dropoutState, torch.FromSlice(state, len(state)))
}

func (d dropoutDraws) restore(r *restoring) error {
	state := r.take(dropoutState)
	if err := r.complete(); err != nil {
		return err
	}
	d.random.SetState(torch.ToSlice[uint8](state))
	return nil
}

// write writes the state after the last completed step.
func (c *checkpoints) write() error {
	yaml, err := c.run.YAML()
	if err != nil {
		return err
	}
	torch.Tidy(func() {
		s := c.saved()
		record := checkpoint.Record{Version: version.Version, Config: string(yaml), State: s.State}
		err = c.dir.Disk().WriteFile(c.dir.Path(store.CheckpointFile), func(file wholefile.File) error {
			return checkpoint.Write(file, record, func(w io.Writer, metadata map[string]string) error {
				return torch.WriteTensors(w, s.tensors, metadata)
			})
		})
	})
	return err
}

// saved is what the run is after the last completed step.
func (c *checkpoints) saved() *saving {
	s := &saving{State: c.of}
	for _, p := range c.parts {
		p.save(s)
	}
	return s
}

// OtherRunError is a checkpoint that this run must not go on from.
type OtherRunError struct {
	Path        string
	Differences []string // sentences or "key: value there, value here"
}

func (e *OtherRunError) Error() string {
	return fmt.Sprintf("%s was written by another run: %s; to start again, remove the run's folder (--overwrite clears only "+
		"one whose config.yaml or result is of another configuration), or choose another results folder",
		e.Path, strings.Join(e.Differences, "; "))
}

// resume goes on from the checkpoint of the run's folder, and starts anew where there is none, or a damaged
// one. The error is an [*OtherRunError] where it is of another configuration, version or data, and the system's
// where it cannot be read: it may be whole.
func (c *checkpoints) resume() (err error) {
	torch.Tidy(func() { err = c.resumeFrom(c.dir.Path(store.CheckpointFile)) })
	switch damage := (*checkpoint.DamagedError)(nil); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, &damage):
		c.options.logf("%v; the run starts anew", damage)
		return nil
	}
	return err
}

func (c *checkpoints) resumeFrom(path string) error {
	file, err := checkpoint.Read(path)
	if err != nil {
		return err
	}
	if differences := c.differences(file.Record); len(differences) > 0 {
		return &OtherRunError{path, differences}
	}
	tensors, _, err := torch.ParseTensors(file.Content)
	if err != nil {
		return &checkpoint.DamagedError{Path: path, Reason: err}
	}
	if err := c.restore(file.Record.State, tensors); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.options.logf("going on from %s, after step %d", path, file.Record.State.Step)
	return nil
}

// differences says in what a checkpoint is not one of this run.
func (c *checkpoints) differences(record checkpoint.Record) []string {
	var differences []string
	if record.Version != version.Version {
		differences = append(differences, fmt.Sprintf("version of iwda: %s there, %s here", record.Version, version.Version))
	}
	there, err := config.ParseRun("its configuration", []byte(record.Config))
	if err != nil {
		return append(differences, err.Error())
	}
	differences = append(differences, config.Differences(there, c.run)...)
	changed := func(what, was, is string) {
		if was != is {
			differences = append(differences, fmt.Sprintf("the %s changed since: their SHA-256 was %s, is %s", what, was, is))
		}
	}
	changed("data", record.State.DataSHA256, c.of.DataSHA256)
	changed("pretrained weights", record.State.WeightsSHA256, c.of.WeightsSHA256)
	return differences
}

// restore sets every part of the run to a checkpoint's state.
func (c *checkpoints) restore(state checkpoint.State, tensors map[string]torch.Tensor) error {
	r := &restoring{State: state, rest: maps.Clone(tensors)}
	for _, p := range c.parts {
		if err := p.restore(r); err != nil {
			return err
		}
	}
	if len(r.rest) > 0 {
		return fmt.Errorf("it has tensors that no part of the run knows: %s", strings.Join(slices.Sorted(maps.Keys(r.rest)), ", "))
	}
	return nil
}

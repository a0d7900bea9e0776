package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"iwda/experiments/plan"
	"iwda/experiments/train"
	"iwda/torch"
)

// place is that of this process among those that a launcher such as torchrun started to
// make one run together.
type place struct {
	rank, size int
	local      int // its number among those of this machine
}

// placeInGroup returns it as the environment tells; a process that is alone has size 1.
func placeInGroup() (place, error) {
	o, local, grouped, err := torch.GroupFromEnvironment(os.LookupEnv)
	if err != nil {
		return place{}, usageError(err.Error(), "torchrun --no-python --nproc-per-node NUMBER iwrun -c FILE --index NUMBER")
	}
	if !grouped {
		return place{size: 1}, nil
	}
	return place{o.Rank, o.Size, local}, nil
}

// joinGroup returns the group whose other processes do the same now, nil for one that is
// alone.
func joinGroup(device torch.Device, timeout time.Duration) (*torch.ProcessGroup, error) {
	o, _, grouped, err := torch.GroupFromEnvironment(os.LookupEnv)
	if err != nil || !grouped || o.Size == 1 {
		return nil, err
	}
	o.Device, o.Timeout = device, timeout
	return torch.NewProcessGroup(o)
}

// check refuses what several processes cannot do together.
func (p place) check(runs []plan.Run) error {
	if p.size > 1 && len(runs) != 1 {
		return usageError(
			fmt.Sprintf("WORLD_SIZE is %d: that many processes make one run together, and %d are selected", p.size, len(runs)),
			"iwrun -c FILE --index NUMBER | --only GLOB",
		)
	}
	return nil
}

// device returns the one of several that a process of this machine uses: with cuda or
// auto each has a GPU of its own, as far as there are any.
func (o machineOptions) deviceOf(local int) (torch.Device, error) {
	if o.Device == "cuda" && torch.CUDADevices() > 0 {
		o.Device = "auto"
	}
	devices, err := o.devices()
	if err != nil {
		return torch.Device{}, err
	}
	return devices[local%len(devices)], nil
}

// takePart makes the run as a process that is not the group's first one, which writes the
// files.
func takePart(run plan.Run, device torch.Device, o runOptions, s streams) error {
	dir := run.Dir(o.Results)
	if _, finished, err := dir.Finished(run.Config.Hash()); err == nil && finished {
		return nil
	}
	checkpoints, err := parseCheckpoints(o.Checkpoints)
	if err != nil {
		return err
	}
	torch.TuneAllocator()
	saveMemory()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer onSignals(cancel)()
	group, err := joinGroup(device, o.GroupTimeout)
	if err != nil {
		return err
	}
	_, err = train.Run(ctx, run.Config, dir, train.Options{Device: device, Threads: o.Threads, Log: s.err, Group: group, Checkpoints: checkpoints})
	if errors.Is(err, context.Canceled) {
		return statusError(statusInterrupted)
	}
	return err
}

package schedule

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/internal/input"
	"iwda/internal/wholefile"
)

// AtOnce returns the number of runs at a time: Jobs, or what the devices have room for.
func (o Options) AtOnce() int {
	switch {
	case o.Jobs > 0:
		return o.Jobs
	case o.onGPU():
		return len(o.Devices) * max(1, o.PerProcess)
	}
	return max(1, Cores()/o.Threads)
}

func (o Options) onGPU() bool {
	return slices.ContainsFunc(o.Devices, func(name string) bool { return strings.HasPrefix(name, "cuda") })
}

// Cores returns the number of cores that this process may use: of the machine's
// physical cores, what its affinity and control group allow.
func Cores() int {
	usable := runtime.GOMAXPROCS(0)
	if physical := PhysicalCores(); physical > 0 {
		return min(usable, physical)
	}
	return usable
}

// PhysicalCores returns the number of cores, of which each may run several threads
// of hardware, and 0 where the system does not tell.
func PhysicalCores() int {
	paths, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list")
	siblings := map[string]bool{}
	for _, path := range paths {
		if text, err := input.Read(path, input.Words); err == nil {
			siblings[string(text)] = true
		}
	}
	return len(siblings)
}

// mostRecorded is the number of runs whose steps are recorded that one process can make on a GPU:
// each takes up to four CUDA streams of libtorch's 32.
const mostRecorded = 8

// CheckGraphs returns an error if a process would make more recorded runs than it can: two on one
// stream would spoil each other's recording.
func (o Options) CheckGraphs(runs []plan.Run) error {
	recorded := slices.ContainsFunc(runs, func(run plan.Run) bool { return run.Config.Train.Graph })
	if n := min(o.AtOnce(), len(runs), o.PerProcess); o.onGPU() && recorded && n > mostRecorded {
		return config.Error{Location: fmt.Sprintf("--per-process %d", o.PerProcess),
			Message: fmt.Sprintf("a GPU records the steps of at most %d runs of a process, here there would be %d; give a lower number, or set train.graph to false", mostRecorded, n)}
	}
	return nil
}

// CheckResults returns an error if the folder of results cannot be written although a
// run is not finished yet.
func CheckResults(runs []plan.Run, results string) error {
	if len(plan.Finished(runs, results)) == len(runs) {
		return nil
	}
	if err := tryWriting(results); err != nil {
		return config.Error{Location: "-o " + results, Message: "nothing can be written there: " + err.Error()}
	}
	return nil
}

// tryWriting makes and removes a file in a folder, which is created if need be.
func tryWriting(folder string) error {
	if err := new(wholefile.Disk).MakeFolder(folder); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".try-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
